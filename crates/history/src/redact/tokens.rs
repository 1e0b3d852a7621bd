//! Secrets that are known by their own form, wherever they stand.

use std::ops::Range;

use super::names::{self, Name};
use super::{Finding, Rule, push};

/// Characters that a token goes on with.
#[derive(Clone, Copy)]
enum Set {
    Alnum,
    /// With `_`.
    Word,
    /// With `_` and `-`.
    Url,
    /// With `_`, `-`, `.`, `+`, `/`, `=`.
    Any,
}

impl Set {
    fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Self::Alnum => false,
                Self::Word => byte == b'_',
                Self::Url => byte == b'_' || byte == b'-',
                Self::Any => b"_-.+/=".contains(&byte),
            }
    }
}

/// A prefix, the least number of bytes after it, what they are made of, who issues it. The forms
/// are those that the issuers document for secret scanning.
type Prefix = (&'static [u8], usize, Set, &'static str);

const PREFIXES: [Prefix; 56] = [
    (b"AKIA", 16, Set::Alnum, "AWS"),
    (b"ASIA", 16, Set::Alnum, "AWS"),
    (b"ABIA", 16, Set::Alnum, "AWS"),
    (b"ghp_", 20, Set::Alnum, "GitHub"),
    (b"gho_", 20, Set::Alnum, "GitHub"),
    (b"ghu_", 20, Set::Alnum, "GitHub"),
    (b"ghs_", 20, Set::Any, "GitHub"),
    (b"ghr_", 20, Set::Alnum, "GitHub"),
    (b"github_pat_", 20, Set::Word, "GitHub"),
    (b"glpat-", 16, Set::Any, "GitLab"),
    (b"gldt-", 16, Set::Url, "GitLab"),
    (b"glrt-", 16, Set::Any, "GitLab"),
    (b"glptt-", 16, Set::Url, "GitLab"),
    (b"glcbt-", 16, Set::Url, "GitLab"),
    (b"xoxa-", 10, Set::Url, "Slack"),
    (b"xoxb-", 10, Set::Url, "Slack"),
    (b"xoxe-", 10, Set::Url, "Slack"),
    (b"xoxe.", 10, Set::Any, "Slack"),
    (b"xoxo-", 10, Set::Url, "Slack"),
    (b"xoxp-", 10, Set::Url, "Slack"),
    (b"xoxr-", 10, Set::Url, "Slack"),
    (b"xoxs-", 10, Set::Url, "Slack"),
    (b"xapp-", 10, Set::Url, "Slack"),
    (b"sk_live_", 10, Set::Alnum, "Stripe"),
    (b"sk_test_", 10, Set::Alnum, "Stripe"),
    (b"rk_live_", 10, Set::Alnum, "Stripe"),
    (b"rk_test_", 10, Set::Alnum, "Stripe"),
    (b"whsec_", 16, Set::Any, "Stripe"),
    (b"sk-ant-", 16, Set::Url, "Anthropic"),
    (b"sk-proj-", 16, Set::Url, "OpenAI"),
    (b"sk-svcacct-", 16, Set::Url, "OpenAI"),
    (b"AIza", 35, Set::Url, "Google"),
    (b"ya29.", 20, Set::Url, "Google"),
    (b"GOCSPX-", 20, Set::Url, "Google"),
    (b"npm_", 30, Set::Alnum, "npm"),
    (b"pypi-", 40, Set::Url, "PyPI"),
    (b"rubygems_", 32, Set::Alnum, "RubyGems"),
    (b"dop_v1_", 32, Set::Alnum, "DigitalOcean"),
    (b"doo_v1_", 32, Set::Alnum, "DigitalOcean"),
    (b"hf_", 30, Set::Alnum, "Hugging Face"),
    (b"gsk_", 40, Set::Alnum, "Groq"),
    (b"SG.", 40, Set::Any, "SendGrid"),
    (b"dckr_pat_", 20, Set::Url, "Docker"),
    (b"AGE-SECRET-KEY-1", 40, Set::Alnum, "age"),
    (b"shpat_", 32, Set::Alnum, "Shopify"),
    (b"shpss_", 32, Set::Alnum, "Shopify"),
    (b"lin_api_", 30, Set::Alnum, "Linear"),
    (b"hvs.", 20, Set::Url, "Vault"),
    (b"tskey-", 16, Set::Url, "Tailscale"),
    (b"ATATT3", 40, Set::Any, "Atlassian"),
    (b"glsa_", 20, Set::Word, "Grafana"),
    (b"nvapi-", 30, Set::Url, "NVIDIA"),
    (b"sntrys_", 30, Set::Any, "Sentry"),
    (b"figd_", 30, Set::Url, "Figma"),
    (b"PMAK-", 30, Set::Url, "Postman"),
    (b"EAAC", 60, Set::Alnum, "Facebook"),
];

