//! Candidates of our own, for when the shell has none: nothing here is offered beside a list that
//! the shell itself could make.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use tabsense_gather::listing::Listing;
use tabsense_gather::matching::Matcher;
use tabsense_gather::{Commands, Position, quality};
use tabsense_rank::{
    Candidate, Context, Kind, Match, Slot, argument_words, rank_directories, used_here,
};

use crate::complete::Completion;
use crate::places::{path, with_tilde};

/// The most candidates of one source.
const MOST: usize = 500;

/// The most that are offered when none of them starts with what was typed.
const GUESSES: usize = 20;

/// Visited directories that are looked at for `cd`.
const DIRECTORIES: usize = 10;

/// What looking at one visited directory may take.
const LOOK_BUDGET: Duration = Duration::from_millis(4);

/// What reading `PATH` may take.
const PATH_BUDGET: Duration = Duration::from_millis(15);

/// Everything that fits the word, the best kind of match only. Nothing in the middle of a word, of
/// which only the shell knows what is to become of its end.
pub(crate) fn gather(completion: &Completion<'_>, listing: Option<&Listing>) -> Vec<Candidate> {
    if is_within_word(completion) {
        return Vec::new();
    }
    let here = match completion.parsed.position {
        Position::Command if !completion.parsed.typed.contains(&b'/') => commands(completion),
        Position::Assignment => Vec::new(),
        _ => arguments(completion, listing),
    };
    best_tier(here)
}

fn is_within_word(completion: &Completion<'_>) -> bool {
    let ask = completion.ask;
    let cursor = usize::try_from(ask.cursor).unwrap_or(usize::MAX);
    let after = ask.line.get(cursor);
    after.is_some_and(|byte| !byte.is_ascii_whitespace() && !b";|&<>()'\"`".contains(byte))
}

/// Whether a shell has looked itself, and found nothing. Otherwise somebody asks without a shell.
fn is_left_by_shell(completion: &Completion<'_>) -> bool {
    !completion.session.is_empty()
}

/// Candidates that start with what was typed; if there are none, only the best kind of guess.
fn best_tier(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let Some(best) = candidates.iter().map(|candidate| candidate.quality).min() else {
        return candidates;
    };
    let floor = best.max(Match::PrefixCase);
    candidates.retain(|candidate| candidate.quality <= floor);
    if best > Match::PrefixCase {
        candidates.truncate(GUESSES);
    }
    let mut seen = std::collections::HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.text.clone()));
    candidates
}

fn candidate(text: Vec<u8>, kind: Kind, quality: Match) -> Candidate {
    Candidate {
        text,
        kind,
        description: Vec::new(),
        native: None,
        modified: None,
        quality,
    }
}

fn commands(completion: &Completion<'_>) -> Vec<Candidate> {
    let typed = &completion.parsed.typed;
    if typed.is_empty() {
        return Vec::new();
    }
    let budget = completion.left(PATH_BUDGET);
    let found = Commands::gather(&completion.worker.listings, &completion.ask.path, budget);
    found
        .search(typed, Match::Typo, MOST)
        .into_iter()
        .map(|command| candidate(command.name, Kind::Command, command.quality))
        .collect()
}

fn arguments(completion: &Completion<'_>, listing: Option<&Listing>) -> Vec<Candidate> {
    let goes = takes_directories(completion);
    let mut found = entries(completion, listing, goes);
    if !goes {
        found.extend(words(completion));
    }
    let sure = found
        .iter()
        .any(|candidate| candidate.quality <= Match::PrefixCase);
    if goes && !sure {
        found.extend(elsewhere(completion));
    }
    found
}

/// Whether the command goes to a directory.
fn takes_directories(completion: &Completion<'_>) -> bool {
    let command = completion.parsed.words.first().map(Vec::as_slice);
    matches!(command, Some(b"cd" | b"pushd" | b"rmdir"))
}

fn entries(
    completion: &Completion<'_>,
    listing: Option<&Listing>,
    only_directories: bool,
) -> Vec<Candidate> {
    let (Some(target), Some(listing)) = (&completion.target, listing) else {
        return Vec::new();
    };
    listing
        .search(&target.last, Match::Typo, MOST)
        .into_iter()
        .filter(|hit| !only_directories || hit.entry.kind == Kind::Directory)
        // What begins with the word the shell would have offered itself, were it wanted here.
        .filter(|hit| hit.quality > Match::Prefix || !is_left_by_shell(completion))
        .map(|hit| {
            let slash: &[u8] = if hit.entry.kind == Kind::Directory {
                b"/"
            } else {
                b""
            };
            let text = [target.base.as_slice(), hit.entry.name, slash].concat();
            candidate(text, hit.entry.kind, hit.quality)
        })
        .collect()
}

