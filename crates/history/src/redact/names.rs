//! Which names say secret, and which values can be one.

use super::MARK;

/// How much a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// Any value is a secret: `password`, `API_TOKEN`.
    Secret,
    /// Only a long random value is: `key`, `session`.
    Maybe,
    /// Only a value that no switch, number or word looks like is: `reset_token`.
    Unlikely,
}

/// Ends of names, also without a separator before them.
const SECRET_ENDS: [&str; 32] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "token",
    "secret",
    "apikey",
    "api_key",
    "secretkey",
    "secret_key",
    "accesskey",
    "access_key",
    "secret_access_key",
    "private_key",
    "encryption_key",
    "signing_key",
    "master_key",
    "account_key",
    "accountkey",
    "auth_key",
    "authkey",
    "sshpass",
    "rootpass",
    "adminpass",
    "smtppass",
    "ftppass",
    "storepass",
    "keypass",
    "userpass",
    "dbpass",
    "client_secret",
    "api_secret",
];

/// Last parts of names, after a separator or alone.
const SECRET_PARTS: [&str; 9] = [
    "pass",
    "pw",
    "pwd",
    "pat",
    "bearer",
    "psk",
    "creds",
    "secrets",
    "passwords",
];

const MAYBE_ENDS: [&str; 10] = [
    "key",
    "auth",
    "sig",
    "signature",
    "credential",
    "credentials",
    "cookie",
    "session",
    "sid",
    "session_id",
];

/// Last parts that say where or when a secret is used, not what it is.
const PLACES: [&str; 38] = [
    "dev",
    "develop",
    "development",
    "prod",
    "preprod",
    "v",
    "prd",
    "production",
    "live",
    "stg",
    "stage",
    "staging",
    "test",
    "testing",
    "qa",
    "uat",
    "ci",
    "demo",
    "sandbox",
    "local",
    "default",
    "ro",
    "rw",
    "readonly",
    "read",
    "write",
    "admin",
    "root",
    "base",
    "old",
    "new",
    "prev",
    "previous",
    "next",
    "backup",
    "bak",
    "primary",
    "secondary",
];

/// First parts that turn the meaning: switches, limits, words of language models, paths.
const HARMLESS_STARTS: [&str; 20] = [
    "no", "ask", "prompt", "use", "skip", "show", "max", "min", "num", "has", "is", "pad", "eos",
    "bos", "cls", "sep", "unk", "mask", "list", "reset",
];

/// What a variable, option or field name says; `None` for nothing.
pub(super) fn name(bytes: &[u8]) -> Option<Name> {
    // Longer ones are not names; the cap keeps the cost of odd input small.
    if bytes.is_empty() || bytes.len() > 96 {
        return None;
    }
    let mut lower = [0; 96];
    let lower = &mut lower[..bytes.len()];
    for (to, from) in lower.iter_mut().zip(bytes) {
        *to = if *from == b'-' {
            b'_'
        } else {
            from.to_ascii_lowercase()
        };
    }
    let lower: &[u8] = lower;
    let kind = kind(lower).or_else(|| kind(stem(lower)))?;
    let first = lower
        .split(|&byte| byte == b'_')
        .find(|part| !part.is_empty())?;
    let is_whole = first.len() + 1 >= lower.len();
    if !is_whole
        && HARMLESS_STARTS
            .iter()
            .any(|start| start.as_bytes() == first)
    {
        return (kind == Name::Secret).then_some(Name::Unlikely);
    }
    Some(kind)
}

/// The name without numbers and places at its end: `db_password2`, `api_key_prod`.
fn stem(lower: &[u8]) -> &[u8] {
    let mut stem = lower;
    loop {
        let digits = stem
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let shorter = &stem[..stem.len() - digits];
        let shorter = PLACES
            .iter()
            .find_map(|place| {
                let before = shorter.strip_suffix(place.as_bytes())?;
                before.ends_with(b"_").then_some(before)
            })
            .unwrap_or(shorter);
        let shorter = match shorter {
            [before @ .., b'_' | b'.'] => before,
            _ => shorter,
        };
        if shorter.len() == stem.len() {
            return stem;
        }
        stem = shorter;
    }
}

fn kind(lower: &[u8]) -> Option<Name> {
    // The shells' own directories.
    if lower == b"pwd" || lower == b"oldpwd" {
        return None;
    }
    if SECRET_ENDS
        .iter()
        .any(|end| lower.ends_with(end.as_bytes()))
    {
        return Some(Name::Secret);
    }
    let is_part = |end: &str| {
        lower.strip_suffix(end.as_bytes()).is_some_and(|before| {
            before
                .last()
                .is_none_or(|&byte| !byte.is_ascii_alphanumeric())
        })
    };
    if SECRET_PARTS.iter().any(|end| is_part(end)) {
        return Some(Name::Secret);
    }
    MAYBE_ENDS
        .iter()
        .any(|end| lower.ends_with(end.as_bytes()))
        .then_some(Name::Maybe)
}

/// First directories of paths that are given where a secret could be.
const ROOTS: [&[u8]; 13] = [
    b"/etc/",
    b"/home/",
    b"/run/",
    b"/var/",
    b"/tmp/",
    b"/root/",
    b"/usr/",
    b"/opt/",
    b"/dev/",
    b"/mnt/",
    b"/Users/",
    b"/proc/",
    b"/secrets/",
];

