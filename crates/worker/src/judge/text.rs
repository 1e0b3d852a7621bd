//! The text that the model reads about a moment at the prompt.
//!
//! It is the text that the model was trained on; `models/train/README.md` fixes it:
//!
//! ```text
//! @ <last two parts of the working directory>
//! : <known file names that are there>
//! > <earlier command>            (`!` instead of `>` when it failed), oldest first
//! $ <words before the one to complete, and its directory part>
//! ```
//!
//! What was typed of the word is not part of it: it only chooses the options.

use std::sync::LazyLock;

use tabsense_model::State;
use tabsense_rank::{Context, Recent};

/// Earlier commands that the model reads.
const RECENT: usize = 8;

/// File names that the model reads.
const SHOWN: usize = 8;

/// A longer command keeps its first and last characters: so many at each end.
const LONGEST: usize = 96;
const FIRST: usize = 32;
const LAST: usize = 63;

#[derive(serde::Deserialize)]
struct Table {
    markers: Vec<String>,
}

/// Names that say what kind of project a directory is, in the order in which they are shown.
static MARKERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let table = include_str!("../../../../models/builtin/state.json");
    serde_json::from_str::<Table>(table)
        .map(|table| table.markers)
        .unwrap_or_default()
});

/// The names that the model knows; directories end in `/`.
pub(crate) fn markers() -> &'static [String] {
    &MARKERS
}

/// The state of a moment.
pub(super) fn state(context: &Context<'_>, before: &[u8]) -> State {
    let mut head = Vec::new();
    let tail = directory_tail(context);
    if !tail.is_empty() {
        head.push(format!("@ {tail}\n"));
    }
    let shown = if before.ends_with(b"/") {
        String::new()
    } else {
        shown(context.listing)
    };
    if !shown.is_empty() {
        head.push(format!(": {shown}\n"));
    }
    let first = context.recent.len().saturating_sub(RECENT);
    let turns = context.recent[first..].iter().map(turn).collect();
    State::segments(
        head,
        turns,
        format!("$ {}", short(before)).trim_end().to_owned(),
    )
}

fn turn(recent: &Recent<'_>) -> String {
    let mark = if recent.exit.is_some_and(|exit| exit != 0) {
        '!'
    } else {
        '>'
    };
    format!("{mark} {}\n", short(recent.command))
}

/// White space of any kind becomes one blank, and the middle of a long text goes.
fn short(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let count = text.chars().count();
    if count <= LONGEST {
        return text;
    }
    let first: String = text.chars().take(FIRST).collect();
    let last: String = text.chars().skip(count - LAST).collect();
    format!("{first}…{last}")
}

/// The last two parts of the working directory; home counts as one, written `~`.
fn directory_tail(context: &Context<'_>) -> String {
    let inside = context
        .cwd
        .strip_prefix(context.home)
        .filter(|rest| !context.home.is_empty() && (rest.is_empty() || rest.starts_with(b"/")));
    let cwd = match inside {
        Some(rest) => format!("~{}", String::from_utf8_lossy(rest)),
        None => String::from_utf8_lossy(context.cwd).into_owned(),
    };
    let parts: Vec<&str> = cwd.split('/').filter(|part| !part.is_empty()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// The known names of a listing, in the table's order.
fn shown(listing: &[&[u8]]) -> String {
    let there = |name: &&String| listing.contains(&name.as_bytes());
    let names: Vec<&str> = MARKERS
        .iter()
        .filter(there)
        .take(SHOWN)
        .map(String::as_str)
        .collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context<'a>(
        cwd: &'a [u8],
        recent: &'a [Recent<'a>],
        listing: &'a [&'a [u8]],
    ) -> Context<'a> {
        Context {
            cwd,
            home: b"/home/u",
            recent,
            listing,
            ..Context::default()
        }
    }

    #[test]
    fn a_moment_is_written_as_the_model_learnt_it() {
        let recent = [
            Recent {
                command: b"git clone  https://example.org/garden.git",
                cwd: b"",
                exit: None,
            },
            Recent {
                command: b"cargo\tbuild",
                cwd: b"",
                exit: Some(101),
            },
        ];
        let listing: [&[u8]; 3] = [b"zebra", b"src/", b"Cargo.toml"];
        let state = state(&context(b"/home/u/work/garden", &recent, &listing), b"git");
        let expected = State::segments(
            vec!["@ work/garden\n".into(), ": Cargo.toml src/\n".into()],
            vec![
                "> git clone https://example.org/garden.git\n".into(),
                "! cargo build\n".into(),
            ],
            "$ git".into(),
        );
        assert_eq!(state, expected);
    }

    #[test]
    fn names_are_left_out_where_the_word_looks_into_another_directory() {
        let listing: [&[u8]; 1] = [b"Makefile"];
        let there = state(&context(b"/home/u", &[], &listing), b"cat src/");
        assert_eq!(
            there,
            State::segments(vec!["@ ~\n".into()], Vec::new(), "$ cat src/".into())
        );
    }

    #[test]
    fn the_start_of_a_line_is_a_dollar_alone() {
        let nowhere = state(&context(b"", &[], &[]), b"");
        assert_eq!(nowhere, State::segments(Vec::new(), Vec::new(), "$".into()));
    }

    #[test]
    fn a_long_command_loses_its_middle() {
        let long = "x".repeat(50) + &"打".repeat(60);
        let shortened = short(long.as_bytes());
        assert_eq!(shortened.chars().count(), LONGEST);
        assert!(shortened.starts_with(&("x".repeat(FIRST) + "…")));
        assert!(shortened.ends_with('打'));
    }

    #[test]
    fn the_table_of_names_is_there() {
        assert!(markers().iter().any(|name| name == "Cargo.toml"));
    }
}