/// Bytes of a key of the older form that are looked at.
const LOOSE_LONGEST: usize = 256;

/// First bytes of [`PREFIXES`] and of the forms below.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut index = 0;
    while index < PREFIXES.len() {
        first[PREFIXES[index].0[0] as usize] = true;
        index += 1;
    }
    first[b'e' as usize] = true;
    first[b's' as usize] = true;
    first[b'b' as usize] = true;
    first
};

/// Adds what is found in all of `text`.
pub(super) fn find(text: &[u8], found: &mut Vec<Finding>) {
    let mut before = b' ';
    let mut runs = Runs::default();
    // Nothing is looked for within a token or a key that was found.
    let mut taken = 0;
    for (index, &byte) in text.iter().enumerate() {
        let is_start = !before.is_ascii_alphanumeric() && before != b'_';
        let is_dash = byte == b'-' && before != b'-';
        before = byte;
        if index < taken {
            continue;
        }
        let secret = if is_start && FIRST[usize::from(byte)] {
            token(text, index, &mut runs)
        } else {
            None
        };
        let secret = secret.or_else(|| is_dash.then(|| private_key(text, index)).flatten());
        if let Some((range, rule)) = secret {
            taken = range.end;
            push(found, text, range, rule);
        } else if byte == b':' && text[index..].starts_with(b"://") {
            url(text, index + 3, found);
        }
    }
}

/// Where the last run of each set was and ends, so that long ones are read once.
#[derive(Default)]
struct Runs {
    known: [Range<usize>; 4],
}

impl Runs {
    /// Number of bytes of the set from here on.
    fn length(&mut self, text: &[u8], from: usize, set: Set) -> usize {
        let known = &mut self.known[set as usize];
        if !known.contains(&from) {
            let rest = text.get(from..).unwrap_or_default();
            *known = from..from + run(rest, |byte| set.has(byte));
        }
        known.end - from
    }
}

fn token(text: &[u8], start: usize, runs: &mut Runs) -> Option<(Range<usize>, Rule)> {
    let rest = &text[start..];
    for (prefix, least, set, issuer) in PREFIXES {
        if !rest.starts_with(prefix) {
            continue;
        }
        let length = runs.length(text, start + prefix.len(), set);
        if length >= least {
            let end = start + prefix.len() + length;
            return Some((start..end, Rule::Token(issuer)));
        }
    }
    if let Some(end) = jwt(text, start, runs) {
        return Some((start..end, Rule::Token("JSON web")));
    }
    if let Some(end) = loose_key(text, start, runs) {
        return Some((start..end, Rule::Token("OpenAI")));
    }
    let range = telegram(text, start, runs)?;
    Some((range, Rule::Token("Telegram")))
}

fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|&&byte| wanted(byte)).count()
}

/// `eyJ` is the base64 of `{"`: header, payload, signature (RFC 7519). Returns the end.
fn jwt(text: &[u8], start: usize, runs: &mut Runs) -> Option<usize> {
    if !text[start..].starts_with(b"eyJ") {
        return None;
    }
    let header = runs.length(text, start, Set::Url);
    let payload = start + header + 1;
    if header < 10 || text.get(payload - 1) != Some(&b'.') {
        return None;
    }
    let is_payload = text
        .get(payload..payload + 8)
        .is_some_and(|bytes| bytes.iter().all(|&byte| Set::Url.has(byte)));
    if !is_payload {
        return None;
    }
    let end = payload + runs.length(text, payload, Set::Url);
    match text.get(end) {
        Some(b'.') => Some(end + 1 + runs.length(text, end + 1, Set::Url)),
        _ => Some(end),
    }
}

/// OpenAI's older keys have a prefix that names may have too, so the rest must look random.
fn loose_key(text: &[u8], start: usize, runs: &mut Runs) -> Option<usize> {
    if !text[start..].starts_with(b"sk-") {
        return None;
    }
    let length = runs.length(text, start + 3, Set::Url);
    let key = &text[start + 3..start + 3 + length.min(LOOSE_LONGEST)];
    let is_mixed = key.iter().any(u8::is_ascii_digit) && key.iter().any(u8::is_ascii_uppercase);
    (length >= 20 && is_mixed).then_some(start + 3 + length)
}

