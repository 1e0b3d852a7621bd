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
    for (index, &byte) in text.iter().enumerate() {
        let is_start = !before.is_ascii_alphanumeric() && before != b'_';
        if is_start && FIRST[usize::from(byte)] {
            token(text, index, found);
        }
        match byte {
            b':' if text[index..].starts_with(b"://") => url(text, index + 3, found),
            b'-' if before != b'-' => private_key(text, index, found),
            _ => {}
        }
        before = byte;
    }
}

fn token(text: &[u8], start: usize, found: &mut Vec<Finding>) {
    let rest = &text[start..];
    for (prefix, least, set, issuer) in PREFIXES {
        if !rest.starts_with(prefix) {
            continue;
        }
        let length = run(&rest[prefix.len()..], |byte| set.has(byte));
        if length >= least {
            push(
                found,
                text,
                start..start + prefix.len() + length,
                Rule::Token(issuer),
            );
            return;
        }
    }
    if let Some(length) = jwt(rest) {
        push(found, text, start..start + length, Rule::Token("JSON web"));
    } else if let Some(length) = loose_key(rest) {
        push(found, text, start..start + length, Rule::Token("OpenAI"));
    } else if let Some(range) = telegram(rest) {
        push(
            found,
            text,
            start + range.start..start + range.end,
            Rule::Token("Telegram"),
        );
    }
}

fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|&&byte| wanted(byte)).count()
}

/// `eyJ` is the base64 of `{"`: header, payload, signature (RFC 7519).
fn jwt(rest: &[u8]) -> Option<usize> {
    let part = |from: usize| {
        run(rest.get(from..).unwrap_or_default(), |byte| {
            Set::Url.has(byte)
        })
    };
    if !rest.starts_with(b"eyJ") {
        return None;
    }
    let header = part(0);
    let payload = part(header + 1);
    if header < 10 || rest.get(header) != Some(&b'.') || payload < 8 {
        return None;
    }
    let length = header + 1 + payload;
    match rest.get(length) {
        Some(b'.') => Some(length + 1 + part(length + 1)),
        _ => Some(length),
    }
}

/// OpenAI's older keys have a prefix that names may have too, so the rest must look random.
fn loose_key(rest: &[u8]) -> Option<usize> {
    let key = rest.strip_prefix(b"sk-")?;
    let length = run(key, |byte| Set::Url.has(byte));
    let key = &key[..length];
    let is_mixed = key.iter().any(u8::is_ascii_digit) && key.iter().any(u8::is_ascii_uppercase);
    (length >= 20 && is_mixed).then_some(length + 3)
}

/// `bot123456789:TOKEN` of Telegram's interface; the number stays.
fn telegram(rest: &[u8]) -> Option<Range<usize>> {
    let number = rest.strip_prefix(b"bot")?;
    let digits = run(number, |byte| byte.is_ascii_digit());
    let token = number.get(digits..)?.strip_prefix(b":")?;
    let length = run(token, |byte| Set::Url.has(byte));
    let start = 3 + digits + 1;
    (digits >= 6 && length >= 30).then_some(start..start + length)
}

/// `user:PASSWORD@host` after a `://`, and addresses of web hooks, which are secrets themselves.
fn url(text: &[u8], start: usize, found: &mut Vec<Finding>) {
    let is_end = |byte: u8| byte.is_ascii_whitespace() || b"\"'`<>|;".contains(&byte);
    let url = &text[start..start + run(&text[start..], |byte| !is_end(byte))];
    for (host, depth) in [
        (b"hooks.slack.com/services/".as_slice(), 2),
        (b"discord.com/api/webhooks/", 1),
    ] {
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
    if names::is_secret(Name::Secret, &text[password.clone()]) || has_at(&text[password.clone()]) {
        push(found, text, password, Rule::Url);
    }
}

/// A password may begin with `@`, which elsewhere says that a file is meant.
fn has_at(password: &[u8]) -> bool {
    password.starts_with(b"@") && password.len() > 1
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
fn private_key(text: &[u8], start: usize, found: &mut Vec<Finding>) {
    let Some(rest) = text[start..].strip_prefix(b"-----BEGIN ") else {
        return;
    };
    let label = run(rest, |byte| {
        byte == b' ' || byte.is_ascii_uppercase() || byte.is_ascii_digit()
    });
    let is_private =
        rest[..label].ends_with(b"PRIVATE KEY") || rest[..label].ends_with(b"PRIVATE KEY BLOCK");
    if !is_private || !rest[label..].starts_with(b"-----") {
        return;
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
    push(
        found,
        text,
        begin + skipped..begin + skipped + length,
        Rule::PrivateKey,
    );
}
