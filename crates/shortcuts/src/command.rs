//! From a shortcut to the line that does it here and now.

use std::path::PathBuf;

use tabsense_gather::Dialect;

use crate::platform::{Platform, System};
use crate::project::{self, Task};
use crate::shortcut::{Action, Shortcut, Variant};
use crate::slots::{Scene, State, values};
use crate::template::{Filled, Template};

/// Where and for whom a line is made.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// Directories and the time of day.
    pub scene: Scene<'a>,
    /// The shell that gets the line.
    pub shell: Dialect,
}

/// A line, and how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line and its slots.
    pub filled: Filled,
    /// The file of the project that says so.
    pub by: Option<PathBuf>,
    /// The phrase says on or off, and the command only switches over.
    pub blind: bool,
}

/// Why a shortcut cannot be done here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// It has no command for this system.
    #[error("not available here: there is no command for {0}")]
    System(&'static str),
    /// Each command needs programs or a desktop that are not there.
    #[error("not available here: it needs {0}")]
    Needs(String),
    /// No project in the working directory does such a thing.
    #[error("not available here: no project that can {0} is in or above the working directory")]
    Project(&'static str),
}

impl Shortcut {
    /// The line that does this shortcut, its slots filled from the phrase.
    ///
    /// # Errors
    /// Why it cannot be done here.
    pub fn command(&self, phrase: &str, here: &Here<'_>) -> Result<Line, Unavailable> {
        let (template, by, blind) = match &self.action {
            Action::Run { macos, linux } => {
                let variants = match here.platform.system {
                    System::Macos => macos,
                    System::Linux => linux,
                };
                let (template, blind) = self.switched(phrase, variants, here.platform)?;
                (template.clone(), None, blind)
            }
            Action::Project(task) => {
                let (template, by) = in_project(*task, here)?;
                (template, by, false)
            }
        };
        let values = values(&template.slots(), phrase, &here.scene, Some(self));
        Ok(Line {
            filled: template.fill(values, here.shell),
            by,
            blind,
        })
    }

    /// The command for what the phrase says about on and off, and whether it cannot heed it.
    fn switched<'a>(
        &self,
        phrase: &str,
        variants: &'a [Variant],
        platform: &Platform,
    ) -> Result<(&'a Template, bool), Unavailable> {
        let usual = choose(variants, platform)?;
        let has_states = |variant: &Variant| variant.on.is_some() || variant.off.is_some();
        if !variants.iter().any(has_states) {
            return Ok((&usual.run, false));
        }
        let Some(state) = State::said(phrase, &self.switch) else {
            return Ok((&usual.run, false));
        };
        let mut usable = variants.iter().filter(|variant| holds(variant, platform));
        match usable.find_map(|variant| variant.setting(state)) {
            Some(template) => Ok((template, false)),
            None => Ok((&usual.run, true)),
        }
    }
}

/// The first variant whose needs hold.
fn choose<'a>(variants: &'a [Variant], platform: &Platform) -> Result<&'a Variant, Unavailable> {
    let mut usable = variants.iter().filter(|variant| holds(variant, platform));
    usable.next().ok_or_else(|| {
        if variants.is_empty() {
            return Unavailable::System(match platform.system {
                System::Macos => "macOS",
                System::Linux => "Linux",
            });
        }
        let ways: Vec<String> = variants.iter().map(needs).collect();
        Unavailable::Needs(ways.join(", or "))
    })
}

fn holds(variant: &Variant, platform: &Platform) -> bool {
    variant
        .desktop
        .is_none_or(|desktop| platform.shows(desktop))
        && variant.needs.iter().all(|program| platform.has(program))
}

/// What a variant needs, for people.
fn needs(variant: &Variant) -> String {
    let programs = variant.needs.join(" and ");
    match (variant.desktop, programs.as_str()) {
        (Some(desktop), "") => desktop.name().to_owned(),
        (Some(desktop), _) => format!("{programs} on {}", desktop.name()),
        (None, _) => programs,
    }
}

