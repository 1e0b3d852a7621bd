//! Ports, hosts and addresses.

use std::net::IpAddr;

use super::words::Word;
use super::{Found, Phrase};

/// Words beside a number that make it a port.
const PORT: &[&str] = &["port", "端口", "ポート", "puerto", "ports", "埠"];

/// A port: a number beside a word for it or behind a colon, else the only number that can be one.
pub(super) fn port(phrase: &Phrase<'_>) -> Option<Found> {
    let words = phrase.words();
    let of = |word: &Word<'_>| {
        let digits = word.text.rsplit(':').next()?;
        let port: u16 = digits.parse().ok().filter(|port| *port > 0)?;
        Some((word.range.clone(), port.to_string().into_bytes()))
    };
    let says_port = |word: &&Word<'_>| PORT.iter().any(|port| word.lower.contains(port));
    let named = (0..words.len()).find_map(|at| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let beside = [before, words.get(at + 1)];
        beside.into_iter().flatten().find(says_port)?;
        of(&words[at])
    });
    let behind_colon = || {
        words
            .iter()
            .filter(|word| word.text.contains(':') && !word.text.contains('/'))
            .find_map(of)
    };
    let alone = || {
        let mut numbers = words
            .iter()
            .filter(|word| word.text.len() > 1 && word.text.bytes().all(|b| b.is_ascii_digit()))
            .filter_map(of);
        let only = numbers.next()?;
        numbers.next().is_none().then_some(only)
    };
    named.or_else(behind_colon).or_else(alone)
}

/// A URL.
pub(super) fn url(phrase: &Phrase<'_>) -> Option<Found> {
    let words = phrase.words();
    let whole = words.iter().find(|word| {
        word.text.split_once("://").is_some_and(|(scheme, rest)| {
            scheme.chars().all(char::is_alphabetic) && !rest.is_empty()
        })
    });
    let short = || {
        words.iter().find(|word| {
            let (host, _) = word.text.split_once('/').unwrap_or((word.text, ""));
            is_domain(host)
        })
    };
    let word = whole.or_else(short)?;
    Some((word.range.clone(), word.text.as_bytes().to_vec()))
}

/// A machine: a domain, an address, `user@host`, or the word behind one that asks for it.
pub(super) fn host(phrase: &Phrase<'_>) -> Option<Found> {
    let words = phrase.words();
    let bare = |text: &str| {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        text.split('/').next().unwrap_or(text).to_owned()
    };
    let looks = words.iter().find(|word| {
        let host = bare(word.text);
        let name = host.rsplit('@').next().unwrap_or(&host);
        name == "localhost" || is_domain(name) || name.parse::<IpAddr>().is_ok()
    });
    if let Some(word) = looks {
        return Some((word.range.clone(), bare(word.text).into_bytes()));
    }
    let asks = ["ping", "host", "server", "ssh", "服务器", "主机"];
    let at = words.iter().position(|word| asks.contains(&word.lower))?;
    let word = words.get(at + 1)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = word.text.chars().all(plain)
        && word.text.contains(|c: char| c == '-' || c.is_ascii_digit());
    is_name.then(|| (word.range.clone(), word.text.as_bytes().to_vec()))
}

/// `example.com`: parts of letters, digits and dashes, and a last one that is no file's ending.
fn is_domain(text: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "com", "org", "net", "io", "dev", "app", "edu", "gov", "local", "de", "cn", "fr", "es",
        "jp", "uk", "ai",
    ];
    let parts: Vec<&str> = text.split('.').collect();
    let plain = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    parts.len() > 1
        && parts.iter().all(plain)
        && parts.last().is_some_and(|last| ENDINGS.contains(last))
}