/// Ends of paths of files that secrets are kept in.
const FILES: [&[u8]; 6] = [b".json", b".yml", b".yaml", b".toml", b".pem", b".creds"];

const HARMLESS_VALUES: [&[u8]; 13] = [
    b"true",
    b"false",
    b"yes",
    b"no",
    b"on",
    b"off",
    b"null",
    b"none",
    b"nil",
    b"0",
    b"1",
    b"-",
    b"undefined",
];

/// Whether a value, quotes taken off, can be a secret under such a name.
pub(super) fn is_secret(name: Name, value: &[u8]) -> bool {
    if value.is_empty() || value == MARK || is_reference(value) || is_elsewhere(value) {
        return false;
    }
    if HARMLESS_VALUES
        .iter()
        .any(|harmless| harmless.eq_ignore_ascii_case(value))
    {
        return false;
    }
    match name {
        Name::Secret => true,
        Name::Maybe => is_random(value),
        Name::Unlikely => is_telling(value),
    }
}

/// Whether a value is neither a switch nor a number nor an ordinary word, `<pad>` of language
/// models among them.
fn is_telling(value: &[u8]) -> bool {
    let count = |wanted: fn(&u8) -> bool| value.iter().filter(|&byte| wanted(byte)).count();
    let (letters, digits) = (count(u8::is_ascii_alphabetic), count(u8::is_ascii_digit));
    // `100000k`, `1e-06`.
    let is_number = value[0].is_ascii_digit() && letters <= 2;
    if value.len() < 6 || letters == 0 || is_number || b"<[".contains(&value[0]) {
        return false;
    }
    let steps = value
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    let signs = count(|byte| b"!@#$%^&*+=?~".contains(byte));
    digits > 0 || signs > 0 || steps > 1 || (value.len() >= 20 && letters == value.len())
}

/// How far the end of a `${...}` is looked for; the cap keeps the cost of odd input small.
const FAR: usize = 1024;

/// Whether the whole value is a variable, a substitution or a placeholder of a template.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let Some((&first, rest)) = value.split_first() else {
        return false;
    };
    match (first, rest.first()) {
        (b'`', _) => true,
        (b'{', Some(b'{')) => true,
        (b'$', None | Some(b'(')) => true,
        (b'$', Some(b'{')) => rest.ends_with(b"}") || rest[..rest.len().min(FAR)].contains(&b'}'),
        (b'$', _) => is_identifier(rest),
        (b'%', _) => rest.strip_suffix(b"%").is_some_and(is_constant),
        _ => false,
    }
}

fn is_identifier(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Names of `%VARIABLES%` and of templates are written in capitals; a password may stand between
/// two `%` as well.
fn is_constant(bytes: &[u8]) -> bool {
    is_identifier(bytes) && !bytes.iter().any(u8::is_ascii_lowercase)
}

/// Whether the value says where the secret is, and is not it.
fn is_elsewhere(value: &[u8]) -> bool {
    let starts: [&[u8]; 9] = [
        b"~/", b"./", b"../", b"file:", b"env:", b"id=", b"type=", b"op://", b"arn:",
    ];
    let is_file = FILES.iter().any(|end| value.ends_with(end)) && value.contains(&b'/');
    is_file
        || starts
            .iter()
            .chain(&ROOTS)
            .any(|start| value.starts_with(start))
}

/// Whether a text looks drawn at random: long, of several kinds of characters, few repeats.
pub(super) fn is_random(value: &[u8]) -> bool {
    if value.len() < 16 || value.len() > 4096 {
        return false;
    }
    if value.contains(&b'%') {
        return without_escapes(value).is_some_and(|value| is_random(&value));
    }
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(byte);
    if !value.iter().all(is_token) || is_uuid(value) {
        return false;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let least = if value.iter().all(u8::is_ascii_hexdigit) {
        2.8
    } else {
        3.4
    };
    digits >= 2 && letters >= 2 && entropy(value) >= least
}

/// The value without a URL's `%2B`, unless a `%` is something else.
fn without_escapes(value: &[u8]) -> Option<Vec<u8>> {
    let mut parts = value
        .get(..value.len().min(4096))?
        .split(|&byte| byte == b'%');
    let mut rest = parts.next()?.to_vec();
    for part in parts {
        let (escape, after) = part.split_at_checked(2)?;
        if !escape.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        rest.extend_from_slice(after);
    }
    Some(rest)
}

/// Whether a value begins something that is not ended: within single quotes, where nothing is
/// substituted, that is text.
pub(super) fn is_unclosed(value: &[u8]) -> bool {
    let close = match value {
        [b'{', b'{', ..] => b"}}".as_slice(),
        [b'$', b'(', ..] => b")",
        _ => return false,
    };
    !value.windows(close.len()).any(|part| part == close)
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a word standing alone as a command is more likely a pasted secret than a program.
pub(super) fn is_pasted(word: &[u8]) -> bool {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = word
        .windows(2)
        .filter(|pair| class(&pair[0]) != class(&pair[1]))
        .count();
    let has = |wanted: u8| word.iter().any(|byte| class(byte) == wanted);
    let is_plain = word
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+=".contains(byte));
    word.len() >= 20
        && is_plain
        && has(0)
        && has(1)
        && has(2)
        && changes * 3 >= word.len()
        && entropy(word) >= 3.6
}

/// Shannon entropy in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let total = bytes.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / total)
        .map(|share| -share * share.log2())
        .sum()
}
