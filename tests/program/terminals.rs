//! What starts a worker from a terminal may end in any way: the worker lives on and holds nothing.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::space::Mount;
use super::{answered, system, workers};
use crate::common::{
    CTRL_C, CTRL_U, ENTER, Home, Options, Shell, TAB, Terminal, Worker, eventually,
};

const CTRL_BACKSLASH: &str = "\x1c";
const CTRL_Z: &str = "\x1a";
const SSHD: &str = "/usr/sbin/sshd";

fn options(shell: Shell) -> Options {
    Options::real().before(match shell {
        Shell::Fish => "set -g fish_autosuggestion_enabled 0",
        Shell::Zsh | Shell::Bash => "HISTFILE=~/.history HISTSIZE=100 SAVEHIST=100",
    })
}

/// The worker that the terminal's first prompts or its TAB have started.
#[track_caller]
fn started(home: &Home, terminal: &mut Terminal) -> u32 {
    terminal.press(format!("echo al{TAB}"));
    terminal.wait_line("echo alpha ");
    terminal.clear_line();
    terminal.run("true");
    eventually("a worker serves", || Worker::pid_in(home))
}

#[test]
fn the_keys_that_send_signals_reach_no_worker() {
    for shell in [Shell::Zsh, Shell::Bash, Shell::Fish] {
        let Some(home) = Home::new(shell) else {
            continue;
        };
        home.files(&["alpha"]);
        let mut terminal = home.start(&options(shell));
        let pid = started(&home, &mut terminal);
        for key in [CTRL_C, CTRL_C, CTRL_C, CTRL_C, CTRL_C] {
            terminal.press(format!("{key}{CTRL_U}"));
        }
        // Between two prompts Ctrl-\ is for zsh itself, which dies of it; and after Ctrl-C bash may
        // lose a key.
        terminal.press(format!("{CTRL_U} echo re\"\"ady{ENTER}"));
        terminal.wait_text("ready");
        terminal.wait_prompt();
        for key in [CTRL_BACKSLASH, CTRL_Z] {
            terminal.press(format!("{key}{CTRL_U}"));
        }
        terminal.press(format!("jobs; echo no\"\"thing{ENTER}"));
        terminal.wait_text("nothing");
        assert!(!terminal.text().contains("[1]"), "{}", terminal.text());
        assert_eq!(Worker::pid_in(&home), Some(pid));
        terminal.hang_up();
        assert_eq!(Worker::pid_in(&home), Some(pid), "{shell:?}");
        answered(&home);
    }
}

#[test]
fn a_pipe_or_a_substitution_around_the_first_prompt_ends_at_once() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let tell = format!(
        "printf 'shell=bash\\0cwd=/\\0command=ls\\0\\0' | '{}' prompt --hook",
        home.client().display()
    );
    for script in [
        format!("x=$({tell}); echo done"),
        format!("{{ {tell}; echo done; }} | cat"),
        format!("{tell}; echo done"),
    ] {
        assert!(home.tabsense(&["worker", "stop"]).status.success());
        // Both pipes of this process end when nobody holds them any more.
        let output = home.command("bash".as_ref()).args(["-c", &script]).output();
        let output = output.expect("run bash");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
        assert!(output.stderr.is_empty(), "{output:?}");
        eventually("a worker serves", || Worker::pid_in(&home));
    }
}

#[test]
fn a_terminal_inside_another_program_ends_with_its_shell() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["alpha"]);
    let rc = home.home().join(".bashrc").display().to_string();
    let shell = format!("bash --noprofile --rcfile {rc} -i");
    for around in [
        format!("exec script -qc '{shell}' /dev/null"),
        format!("exec setsid -w -c {shell}"),
    ] {
        assert!(home.tabsense(&["worker", "stop"]).status.success());
        let mut terminal = home.start(&options(Shell::Bash).args(&["-c", &around]));
        let pid = started(&home, &mut terminal);
        terminal.press(format!("exit{ENTER}"));
        terminal.wait_end();
        assert_eq!(Worker::pid_in(&home), Some(pid), "{around}");
    }
}

#[test]
fn a_file_system_can_be_taken_away_after_a_shell_was_in_it() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let place = home.root().join("stick");
    let Some(_mount) = Mount::new(&place, "size=1m") else {
        eprintln!("skipped: no file system may be mounted here");
        return;
    };
    std::fs::write(place.join("alpha"), "").expect("a file");
    let mut terminal = home.start(&options(Shell::Bash).cwd(&place));
    let pid = started(&home, &mut terminal);
    terminal.press(format!("exit{ENTER}"));
    terminal.wait_end();
    eventually("it is not busy", || {
        system("umount", &[place.as_os_str()]).then_some(())
    });
    assert_eq!(Worker::pid_in(&home), Some(pid));
}

/// A server for one test; killed with everything it started for its clients.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn key(path: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path)
        .status();
    assert!(made.expect("ssh-keygen").success());
}

fn serve(home: &Home, port: u16) -> Server {
    let root = home.root().display();
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {root}/host_key\nPidFile none\nUsePAM no\n\
         AuthorizedKeysFile {root}/key.pub\nStrictModes no\nPermitRootLogin yes\nPrintMotd no\n\
         PrintLastLog no\n"
    );
    let file = home.root().join("sshd_config");
    std::fs::write(&file, config).expect("the server's settings");
    key(&home.root().join("host_key"));
    key(&home.root().join("key"));
    if rustix::process::geteuid().is_root() {
        std::fs::create_dir_all("/run/sshd").expect("the server's own place");
    }
    let server = Command::new(SSHD)
        .arg("-D")
        .arg("-f")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the server");
    eventually("the server listens", || {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
    });
    Server(server)
}

#[test]
fn a_remote_session_ends_with_its_shell_and_the_worker_stays() {
    if !Path::new(SSHD).exists() {
        eprintln!("skipped: {SSHD} is not installed");
        return;
    }
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    home.files(&["alpha"]);
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let _server = serve(&home, port);
    let user = Command::new("id").arg("-un").output().expect("id").stdout;
    let user = String::from_utf8(user).expect("a name");
    let variables: Vec<String> = home
        .environment()
        .iter()
        .map(|(key, value)| format!("{key}={}", value.to_string_lossy()))
        .collect();
    let line = format!(
        "exec ssh -tt -F none -i {root}/key -p {port} -o StrictHostKeyChecking=no \
         -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes {user}@127.0.0.1 \
         'cd {work}; exec env -i {variables} bash --noprofile --rcfile {home}/.bashrc -i'",
        root = home.root().display(),
        user = user.trim(),
        work = home.work().display(),
        variables = variables.join(" "),
        home = home.home().display(),
    );
    let mut terminal = home.start(&options(Shell::Bash).args(&["-c", &line]));
    let pid = started(&home, &mut terminal);
    terminal.press(format!("exit{ENTER}"));
    // It would hang for as long as anyone held the session's terminal.
    terminal.wait_end();
    assert_eq!(Worker::pid_in(&home), Some(pid));

    // The same when the connection breaks instead.
    let mut terminal = home.start(&options(Shell::Bash).args(&["-c", &line]));
    started(&home, &mut terminal);
    terminal.hang_up();
    assert_eq!(workers(&home), [pid]);
    answered(&home);
}