/// Words that this command took before at this place, such as a host or a branch.
fn words(completion: &Completion<'_>) -> Vec<Candidate> {
    let parsed = &completion.parsed;
    if parsed.position != Position::Argument || parsed.is_live() {
        return Vec::new();
    }
    let before: Vec<&[u8]> = parsed.words.iter().map(Vec::as_slice).collect();
    let slot = Slot {
        words: &before,
        typed: &parsed.typed,
    };
    let matcher = &mut Matcher::new(&parsed.typed);
    let mut found: Vec<Candidate> = argument_words(&completion.worker.read_index(), &slot, GUESSES)
        .into_iter()
        .filter(|word| !word.text.contains(&b'/') || word.text.contains(&b':'))
        .filter_map(|word| {
            let quality = matcher
                .quality(&word.text)
                .filter(|q| *q <= Match::PrefixCase)?;
            let kind = if word.text.starts_with(b"-") {
                Kind::Option
            } else {
                Kind::Word
            };
            Some(candidate(word.text, kind, quality))
        })
        .collect();
    if parsed.typed.is_empty() && is_left_by_shell(completion) {
        // Nothing is known of the word but the place: another project's words are noise here.
        found = used_in_directory(completion, &slot, found);
    }
    found
}

fn used_in_directory(
    completion: &Completion<'_>,
    slot: &Slot<'_>,
    found: Vec<Candidate>,
) -> Vec<Candidate> {
    let context = Context {
        cwd: &completion.ask.cwd,
        ..Context::default()
    };
    let used = used_here(&completion.worker.read_index(), &context, slot, &found);
    let here = found.into_iter().zip(used);
    here.filter(|(_, used)| used.in_directory)
        .map(|(candidate, _)| candidate)
        .collect()
}

/// Directories that were visited, and their children that never were.
fn elsewhere(completion: &Completion<'_>) -> Vec<Candidate> {
    let typed = &completion.parsed.typed;
    if typed.is_empty() || typed.contains(&b'/') || completion.parsed.is_live() {
        return Vec::new();
    }
    let context = Context {
        cwd: &completion.ask.cwd,
        home: &completion.ask.home,
        ..Context::default()
    };
    let worker = completion.worker;
    let ranked = |typed: &[u8]| {
        rank_directories(
            &worker.read_index(),
            &worker.adapter.weights(),
            &context,
            typed,
            DIRECTORIES,
        )
    };
    let mut found: Vec<Candidate> = ranked(typed)
        .into_iter()
        .filter(|directory| exists(completion, &directory.path))
        .filter_map(|directory| visited(completion, &directory.path))
        .collect();
    if found.is_empty() {
        for parent in ranked(b"") {
            found.extend(children(completion, &path(&parent.path)));
        }
    }
    found
}

fn visited(completion: &Completion<'_>, directory: &[u8]) -> Option<Candidate> {
    let name = directory.rsplit(|&byte| byte == b'/').next()?;
    let quality = quality(&completion.parsed.typed, name)?;
    let mut text = with_tilde(directory, &completion.places.home);
    text.push(b'/');
    Some(candidate(text, Kind::Directory, quality))
}

/// Looks the directory up in its parent's listing: a mount that hangs is left out, never probed.
fn exists(completion: &Completion<'_>, directory: &[u8]) -> bool {
    let directory = path(directory);
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return false;
    };
    let listing = completion
        .worker
        .listings
        .list(parent, completion.left(LOOK_BUDGET));
    listing.is_ok_and(|listing| listing.get(name.as_bytes()).is_some())
}

fn children(completion: &Completion<'_>, parent: &Path) -> Vec<Candidate> {
    let Ok(listing) = completion
        .worker
        .listings
        .list(parent, completion.left(LOOK_BUDGET))
    else {
        return Vec::new();
    };
    listing
        .search(&completion.parsed.typed, Match::PrefixCase, MOST)
        .into_iter()
        .filter(|hit| hit.entry.kind == Kind::Directory)
        .filter_map(|hit| {
            let child = parent.join(std::ffi::OsStr::from_bytes(hit.entry.name));
            visited(completion, child.as_os_str().as_bytes())
        })
        .collect()
}