/// `bot123456789:TOKEN` of Telegram's interface; the number stays.
fn telegram(text: &[u8], start: usize, runs: &mut Runs) -> Option<Range<usize>> {
    let number = text[start..].strip_prefix(b"bot")?;
    let digits = run(number, |byte| byte.is_ascii_digit());
    if digits < 6 || number.get(digits) != Some(&b':') {
        return None;
    }
    let start = start + 3 + digits + 1;
    let length = runs.length(text, start, Set::Url);
    (length >= 30).then_some(start..start + length)
}

/// Addresses whose last parts are a secret, and the number of parts before those.
const WEB_HOOKS: [(&[u8], usize); 5] = [
    (b"hooks.slack.com/services/", 2),
    (b"discord.com/api/webhooks/", 1),
    (b"discordapp.com/api/webhooks/", 1),
    (b"canary.discord.com/api/webhooks/", 1),
    (b"ptb.discord.com/api/webhooks/", 1),
];

/// `user:PASSWORD@host` after a `://`, and addresses of web hooks, which are secrets themselves.
fn url(text: &[u8], start: usize, found: &mut Vec<Finding>) {
    let is_end = |byte: u8| byte.is_ascii_whitespace() || b"\"'`<>|;".contains(&byte);
    let rest = &text[start..];
    // An address within this one is looked at on its own.
    let length = rest
        .iter()
        .enumerate()
        .take_while(|&(at, &byte)| {
            let is_address = byte == b':' && rest[at..].starts_with(b"://");
            !is_end(byte) && !is_address
        })
        .count();
    let url = &rest[..length];
    for (host, depth) in WEB_HOOKS {
        if let Some(path) = url.strip_prefix(host) {
            let skip: usize = path
                .split_inclusive(|&byte| byte == b'/')
                .take(depth)
                .map(<[u8]>::len)
                .sum();
            let from = start + host.len() + skip;
            let length = run(&text[from..start + url.len()], |byte| Set::Url.has(byte));
            push(found, text, from..from + length, Rule::Url);
        }
    }
    let Some(at) = userinfo_end(url) else { return };
    let userinfo = &url[..at];
    let Some(colon) = userinfo.iter().position(|&byte| byte == b':') else {
        if names::is_secret(Name::Maybe, userinfo) {
            push(found, text, start..start + at, Rule::Url);
        }
        return;
    };
    let password = start + colon + 1..start + at;
    if names::is_secret(Name::Secret, &text[password.clone()]) {
        push(found, text, password, Rule::Url);
    }
}

/// Place of the `@` that ends user and password. A slash before it belongs to the password only
/// when no port can be meant: `host:8080/x@v1` has no password, `user:a/b@host` has.
fn userinfo_end(url: &[u8]) -> Option<usize> {
    let authority = run(url, |byte| !b"/?#".contains(&byte));
    if let Some(at) = url[..authority].iter().rposition(|&byte| byte == b'@') {
        return Some(at);
    }
    let colon = url[..authority].iter().position(|&byte| byte == b':')?;
    let port = &url[colon + 1..authority];
    if port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    url.iter()
        .rposition(|&byte| byte == b'@')
        .filter(|&at| at > colon)
}

/// Body of a PEM block that says private key.
fn private_key(text: &[u8], start: usize) -> Option<(Range<usize>, Rule)> {
    let rest = text[start..].strip_prefix(b"-----BEGIN ")?;
    let label = run(rest, |byte| {
        byte == b' ' || byte.is_ascii_uppercase() || byte.is_ascii_digit()
    });
    let is_private =
        rest[..label].ends_with(b"PRIVATE KEY") || rest[..label].ends_with(b"PRIVATE KEY BLOCK");
    if !is_private || !rest[label..].starts_with(b"-----") {
        return None;
    }
    let begin = start + 11 + label + 5;
    let body = &text[begin..];
    let end = body
        .windows(9)
        .position(|part| part == b"-----END ")
        .unwrap_or(body.len());
    let body = &body[..end];
    let skipped = body.len() - body.trim_ascii_start().len();
    let length = body.trim_ascii().len();
    let range = begin + skipped..begin + skipped + length;
    Some((range, Rule::PrivateKey))
}