fn in_project(task: Task, here: &Here<'_>) -> Result<(Template, Option<PathBuf>), Unavailable> {
    let found = project::command(task, here.scene.cwd, here.scene.home);
    let found = found.ok_or(Unavailable::Project(match task {
        Task::Test => "be tested",
        Task::Build => "be built",
        Task::Start => "be started",
        Task::Format => "be formatted",
    }))?;
    Ok((Template::literal(found.line), Some(found.by)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::platform::Desktop;
    use crate::shortcut::Source;
    use crate::slots::Clock;

    fn line(action: &str, platform: &Platform, phrase: &str) -> Result<String, Unavailable> {
        let text = format!("[[shortcut]]\nid = \"x\"\n{action}\n");
        let (shortcuts, problems) = crate::parse(&text, "x", Source::File);
        assert_eq!(problems, []);
        let here = Here {
            platform,
            scene: Scene {
                cwd: Path::new("/nowhere"),
                home: Path::new("/nowhere"),
                now: Clock::new(10, 0),
            },
            shell: Dialect::Bash,
        };
        let line = shortcuts[0].command(phrase, &here)?;
        Ok(String::from_utf8(line.filled.line).expect("UTF-8"))
    }

    fn platform(system: System, desktops: &[Desktop]) -> Platform {
        Platform {
            system,
            desktops: desktops.to_vec(),
            path: vec![PathBuf::from("/bin"), PathBuf::from("/usr/bin")],
        }
    }

    #[test]
    fn the_first_variant_that_can_run_here_is_taken() {
        let action = r#"macos = "open -a Mail"
            linux = [{ needs = ["no-such-program"], run = "one" },
                     { desktop = "kde", run = "two" }, { needs = ["sh"], run = "three" }]"#;
        let on = |system, desktops: &[Desktop]| line(action, &platform(system, desktops), "");
        assert_eq!(on(System::Macos, &[]).as_deref(), Ok("open -a Mail"));
        assert_eq!(on(System::Linux, &[Desktop::Kde]).as_deref(), Ok("two"));
        assert_eq!(on(System::Linux, &[Desktop::Gnome]).as_deref(), Ok("three"));
    }

    #[test]
    fn what_cannot_be_done_here_says_what_is_missing() {
        let linux = platform(System::Linux, &[]);
        let action = r#"linux = [{ needs = ["no-such-a", "no-such-b"], run = "x" },
                                 { desktop = "sway", needs = ["sh"], run = "y" }]"#;
        let error = line(action, &linux, "").expect_err("it cannot run");
        assert_eq!(
            error.to_string(),
            "not available here: it needs no-such-a and no-such-b, or sh on sway"
        );
        let error = line("macos = \"x\"", &linux, "").expect_err("it cannot run");
        assert_eq!(error, Unavailable::System("Linux"));
        let error = line("project = \"test\"", &linux, "").expect_err("no project");
        assert!(error.to_string().contains("no project that can be tested"));
    }

    #[test]
    fn words_for_on_and_off_choose_the_command_that_does_just_that() {
        let action = r#"off_words = ["light mode"]
            linux = [{ needs = ["sh"], run = "toggle", on = "set on", off = "set off" }]"#;
        let linux = platform(System::Linux, &[]);
        for (phrase, expected) in [
            ("turn on dark mode", "set on"),
            ("dark mode off", "set off"),
            ("light mode please", "set off"),
            ("dark mode", "toggle"),
            ("turn it off or on", "toggle"),
        ] {
            assert_eq!(
                line(action, &linux, phrase).as_deref(),
                Ok(expected),
                "{phrase}"
            );
        }
    }

    #[test]
    fn a_later_variant_that_can_heed_the_words_comes_before_a_blind_one() {
        let action = r#"linux = [{ needs = ["sh"], run = "blind" },
                                 { needs = ["sh"], run = "toggle", off = "set off" }]"#;
        let linux = platform(System::Linux, &[]);
        assert_eq!(
            line(action, &linux, "turn it off").as_deref(),
            Ok("set off")
        );
        assert_eq!(line(action, &linux, "toggle it").as_deref(), Ok("blind"));
        let text = format!("[[shortcut]]\nid = \"x\"\n{action}\n");
        let (shortcuts, _) = crate::parse(&text, "x", Source::File);
        let here = Here {
            platform: &linux,
            scene: Scene {
                cwd: Path::new("/nowhere"),
                home: Path::new("/nowhere"),
                now: Clock::new(10, 0),
            },
            shell: Dialect::Bash,
        };
        let blind = |phrase: &str| shortcuts[0].command(phrase, &here).map(|line| line.blind);
        assert_eq!(blind("turn it on"), Ok(true));
        assert_eq!(blind("turn it off"), Ok(false));
        assert_eq!(blind("switch it over"), Ok(false));
    }

    #[test]
    fn slots_get_what_the_phrase_says() {
        let linux = platform(System::Linux, &[]);
        let action = "command = \"kill $(lsof -ti tcp:{port})\"";
        assert_eq!(
            line(action, &linux, "free port 3000").as_deref(),
            Ok("kill $(lsof -ti tcp:3000)")
        );
        assert_eq!(
            line(action, &linux, "free the port").as_deref(),
            Ok("kill $(lsof -ti tcp:<&port>)")
        );
    }
}
