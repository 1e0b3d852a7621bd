use tabsense_rank::{
    Candidate, Context, Index, Kind, Match, Slot, Weights, argument_words, rank_words,
};

use crate::{at, recent, seen, text};

fn candidates(texts: &[&str]) -> Vec<Candidate> {
    let of = |(native, text): (u32, &&str)| Candidate {
        text: text.as_bytes().to_vec(),
        kind: if text.ends_with('/') {
            Kind::Directory
        } else {
            Kind::File
        },
        description: Vec::new(),
        native: Some(native),
        modified: None,
        quality: Match::Prefix,
    };
    (0..).zip(texts).map(of).collect()
}

fn ranked(
    index: &Index,
    context: &Context<'_>,
    words: &[&str],
    typed: &str,
    candidates: &[Candidate],
) -> Vec<String> {
    let words: Vec<&[u8]> = words.iter().map(|w| w.as_bytes()).collect();
    let slot = Slot {
        words: &words,
        typed: typed.as_bytes(),
    };
    let order = rank_words(index, &Weights::default(), context, &slot, candidates);
    order
        .iter()
        .map(|r| text(&candidates[r.position].text))
        .collect()
}

#[test]
fn without_evidence_the_native_order_stays() {
    let mut given = candidates(&["zeta-branch", "alpha-branch", "mid-branch"]);
    given.swap(0, 2);
    let order = ranked(
        &Index::new(),
        &Context::default(),
        &["frobnicate-it", "on"],
        "",
        &given,
    );
    assert_eq!(order, ["zeta-branch", "alpha-branch", "mid-branch"]);
}

#[test]
fn the_file_kind_that_the_command_took_before_comes_first() {
    let index = seen(&[
        ("/d", "play one.ogg"),
        ("/d", "play two.ogg"),
        ("/e", "view x.tiff"),
    ]);
    let given = candidates(&["a.tiff", "b.ogg", "c.log"]);
    assert_eq!(
        ranked(&index, &at("/d", &[]), &["play"], "", &given)[0],
        "b.ogg"
    );
}

#[test]
fn common_knowledge_serves_before_there_is_a_history() {
    let given = candidates(&["notes.txt", "photos.zip", "src/"]);
    let nothing = Index::new();
    assert_eq!(
        ranked(&nothing, &at("/d", &[]), &["unzip"], "", &given)[0],
        "photos.zip"
    );
    assert_eq!(
        ranked(&nothing, &at("/d", &[]), &["cd"], "", &given)[0],
        "src/"
    );
}

#[test]
fn a_word_used_before_at_this_place_comes_first() {
    let index = seen(&[
        ("/p", "deploy staging"),
        ("/p", "deploy staging"),
        ("/p", "ls"),
    ]);
    let given = candidates(&["local", "production", "staging"]);
    let recent = recent(&[("/p", "ls")]);
    assert_eq!(
        ranked(&index, &at("/p", &recent), &["deploy"], "", &given)[0],
        "staging"
    );
    let wrapped = ranked(&index, &at("/p", &recent), &["sudo", "deploy"], "", &given);
    assert_eq!(wrapped[0], "staging");
}

#[test]
fn a_name_that_was_just_made_comes_first() {
    let given = candidates(&["archive/", "fresh-one/", "old/", "zoo/"]);
    let recent = recent(&[("/p", "ls"), ("/p", "mkdir fresh-one")]);
    let order = ranked(
        &seen(&[("/p", "mkdir fresh-one")]),
        &at("/p", &recent),
        &["cd"],
        "",
        &given,
    );
    assert_eq!(order[0], "fresh-one/");
}

#[test]
fn names_below_a_typed_directory_are_known_by_their_whole_path() {
    let index = seen(&[
        ("/p", "vim src/two.rs"),
        ("/p", "vim src/two.rs"),
        ("/p", "ls"),
    ]);
    let given = candidates(&["one.rs", "three.rs", "two.rs"]);
    assert_eq!(
        ranked(&index, &at("/p", &[]), &["vim"], "src/", &given)[0],
        "two.rs"
    );
    let whole = candidates(&["src/one.rs", "src/three.rs", "src/two.rs"]);
    assert_eq!(
        ranked(&index, &at("/p", &[]), &["vim"], "src/", &whole)[0],
        "src/two.rs"
    );
}

#[test]
fn the_newer_of_two_equal_files_comes_first() {
    let mut given = candidates(&["a.qqq", "b.qqq"]);
    given[0].modified = Some(1_000);
    given[1].modified = Some(999_000);
    let context = Context {
        now: 1_000_000,
        ..at("/p", &[])
    };
    assert_eq!(
        ranked(&Index::new(), &context, &["frob"], "", &given)[0],
        "b.qqq"
    );
}

#[test]
fn a_better_match_comes_before_a_worse_one() {
    let mut given = candidates(&["xyzfoo", "foo"]);
    given[0].quality = Match::Substring;
    let order = ranked(&Index::new(), &at("/p", &[]), &["frob"], "foo", &given);
    assert_eq!(order[0], "foo");
}

#[test]
fn a_file_that_stands_in_the_line_already_goes_back() {
    let given = candidates(&["a.qqq", "b.qqq"]);
    let order = ranked(
        &Index::new(),
        &at("/p", &[]),
        &["frob", "a.qqq"],
        "",
        &given,
    );
    assert_eq!(order[0], "b.qqq");
}

#[test]
fn the_first_word_follows_history_and_the_previous_command() {
    let mut commands = Vec::new();
    for _ in 0..5 {
        commands.extend([
            ("/p", "gimp x"),
            ("/p", "gzip y"),
            ("/p", "gimp z"),
            ("/p", "ls"),
        ]);
    }
    let index = seen(&commands);
    let mut given = candidates(&["gawk", "gimp", "git", "gzip"]);
    given.iter_mut().for_each(|c| c.kind = Kind::Command);
    let recent = recent(&[("/p", "ls")]);
    assert_eq!(
        ranked(&index, &at("/p", &recent), &[], "g", &given)[0],
        "gimp"
    );
}

#[test]
fn words_of_a_command_are_listed_with_their_counts() {
    let index = seen(&[
        ("/p", "ssh web"),
        ("/p", "ssh db"),
        ("/p", "ssh web"),
        ("/p", "scp x"),
    ]);
    let slot = Slot {
        words: &[b"ssh"],
        typed: b"",
    };
    let words = argument_words(&index, &slot, 5);
    let found: Vec<(String, u32)> = words.iter().map(|w| (text(&w.text), w.count)).collect();
    assert_eq!(found, [("web".to_owned(), 2), ("db".to_owned(), 1)]);
    let slot = Slot {
        words: &[b"ssh"],
        typed: b"d",
    };
    assert_eq!(argument_words(&index, &slot, 5).len(), 1);
}
