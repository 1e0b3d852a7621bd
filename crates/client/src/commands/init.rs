//! `tabsense init SHELL`: the script, with the place of this program before it.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use super::{Outcome, print};
use crate::cli::ShellName;
use crate::failure::Failure;

/// The parts of each script, in the order in which a shell reads them.
const ZSH: &[&str] = &[
    include_str!("../../../../shell/tabsense.zsh"),
    include_str!("../../../../shell/tabsense-hooks.zsh"),
];
const FISH: &[&str] = &[
    include_str!("../../../../shell/tabsense.fish"),
    include_str!("../../../../shell/tabsense-do.fish"),
];
const BASH: &[&str] = &[
    include_str!("../../../../shell/tabsense.bash"),
    include_str!("../../../../shell/tabsense-hooks.bash"),
];

/// What zsh and bash read when the key for words is pressed first.
const ZSH_WORDS: &str = include_str!("../../../../shell/tabsense-do.zsh");
const BASH_WORDS: &str = include_str!("../../../../shell/tabsense-do.bash");

pub(super) fn run(shell: ShellName) -> Outcome {
    print(script(shell)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the part that turns words into commands, where the script leaves it out.
pub(super) fn words(shell: ShellName) -> Outcome {
    print(match shell {
        ShellName::Zsh => ZSH_WORDS,
        ShellName::Bash => BASH_WORDS,
        ShellName::Fish => "",
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The script of a shell, ready to be evaluated.
pub(super) fn script(shell: ShellName) -> Result<Vec<u8>, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(format!("could not find this program: {error}")))?;
    let quoted = single_quoted(program.as_os_str().as_bytes(), shell);
    let (before, parts) = match shell {
        ShellName::Zsh => ("typeset -g TABSENSE_BIN=", ZSH),
        ShellName::Bash => ("TABSENSE_BIN=", BASH),
        ShellName::Fish => ("set -g TABSENSE_BIN ", FISH),
    };
    Ok([before.as_bytes(), &quoted, b"\n", parts.concat().as_bytes()].concat())
}

/// In single quotes, as each shell reads them.
fn single_quoted(text: &[u8], shell: ShellName) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &byte in text {
        match (shell, byte) {
            (ShellName::Fish, b'\'' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            (_, b'\'') => out.extend_from_slice(b"'\\''"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_may_lie_anywhere() {
        let path = b"/opt/it's a \\ dir/tabsense";
        assert_eq!(
            single_quoted(path, ShellName::Zsh),
            b"'/opt/it'\\''s a \\ dir/tabsense'"
        );
        assert_eq!(
            single_quoted(path, ShellName::Fish),
            b"'/opt/it\\'s a \\\\ dir/tabsense'"
        );
    }
}
