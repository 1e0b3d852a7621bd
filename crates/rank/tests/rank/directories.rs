use tabsense_rank::{Context, Index, Weights, rank_directories};

use crate::{at, recent, seen, text};

fn offered(index: &Index, context: &Context<'_>, typed: &str) -> Vec<String> {
    let found = rank_directories(index, &Weights::default(), context, typed.as_bytes(), 10);
    found.iter().map(|d| text(&d.path)).collect()
}

fn walks() -> Index {
    let mut commands = Vec::new();
    for _ in 0..6 {
        commands.extend([
            ("/home/me", "cd work/site"),
            ("/home/me/work/site", "ls"),
            ("/home/me/work/site", "cd ../api"),
            ("/home/me/work/api", "ls"),
            ("/home/me/work/api", "cd"),
            ("/home/me", "ls"),
        ]);
    }
    seen(&commands)
}

#[test]
fn where_one_goes_from_here_comes_first() {
    let index = walks();
    let here = recent(&[("/home/me/work/site", "ls")]);
    assert_eq!(
        offered(&index, &at("/home/me/work/site", &here), "")[0],
        "/home/me/work/api"
    );
    let home = recent(&[("/home/me", "ls")]);
    assert_eq!(
        offered(&index, &at("/home/me", &home), "")[0],
        "/home/me/work/site"
    );
}

#[test]
fn the_first_letters_of_the_last_name_narrow_it_down() {
    let index = walks();
    assert_eq!(
        offered(&index, &at("/home/me", &[]), "A"),
        ["/home/me/work/api"]
    );
    assert_eq!(
        offered(&index, &at("/home/me", &[]), "work/s"),
        ["/home/me/work/site"]
    );
    assert!(offered(&index, &at("/home/me", &[]), "q").is_empty());
}

#[test]
fn the_current_directory_is_not_offered() {
    let found = offered(&walks(), &at("/home/me/work/api", &[]), "");
    assert!(
        !found.contains(&"/home/me/work/api".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_directory_that_was_just_made_is_offered_though_never_visited() {
    let recent = recent(&[("/home/me", "git clone https://example.org/x/tool.git")]);
    let found = offered(&walks(), &at("/home/me", &recent), "t");
    assert_eq!(found, ["/home/me/tool"]);
}

#[test]
fn nothing_above_home_is_offered_that_was_never_visited() {
    let here = recent(&[("/home/me", "ls")]);
    let all = |index: &Index| offered(index, &at("/home/me", &here), "");
    let found = all(&walks());
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|path| path.starts_with("/home/me")),
        "{found:?}"
    );
    // What was, is.
    let index = seen(&[("/home/me", "cd .."), ("/home", "ls"), ("/home", "ls")]);
    assert!(all(&index).contains(&"/home".to_owned()));
}
