//! `tabsense import`, and the import that happens by itself.

use std::process::Output;

use super::feed;
use super::store::{self, commands, ran, rows, tell, wait_commands};
use crate::common::{Home, Shell};

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn refused(output: &Output, part: &str) {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains(part), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

fn atuin(path: &std::path::Path) {
    std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
    let sql = "CREATE TABLE history (id TEXT PRIMARY KEY, timestamp INTEGER NOT NULL,
            duration INTEGER NOT NULL, exit INTEGER NOT NULL, command TEXT NOT NULL,
            cwd TEXT NOT NULL, session TEXT NOT NULL, hostname TEXT NOT NULL);
        INSERT INTO history VALUES
            ('a', 1700000601250000000, 1500000000, 2, 'make x', '/srv', 's1', 'box:me');";
    rusqlite::Connection::open(path)
        .and_then(|c| c.execute_batch(sql))
        .expect("a database");
}

fn zoxide(directories: &[&std::path::Path]) -> Vec<u8> {
    let mut bytes = 3_u32.to_le_bytes().to_vec();
    bytes.extend((directories.len() as u64).to_le_bytes());
    for directory in directories {
        let path = directory.as_os_str().as_encoded_bytes();
        bytes.extend((path.len() as u64).to_le_bytes());
        bytes.extend_from_slice(path);
        bytes.extend(4_f64.to_le_bytes());
        bytes.extend(1_700_000_000_u64.to_le_bytes());
    }
    bytes
}

#[test]
fn every_format_is_read_once_however_often_it_is_imported() {
    let Some(home) = home() else { return };
    home.write(
        ".zsh_history",
        ": 1700000000:3;ls -l\n: 1700000010:0;for x in a\\\ndo\\\ndone\n",
    );
    home.write(".bash_history", "#1700000100\ncd /tmp\npwd\n");
    home.write(
        ".local/share/fish/fish_history",
        "- cmd: echo a\\nb\n  when: 1700000200\n",
    );
    atuin(&home.home().join(".local/share/atuin/history.db"));
    for (source, added) in [("zsh", 2), ("bash", 1), ("fish", 1), ("atuin", 1)] {
        let first = text(&home.tabsense(&["import", source]));
        assert!(
            first.contains(&format!("{added} read, {added} new")),
            "{source}: {first}"
        );
        let again = text(&home.tabsense(&["import", source]));
        assert!(
            again.contains(&format!("{added} read, 0 new")),
            "{source}: {again}"
        );
    }
    assert_eq!(
        commands(&home),
        [
            "ls -l",
            "for x in a\ndo\ndone",
            "cd /tmp\npwd",
            "echo a\nb",
            "make x"
        ]
    );
    let found = rows(&home);
    assert_eq!(
        (found[0].start_ms, found[0].duration_ms),
        (1_700_000_000_000, Some(3000))
    );
    assert_eq!(
        (found[4].cwd.as_deref(), found[4].exit),
        (Some("/srv"), Some(2))
    );
    let sources: Vec<&str> = found.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources, ["zsh", "zsh", "bash", "fish", "atuin"]);
}

#[test]
fn without_a_name_everything_that_lies_in_its_place_is_imported() {
    let Some(home) = home() else { return };
    refused(&home.tabsense(&["import"]), "no history was found");
    home.write(".zsh_history", "ls -l\n");
    home.write(".bash_history", "pwd\n");
    let said = text(&home.tabsense(&["import"]));
    assert!(said.contains("zsh: ") && said.contains("bash: "), "{said}");
    assert_eq!(commands(&home).len(), 2);
}

#[test]
fn zoxides_directories_lead_cd_to_where_they_are() {
    let Some(home) = home() else { return };
    home.files(&["far/away/zebra/"]);
    let target = home.work().join("far/away/zebra");
    let file = home.root().join("db.zo");
    std::fs::write(&file, zoxide(&[&target])).expect("written");
    let name = file.to_string_lossy().into_owned();
    let said = text(&home.tabsense(&["import", "zoxide", &name]));
    assert!(said.contains("1 read, 1 new"), "{said}");
    let output = home.tabsense(&["complete", "--shell", "bash", "--line", "cd zeb"]);
    assert_eq!(text(&output), "~/work/far/away/zebra/\n");
}

#[test]
fn the_tools_own_variables_say_where_their_files_are() {
    let Some(home) = home() else { return };
    home.files(&["far/away/zebra/"]);
    atuin(&home.root().join("of-atuin/x.db"));
    std::fs::create_dir(home.root().join("of-zoxide")).expect("made");
    let visited = zoxide(&[&home.work().join("far/away/zebra")]);
    std::fs::write(home.root().join("of-zoxide/db.zo"), visited).expect("written");
    home.write(
        ".local/share/fish/work_history",
        "- cmd: at work\n  when: 1700000200\n",
    );
    for (source, variable, value, file) in [
        ("atuin", "ATUIN_DB_PATH", "of-atuin/x.db", "of-atuin/x.db"),
        ("zoxide", "_ZO_DATA_DIR", "of-zoxide", "of-zoxide/db.zo"),
    ] {
        let mut command = home.command(&home.client());
        command
            .args(["import", source])
            .env(variable, home.root().join(value));
        let said = text(&command.output().expect("run"));
        let file = home.root().join(file);
        let expected = format!("{source}: {}: 1 read, 1 new", file.display());
        assert!(said.contains(&expected), "{said}");
    }
    let mut command = home.command(&home.client());
    command.args(["import", "fish"]).env("fish_history", "work");
    let said = text(&command.output().expect("run"));
    assert!(said.contains("work_history: 1 read, 1 new"), "{said}");
}

