//! `tabsense init SHELL`: the script, with the place of this program before it.
//!
//! Every shell reads the script before its first prompt, so it is short: comments stay here, and what
//! only some shells come to need are parts of their own, which the script asks for (`init SHELL --part
//! NAME`) when they are needed. The program may have been replaced by then. Each part begins with a line
//! that names it and the scripts' version, and a shell that started with another one does not take it.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use super::{Outcome, first_prompt, print};
use crate::cli::{ScriptPart, ShellName};
use crate::failure::Failure;

/// What each shell reads when it starts, in this order.
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

const ZSH_TAB: &[&str] = &[include_str!("../../../../shell/tabsense-tab.zsh")];
const ZSH_DO: &[&str] = &[include_str!("../../../../shell/tabsense-do.zsh")];
const BASH_TAB: &[&str] = &[
    include_str!("../../../../shell/tabsense-tab.bash"),
    include_str!("../../../../shell/tabsense-tab-order.bash"),
];
const BASH_DO: &[&str] = &[include_str!("../../../../shell/tabsense-do.bash")];

/// What tells the scripts of one version from those of another: a checksum over all that a shell may read.
const ZSH_SUM: u64 = checksum(&[ZSH, ZSH_TAB, ZSH_DO]);
const BASH_SUM: u64 = checksum(&[BASH, BASH_TAB, BASH_DO]);
const FISH_SUM: u64 = checksum(&[FISH]);

pub(super) fn run(shell: ShellName) -> Outcome {
    print(script(shell, first_prompt::tell(shell))?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a part that the script leaves out; nothing where it leaves out nothing.
pub(super) fn part(shell: ShellName, part: ScriptPart) -> Outcome {
    let (name, files) = match (shell, part) {
        (ShellName::Zsh, ScriptPart::Tab) => ("tab", ZSH_TAB),
        (ShellName::Zsh, ScriptPart::Do) => ("do", ZSH_DO),
        (ShellName::Bash, ScriptPart::Tab) => ("tab", BASH_TAB),
        (ShellName::Bash, ScriptPart::Do) => ("do", BASH_DO),
        (ShellName::Fish, _) => return Ok(ExitCode::SUCCESS),
    };
    let mut out = format!("# tabsense {name} {}\n", version(shell)).into_bytes();
    out.extend_from_slice(&text(files));
    print(out)?;
    Ok(ExitCode::SUCCESS)
}

/// The script of a shell, ready to be evaluated. `told` is the shell whose first prompt the worker knows of.
pub(super) fn script(shell: ShellName, told: Option<u32>) -> Result<Vec<u8>, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(format!("could not find this program: {error}")))?;
    let quoted = single_quoted(program.as_os_str().as_bytes(), shell);
    let version = version(shell);
    let told = told.map(|pid| pid.to_string()).unwrap_or_default();
    Ok(match shell {
        ShellName::Fish => {
            let told = match told.as_str() {
                "" => String::new(),
                pid => format!("test $fish_pid = {pid}; and set -g __tabsense_told $PWD\n"),
            };
            let told = told.as_bytes();
            [
                b"set -g TABSENSE_BIN ",
                &quoted[..],
                b"\n",
                told,
                &text(FISH),
            ]
            .concat()
        }
        ShellName::Bash => {
            let names = format!("\n__tabsense_version={version} __tabsense_told={told}\n");
            [b"TABSENSE_BIN=", &quoted[..], names.as_bytes(), &text(BASH)].concat()
        }
        ShellName::Zsh => zsh(&quoted, &version, &told),
    })
}

/// zsh reads all that is evaluated before it runs the first word of it, so what an alias stands for
/// could be anywhere: the script is one word, evaluated with aliases off. No word here is open to one.
/// It is written without line breaks, which CSH_JUNKIE_QUOTES does not take in quotes.
fn zsh(program: &[u8], version: &str, told: &str) -> Vec<u8> {
    let names =
        format!("\n'typeset' '-g' '+x' __tabsense_version={version} __tabsense_told={told}\n");
    [
        b"'typeset' '-g' TABSENSE_BIN=",
        program,
        names.as_bytes(),
        b"'typeset' '-g' '+x' __tabsense_aliases=${${options[aliases]/on/aliases}/off/no_aliases}\n\\builtin \\setopt 'no_aliases'\n\\builtin \\eval ",
        &dollar_quoted(&text(ZSH)),
        b"\n\\builtin \\setopt $__tabsense_aliases\n\\builtin \\unset '__tabsense_aliases'\n",
    ]
    .concat()
}

fn version(shell: ShellName) -> String {
    let sum = match shell {
        ShellName::Zsh => ZSH_SUM,
        ShellName::Bash => BASH_SUM,
        ShellName::Fish => FISH_SUM,
    };
    format!("{sum:016x}")
}

/// FNV-1a, 64 bits, as published in draft-eastlake-fnv. Taken when this is compiled: no start waits for it.
const fn checksum(groups: &[&[&str]]) -> u64 {
    let (mut sum, mut group) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while group < groups.len() {
        let mut file = 0;
        while file < groups[group].len() {
            let (bytes, mut at) = (groups[group][file].as_bytes(), 0);
            while at < bytes.len() {
                sum = (sum ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
                at += 1;
            }
            file += 1;
        }
        group += 1;
    }
    sum
}

fn text(parts: &[&str]) -> Vec<u8> {
    let parts: Vec<_> = parts.iter().map(|part| without_comments(part)).collect();
    parts.concat()
}

/// Without lines that are comments or empty, and without indentation: each shell reads it at each start.
/// The scripts have no text of several lines in which that would matter.
fn without_comments(script: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let lines = script.lines().map(str::trim_start);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out
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

/// In `$'…'`, on one line.
fn dollar_quoted(text: &[u8]) -> Vec<u8> {
    let mut out = b"$'".to_vec();
    for &byte in text {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
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

    #[test]
    fn a_script_in_quotes_is_one_line() {
        assert_eq!(dollar_quoted(b"a='\\n'\nb"), b"$'a=\\'\\\\n\\'\\nb'");
    }

    #[test]
    fn comments_and_indentation_are_left_out() {
        let script = "# one\nif a; then\n\n  # two\n  b '#' # three\nfi\n";
        assert_eq!(without_comments(script), b"if a; then\nb '#' # three\nfi\n");
    }

    #[test]
    fn each_shell_has_a_version_of_its_own() {
        let of = |shell| version(shell);
        assert_ne!(of(ShellName::Zsh), of(ShellName::Bash));
        assert_eq!(of(ShellName::Bash).len(), 16);
    }
}
