//! What a shortcut is.

use crate::platform::Desktop;
use crate::project::Task;
use crate::slots::State;
use crate::template::Template;

/// One thing that can be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortcut {
    /// Its name: `[a-z0-9_]+` for the built-in ones and the user's own, `make:test` and the like
    /// for those of the other sources.
    pub id: String,
    /// A few words.
    pub title: Localized,
    /// A sentence; may be empty.
    pub description: Localized,
    /// How people ask for it; may be empty.
    pub examples: Vec<Text>,
    /// What can go wrong.
    pub risk: Risk,
    /// What it does.
    pub action: Action,
    /// Where it comes from.
    pub source: Source,
    /// Which words say on or off, besides those of the languages.
    pub switch: SwitchWords,
}

/// Words that say on or off for one shortcut; in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SwitchWords {
    /// What is switched is off where these are on: "light mode" for a dark mode. By themselves they
    /// mean off.
    pub off: Vec<String>,
    /// The same, but by themselves they say nothing: "notifications" for do-not-disturb.
    pub reverse: Vec<String>,
}

/// A text in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Such as `en` or `zh`; empty when not said.
    pub language: String,
    /// The text.
    pub text: String,
}

/// The same text in several languages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Localized(pub Vec<Text>);

impl Localized {
    /// A text whose language nobody said.
    pub fn plain(text: impl Into<String>) -> Self {
        Self(vec![Text {
            language: String::new(),
            text: text.into(),
        }])
    }

    /// The text for people who read `language`, else the English one, else any; empty if there is
    /// none.
    pub fn get(&self, language: &str) -> &str {
        let of = |wanted: &str| self.0.iter().find(|text| text.language == wanted);
        of(language)
            .or_else(|| of("en"))
            .or(self.0.first())
            .map_or("", |text| &text.text)
    }
}

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Risk {
    /// Nothing is changed, or nothing that matters.
    Read,
    /// Something is changed that can be changed back.
    #[default]
    Write,
    /// Something may be lost.
    Destructive,
}

impl Risk {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Destructive]
            .into_iter()
            .find(|risk| risk.name() == name)
    }
}

/// What a shortcut does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Runs a command.
    Run {
        /// On macOS; the first variant whose needs hold.
        macos: Vec<Variant>,
        /// Everywhere else.
        linux: Vec<Variant>,
    },
    /// Does what the project in the working directory calls so.
    Project(Task),
}

impl Action {
    /// The same command everywhere.
    pub fn everywhere(variants: Vec<Variant>) -> Self {
        Self::Run {
            macos: variants.clone(),
            linux: variants,
        }
    }

    /// A command without needs or slots.
    pub fn line(text: impl Into<String>) -> Self {
        Self::everywhere(vec![Variant::bare(Template::literal(text))])
    }
}

/// A command, and where it can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The desktop it is for; none for any.
    pub desktop: Option<Desktop>,
    /// Programs that must be in `PATH`.
    pub needs: Vec<String>,
    /// The command. With `on` and `off` it is the one that switches over.
    pub run: Template,
    /// The command for words that say on.
    pub on: Option<Template>,
    /// The command for words that say off.
    pub off: Option<Template>,
}

impl Variant {
    /// One without needs.
    pub fn bare(run: Template) -> Self {
        Self {
            desktop: None,
            needs: Vec::new(),
            run,
            on: None,
            off: None,
        }
    }

    /// The command that leaves behind it what the words ask for.
    pub fn setting(&self, state: State) -> Option<&Template> {
        match state {
            State::On => self.on.as_ref(),
            State::Off => self.off.as_ref(),
        }
    }
}

/// Where a shortcut comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// It comes with the program.
    Builtin,
    /// The user's `shortcuts.toml`.
    File,
    /// An alias of the shell.
    Alias,
    /// An abbreviation of fish.
    Abbreviation,
    /// A function of the shell.
    Function,
    /// A target, recipe, script or task in the working directory.
    Project,
    /// An alias of git.
    Git,
    /// One of macOS's Shortcuts.
    Mac,
    /// An application's `.desktop` file.
    Application,
    /// A page of tldr in a client's cache.
    Tldr,
}

impl Source {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin => "built in",
            Self::File => "shortcuts.toml",
            Self::Alias => "alias",
            Self::Abbreviation => "abbreviation",
            Self::Function => "function",
            Self::Project => "project",
            Self::Git => "git alias",
            Self::Mac => "macOS Shortcuts",
            Self::Application => "application",
            Self::Tldr => "tldr",
        }
    }

    /// What is owed to those who wrote its texts.
    pub fn attribution(self) -> Option<&'static str> {
        (self == Self::Tldr).then_some(
            "from a tldr page in this machine's cache: the tldr-pages project and its \
             contributors, CC BY 4.0, https://tldr.sh",
        )
    }
}

impl Shortcut {
    /// The texts that a phrase is compared with: in each language title and description together,
    /// then every example. The languages that most people here speak come first.
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self
            .title
            .0
            .iter()
            .map(|title| self.with_description(title))
            .collect();
        texts.extend(self.examples.iter().map(|example| example.text.clone()));
        texts
    }

    fn with_description(&self, title: &Text) -> String {
        let same = |text: &&Text| text.language == title.language;
        match self.description.0.iter().find(same) {
            Some(description) => format!("{}: {}", title.text, description.text),
            None => title.text.clone(),
        }
    }
}