#[test]
fn the_first_prompt_of_fish_imports_the_history_that_it_names() {
    let Some(home) = home() else { return };
    for name in ["fish", "work"] {
        home.write(
            &format!(".local/share/fish/{name}_history"),
            &format!("- cmd: in {name}\n  when: 1700000200\n"),
        );
    }
    let mut command = home.command(&home.client());
    command
        .args(["prompt", "--hook"])
        .env("fish_history", "work");
    let output = feed(command, b"shell=fish\0session=s\0cwd=/\0\0");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    wait_commands(&home, &["in work"]);
}

#[test]
fn a_file_that_is_not_there_is_named_with_a_hint() {
    let Some(home) = home() else { return };
    for arguments in [
        ["import", "zsh", "/nonexistent"].as_slice(),
        &["eval", "history", "/nonexistent"],
        &["decide", "--state", "x", "--questions", "/nonexistent"],
        &[
            "decide",
            "--state",
            "@/nonexistent",
            "--questions",
            "/dev/null",
        ],
    ] {
        let output = home.tabsense(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.starts_with("tabsense: /nonexistent: "), "{said}");
        assert!(said.contains("\n  hint: "), "{said}");
    }
    let output = home.tabsense(&["forget", "--all"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.starts_with("tabsense: nobody is there to ask: delete"),
        "{said}"
    );
}

#[test]
fn a_file_that_is_not_what_it_should_be_is_a_clear_error() {
    let Some(home) = home() else { return };
    let path = |name: &str| home.home().join(name).to_string_lossy().into_owned();
    home.write("notes", "no database at all");
    refused(
        &home.tabsense(&["import", "zsh", &path("absent")]),
        &path("absent"),
    );
    refused(
        &home.tabsense(&["import", "bash", &path("work")]),
        "not a bash file: a directory",
    );
    refused(
        &home.tabsense(&["import", "atuin", &path("notes")]),
        &path("notes"),
    );
    refused(
        &home.tabsense(&["import", "zoxide", &path("notes")]),
        "not a zoxide file",
    );
    refused(
        &home.tabsense(&["import", "auto", &path("notes")]),
        "a file needs its kind",
    );
    std::fs::write(path("cut.zo"), &zoxide(&[&home.work()])[..20]).expect("written");
    refused(
        &home.tabsense(&["import", "zoxide", &path("cut.zo")]),
        "cut in",
    );
    assert!(commands(&home).is_empty());
    assert_eq!(home.tabsense(&["import", "csh"]).status.code(), Some(2));
}

#[test]
fn the_first_prompt_of_a_shell_imports_its_own_history() {
    let Some(home) = home() else { return };
    home.write("elsewhere/history", "from the file\n");
    let file = home.home().join("elsewhere/history");
    let fields = [
        "shell=bash".to_owned(),
        "cwd=/".into(),
        format!("histfile={}", file.display()),
    ];
    tell(&home, &fields);
    wait_commands(&home, &["from the file"]);
    // Once: what is added to the file later comes by the hook.
    home.write("elsewhere/history", "from the file\nlater\n");
    assert!(home.tabsense(&["worker", "restart"]).status.success());
    tell(&home, &fields);
    ran(&home, "bash", "by the hook", &[]);
    wait_commands(&home, &["from the file", "by the hook"]);
}

#[test]
fn each_shell_brings_its_own_history_and_no_other_shells() {
    let Some(home) = home() else { return };
    home.write(".zsh_history", ": 1700000000:0;in zsh\n");
    home.write(".bash_history", "in bash\n");
    home.write(
        ".local/share/fish/fish_history",
        "- cmd: in fish\n  when: 1700000200\n",
    );
    // A bash below zsh inherits the exported HISTFILE.
    let zsh_file = format!("histfile={}", home.home().join(".zsh_history").display());
    tell(
        &home,
        &["shell=bash".into(), "cwd=/".into(), zsh_file.clone()],
    );
    wait_commands(&home, &["in bash"]);
    tell(
        &home,
        &["shell=fish".into(), "cwd=/".into(), zsh_file.clone()],
    );
    wait_commands(&home, &["in bash", "in fish"]);
    tell(&home, &["shell=zsh".into(), "cwd=/".into(), zsh_file]);
    wait_commands(&home, &["in bash", "in zsh", "in fish"]);
    let shells: Vec<String> = rows(&home).into_iter().map(|row| row.source).collect();
    assert_eq!(shells, ["bash", "zsh", "fish"]);
}

#[test]
fn the_first_import_can_be_turned_off() {
    let Some(home) = home() else { return };
    home.write(".bash_history", "never asked for\n");
    home.write(
        ".config/tabsense/config.toml",
        "[history]\nimport = false\n",
    );
    ran(&home, "bash", "typed", &[]);
    wait_commands(&home, &["typed"]);
}

#[test]
fn what_was_deleted_as_a_whole_does_not_come_back_from_the_shells_file() {
    let Some(home) = home() else { return };
    home.write(".bash_history", "old\n");
    tell(&home, &["shell=bash".into(), "cwd=/".into()]);
    wait_commands(&home, &["old"]);
    assert!(
        home.tabsense(&["forget", "--all", "--yes"])
            .status
            .success()
    );
    assert!(commands(&home).is_empty());
    assert!(home.tabsense(&["worker", "restart"]).status.success());
    tell(&home, &["shell=bash".into(), "cwd=/".into()]);
    tell(&home, &["shell=zsh".into(), "cwd=/".into()]);
    ran(&home, "bash", "new", &[]);
    wait_commands(&home, &["new"]);
    assert_eq!(store::status(&home)["history"], 1);
}
