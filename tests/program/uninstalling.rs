//! `tabsense uninstall`: everything as it was before.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::store::{self, ran, wait_commands};
use super::workers;
use crate::common::{ENTER, Home, Options, Shell};

const ZSH: &str = "eval \"$(tabsense init zsh)\"\n";
const BASH: &str = "eval \"$(/opt/tabsense/bin/tabsense init bash)\"\n";
const FISH: &str = "tabsense init fish | source\n";

fn home() -> Option<Home> {
    Home::new(Shell::Bash)
}

fn read(home: &Home, path: &str) -> Vec<u8> {
    std::fs::read(home.home().join(path)).expect("read")
}

fn put(path: &Path, text: &[u8]) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("directory");
    std::fs::write(path, text).expect("written");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn rc_files_get_back_every_byte_they_had() {
    let Some(home) = home() else { return };
    let files: [(&str, &[u8], &str, &[u8]); 5] = [
        (
            ".zshrc",
            b"setopt x\n",
            ZSH,
            b"# tabsense init in a comment\nalias a=b\n",
        ),
        (
            ".bashrc",
            b"case $- in *i*) ;; *) return;; esac\n",
            BASH,
            b"no final newline",
        ),
        (
            ".bash_profile",
            b"dos\r\n\xff\xfe\r\n",
            "source <(tabsense init bash)\r\n",
            b"end\r\n",
        ),
        (".profile", b"", BASH, b""),
        (
            ".config/fish/conf.d/mine.fish",
            b"set -x A b\n",
            FISH,
            b"\n\n",
        ),
    ];
    for (name, before, line, after) in files {
        put(
            &home.home().join(name),
            &[before, line.as_bytes(), after].concat(),
        );
        let mode = PermissionsExt::from_mode(0o640);
        std::fs::set_permissions(home.home().join(name), mode).expect("mode");
    }
    let output = home.tabsense(&["uninstall", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    for (name, before, _, after) in files {
        assert_eq!(read(&home, name), [before, after].concat(), "{name}");
        let mode = std::fs::metadata(home.home().join(name))
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640, "{name}");
    }
    let left: Vec<PathBuf> = std::fs::read_dir(home.home())
        .expect("home")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("tabsense"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(
        home.tabsense(&["uninstall", "--yes"]).status.success(),
        "twice is fine"
    );
}

#[test]
fn without_any_rc_file_there_is_nothing_to_do() {
    let Some(home) = home() else { return };
    let output = home.tabsense(&["uninstall", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

#[test]
fn a_linked_rc_file_stays_a_link() {
    let Some(home) = home() else { return };
    let target = home.home().join("dotfiles/zshrc");
    put(&target, format!("a\n{ZSH}b\n").as_bytes());
    std::os::unix::fs::symlink("dotfiles/zshrc", home.home().join(".zshrc")).expect("link");
    assert!(home.tabsense(&["uninstall", "--yes"]).status.success());
    let link = std::fs::read_link(home.home().join(".zshrc")).expect("still a link");
    assert_eq!(link, Path::new("dotfiles/zshrc"));
    assert_eq!(std::fs::read(&target).expect("read"), b"a\nb\n");
}

#[test]
fn rc_files_are_found_where_the_variables_say() {
    let Some(home) = home() else { return };
    let zsh = home.home().join("zsh dir/.zshrc");
    let fish = home.home().join("other/fish/config.fish");
    put(&zsh, format!("{ZSH}a\n").as_bytes());
    put(&fish, format!("{FISH}b\n").as_bytes());
    let output = home
        .command(&home.client())
        .args(["uninstall", "--yes"])
        .env("ZDOTDIR", home.home().join("zsh dir"))
        .env("XDG_CONFIG_HOME", home.home().join("other"))
        .output()
        .expect("run");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read(zsh).expect("read"), b"a\n");
    assert_eq!(std::fs::read(fish).expect("read"), b"b\n");
}

#[test]
fn a_read_only_rc_file_is_left_with_the_line_to_take_out() {
    let Some(home) = home() else { return };
    let text = format!("a\n{BASH}");
    home.write(".bashrc", &text);
    home.write(".zshrc", ZSH);
    let file = home.home().join(".bashrc");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).expect("mode");
    let output = home.tabsense(&["uninstall", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(
        said.contains(&file.display().to_string()) && said.contains(BASH.trim()),
        "{said}"
    );
    assert_eq!(read(&home, ".bashrc"), text.as_bytes());
    assert_eq!(read(&home, ".zshrc"), b"", "the other one is done");
}

#[test]
fn lines_that_only_the_user_can_judge_are_named_and_left() {
    let Some(home) = home() else { return };
    let text = "command -v tabsense && eval \"$(tabsense init bash)\"\n";
    home.write(".bashrc", text);
    let output = home.tabsense(&["uninstall", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains(text.trim()), "{}", said(&output));
    assert_eq!(read(&home, ".bashrc"), text.as_bytes());
}

#[test]
fn the_worker_is_stopped_and_the_history_kept() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    ran(&home, "bash", "precious", &[]);
    wait_commands(&home, &["precious"]);
    let output = home.tabsense(&["uninstall"]);
    assert!(
        output.status.success(),
        "no question without an rc line: {output:?}"
    );
    assert!(
        said(&output).contains("is kept; `--purge` deletes it"),
        "{}",
        said(&output)
    );
    assert_eq!(workers(&home), Vec::<u32>::new());
    assert!(!home.runtime().join("tabsense").exists());
    assert_eq!(store::commands(&home), ["precious"]);
}

#[test]
fn the_history_is_deleted_only_after_a_yes() {
    let Some(home) = home() else { return };
    let _worker = home.worker();
    ran(&home, "bash", "precious", &[]);
    wait_commands(&home, &["precious"]);
    let output = home.tabsense(&["uninstall", "--purge"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said(&output).contains("--yes"), "{}", said(&output));
    assert_eq!(store::commands(&home), ["precious"]);
    // Also when only a damaged one is left.
    std::fs::rename(
        store::database(&home),
        store::directory(&home).join("history.corrupt-1"),
    )
    .expect("renamed");
    let output = home.tabsense(&["uninstall", "--purge", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    assert!(!store::directory(&home).exists());
    let parent = home.home().join(".local/share");
    assert!(parent.exists(), "what was there before stays");
}

#[test]
fn the_models_that_were_unpacked_go_and_what_was_done_is_told() {
    let Some(home) = home() else { return };
    home.write(".zshrc", ZSH);
    let models = store::directory(&home).join("models");
    for model in ["builtin-01/builtin/a", "shortcuts-02/b", "my own/c"] {
        put(&models.join(model), b"x");
    }
    let output = home.tabsense(&["uninstall", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains(".zshrc: taken out\n"), "{told}");
    assert!(told.contains("shells that are open"), "{told}");
    let left: Vec<_> = std::fs::read_dir(&models)
        .expect("the user's own stays")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["my own"]);
    std::fs::remove_dir_all(models.join("my own")).expect("removed");
    assert!(home.tabsense(&["uninstall", "--yes"]).status.success());
    assert!(!store::directory(&home).exists());
}

#[test]
fn a_person_is_asked_before_an_rc_file_is_changed() {
    let Some(home) = home() else { return };
    home.write(".zshrc", ZSH);
    let alone = home.tabsense(&["uninstall"]);
    assert_eq!(alone.status.code(), Some(1), "{alone:?}");
    assert_eq!(read(&home, ".zshrc"), ZSH.as_bytes());
    let mut terminal = home.start(&Options::bare());
    for (answer, left) in [("n", ZSH), ("", ZSH), ("y", "")] {
        terminal.run("clear");
        terminal.press(format!("{} uninstall{ENTER}", home.client().display()));
        terminal.wait_text("[y/N]");
        terminal.press(format!("{answer}{ENTER}"));
        terminal.wait_prompt();
        assert_eq!(read(&home, ".zshrc"), left.as_bytes(), "{answer:?}");
    }
}
