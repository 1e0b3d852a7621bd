//! Listings, commands, projects and paths on the real file system.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use tabsense_gather::line::parse;
use tabsense_gather::path::{Dots, resolve, target};
use tabsense_gather::{Commands, Dialect, Listing, Listings, Projects, State, Unavailable};
use tabsense_rank::{Kind, Match};

/// Only waited for in full when a test fails.
const LONG: Duration = Duration::from_secs(60);

fn complete(listings: &Listings, directory: &Path) -> Listing {
    let deadline = Instant::now() + LONG;
    loop {
        match listings.list(directory, Duration::from_secs(1)) {
            Ok(listing) if listing.state() == State::Complete => return listing,
            other => assert!(Instant::now() < deadline, "last answer: {other:?}"),
        }
    }
}

fn names(listing: &Listing) -> Vec<String> {
    let mut names: Vec<_> = listing
        .iter()
        .map(|entry| String::from_utf8_lossy(entry.name).into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn entries_have_their_names_and_kinds() {
    let home = tempfile::tempdir().expect("temporary directory");
    File::create(home.path().join("file\n$(x)")).expect("file");
    fs::create_dir(home.path().join("dir")).expect("directory");
    symlink("dir", home.path().join("to-dir")).expect("link");
    symlink("nowhere", home.path().join("broken")).expect("link");
    let listing = complete(&Listings::default(), home.path());
    let kind = |name: &str| listing.get(name.as_bytes()).expect(name).kind;
    assert_eq!(kind("file\n$(x)"), Kind::File);
    assert_eq!(kind("dir"), Kind::Directory);
    assert_eq!(kind("to-dir"), Kind::Directory);
    assert_eq!(kind("broken"), Kind::File);
    assert_eq!(listing.len(), 4);
}

#[test]
fn every_change_is_seen_at_once() {
    let home = tempfile::tempdir().expect("temporary directory");
    let listings = Listings::default();
    for number in 0..100 {
        // Many of these fall into one tick of the file system's clock.
        File::create(home.path().join(format!("f{number:03}"))).expect("file");
        assert_eq!(complete(&listings, home.path()).len(), number + 1);
    }
    fs::remove_file(home.path().join("f000")).expect("removed");
    assert!(complete(&listings, home.path()).get(b"f000").is_none());
}

#[test]
fn a_replaced_directory_is_read_again() {
    let home = tempfile::tempdir().expect("temporary directory");
    let (a, b) = (home.path().join("a"), home.path().join("b"));
    fs::create_dir(&a).expect("directory");
    fs::create_dir(&b).expect("directory");
    File::create(b.join("inside")).expect("file");
    let listings = Listings::default();
    assert!(complete(&listings, &a).is_empty());
    fs::remove_dir(&a).expect("removed");
    fs::rename(&b, &a).expect("renamed");
    assert_eq!(names(&complete(&listings, &a)), ["inside"]);
}

#[test]
fn what_is_no_directory_is_told_apart() {
    let home = tempfile::tempdir().expect("temporary directory");
    let listings = Listings::default();
    let list = |name: &str| {
        listings
            .list(&home.path().join(name), LONG)
            .expect_err(name)
    };
    assert_eq!(list("missing"), Unavailable::Missing);
    File::create(home.path().join("file")).expect("file");
    assert_eq!(list("file"), Unavailable::Missing);
    let locked = home.path().join("locked");
    fs::create_dir(&locked).expect("directory");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("mode");
    match fs::read_dir(&locked) {
        Ok(_) => eprintln!("skipped the unreadable directory: this user may read everything"),
        Err(_) => assert_eq!(list("locked"), Unavailable::Denied),
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).expect("mode");
    assert!(complete(&listings, &locked).is_empty());
}

#[test]
fn two_hundred_thousand_entries_are_bounded_now_and_complete_later() {
    // Making the files takes most of this test where they go to a disk.
    let memory = tempfile::tempdir_in("/dev/shm");
    let home = memory
        .or_else(|_| tempfile::tempdir())
        .expect("temporary directory");
    for number in 0..200_000 {
        File::create(home.path().join(format!("file{number:06}"))).expect("file");
    }
    let listings = Listings::default();
    match listings.list(home.path(), Duration::from_millis(5)) {
        Ok(listing) => assert!(listing.len() <= 200_000),
        Err(error) => assert_eq!(error, Unavailable::Late),
    }
    let listing = complete(&listings, home.path());
    assert_eq!(listing.len(), 200_000);
    let hits = listing.search(b"file12345", Match::Typo, 100);
    let found = hits
        .iter()
        .filter(|hit| hit.quality == Match::Prefix)
        .count();
    assert_eq!(found, 10);
    assert!(hits.len() <= 100);
    assert_eq!(listing.starting_with(b"file").count(), 200_000);
    assert!(listings.bytes() < 20 << 20);
}

#[test]
fn search_orders_by_quality_and_hides_hidden_names() {
    let home = tempfile::tempdir().expect("temporary directory");
    for name in [
        "foo", "foobar", "FOOD", "a_foo", "xfoox", ".foo", "f-o-o", "下载",
    ] {
        File::create(home.path().join(name)).expect("file");
    }
    let listing = complete(&Listings::default(), home.path());
    let search = |typed: &str, floor, most| -> Vec<String> {
        let hits = listing.search(typed.as_bytes(), floor, most);
        hits.iter()
            .map(|hit| String::from_utf8_lossy(hit.entry.name).into_owned())
            .collect()
    };
    assert_eq!(
        search("foo", Match::Typo, 9),
        ["foo", "foobar", "FOOD", "a_foo", "f-o-o", "xfoox"],
    );
    assert_eq!(search("foo", Match::Prefix, 9), ["foo", "foobar"]);
    assert_eq!(search("foo", Match::Typo, 3), ["foo", "foobar", "FOOD"]);
    assert_eq!(search(".f", Match::Prefix, 9), [".foo"]);
    assert_eq!(search("xz", Match::Pinyin, 9), ["下载"]);
    assert_eq!(search("", Match::Typo, 99).len(), 7);
}

#[test]
fn commands_are_the_executables_of_path_each_once() {
    let home = tempfile::tempdir().expect("temporary directory");
    let (a, b) = (home.path().join("a"), home.path().join("b"));
    for directory in [&a, &b] {
        fs::create_dir(directory).expect("directory");
    }
    for (path, mode) in [
        (a.join("tool"), 0o755),
        (a.join("text"), 0o644),
        (b.join("tool"), 0o755),
        (b.join("tool2"), 0o700),
    ] {
        File::create(&path).expect("file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mode");
    }
    fs::create_dir(a.join("toolbox")).expect("directory");
    symlink(b.join("tool2"), a.join("tool3")).expect("link");
    let path = format!(
        "{}:{}::relative:/missing:{}",
        a.display(),
        b.display(),
        a.display()
    );
    let commands = Commands::gather(&Listings::default(), path.as_bytes(), LONG);
    let found: Vec<_> = commands.search(b"too", Match::Prefix, 9);
    let found: Vec<_> = found
        .iter()
        .map(|command| command.name.as_slice())
        .collect();
    assert_eq!(found, [&b"tool"[..], b"tool2", b"tool3"]);
    assert!(commands.contains(b"tool2") && !commands.contains(b"text"));
}

#[test]
fn the_nearest_marker_makes_the_project() {
    let home = tempfile::tempdir().expect("temporary directory");
    let deep = home.path().join("p/q/r");
    fs::create_dir_all(&deep).expect("directories");
    fs::create_dir(home.path().join(".git")).expect("directory");
    File::create(home.path().join("p/Cargo.toml")).expect("file");
    let root =
        |from: &Path| Projects::default().root(&Listings::default(), from, home.path(), LONG);
    assert_eq!(root(&deep), Some(home.path().join("p")));
    assert_eq!(root(home.path()), None, "home is no project");
    fs::create_dir(home.path().join("other")).expect("directory");
    assert_eq!(root(&home.path().join("other")), None);
    assert_eq!(root(Path::new("/does/not/exist")), None);
}

#[test]
fn the_typed_word_tells_its_directory() {
    let find = |line: &str, dots| {
        let parsed = parse(line.as_bytes(), line.len(), Dialect::Zsh);
        let known = |name: &[u8]| (name == b"D").then(|| b"/d".to_vec());
        let found = target(&parsed, b"/w/x", b"/home/u", dots, known)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some((
            text(&found.base),
            text(&found.last),
            found.directory.display().to_string(),
        ))
    };
    for (line, base, last, directory) in [
        ("ls fo", "", "fo", "/w/x"),
        ("ls ", "", "", "/w/x"),
        ("ls a/b/fo", "a/b/", "fo", "/w/x/a/b"),
        ("ls ./fo", "./", "fo", "/w/x"),
        ("ls a//fo", "a//", "fo", "/w/x/a"),
        ("ls /etc/ho", "/etc/", "ho", "/etc"),
        ("ls /", "/", "", "/"),
        ("ls ~/fo", "~/", "fo", "/home/u"),
        ("ls $D/e/fo", "$D/e/", "fo", "/d/e"),
        ("ls '~/fo", "~/", "fo", "/w/x/~"),
        ("ls ../fo", "../", "fo", "/w/x/.."),
    ] {
        let expected = Some((base.into(), last.into(), directory.into()));
        assert_eq!(find(line, Dots::Physical), expected, "{line}");
    }
    assert_eq!(find("cd ../fo", Dots::Logical).expect("found").2, "/w");
    for line in [
        "ls ~",
        "ls $D",
        "ls a*/fo",
        "ls $UNKNOWN/fo",
        "ls ~root/x",
        "ls $(pwd)/x",
    ] {
        assert_eq!(find(line, Dots::Physical), None, "{line}");
    }
    assert_eq!(resolve(b"a/", b"", Dots::Physical), None);
    assert_eq!(resolve(b"a\0/", b"/w", Dots::Physical), None);
    assert_eq!(
        resolve(b"../../../..", b"/w", Dots::Logical).as_deref(),
        Some(Path::new("/"))
    );
}
