//! Shell patterns over whole texts: `*`, `?`, `[set]`, `\` and zsh's `(a|b)`.

/// Most steps one match may take; a pattern of many stars gives up instead of hanging.
const MAX_STEPS: u32 = 100_000;

/// Whether all of `text` matches. `*` and `?` also match `/` and line feeds, as they do in
/// HISTIGNORE and HISTORY_IGNORE.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut steps = MAX_STEPS;
    walk(pattern, text, &mut steps)
}

fn walk(pattern: &[u8], text: &[u8], steps: &mut u32) -> bool {
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    let Some((&first, rest)) = pattern.split_first() else {
        return text.is_empty();
    };
    match first {
        b'*' => {
            let rest = &rest[rest.iter().take_while(|&&byte| byte == b'*').count()..];
            (0..=text.len()).any(|skip| walk(rest, &text[skip..], steps))
        }
        b'?' => !text.is_empty() && walk(rest, &text[1..], steps),
        b'[' => match set(rest, text.first().copied()) {
            Some((is_in, rest)) => is_in && walk(rest, &text[1..], steps),
            None => literal(b'[', rest, text, steps),
        },
        b'(' => match group(rest) {
            Some((choices, rest)) => choices.iter().any(|choice| {
                let joined = [*choice, rest].concat();
                walk(&joined, text, steps)
            }),
            None => literal(b'(', rest, text, steps),
        },
        b'\\' if !rest.is_empty() => literal(rest[0], &rest[1..], text, steps),
        byte => literal(byte, rest, text, steps),
    }
}

fn literal(byte: u8, rest: &[u8], text: &[u8], steps: &mut u32) -> bool {
    text.first() == Some(&byte) && walk(rest, &text[1..], steps)
}

/// Reads a set after its `[`: whether `byte` is in it, and the pattern behind it.
fn set(pattern: &[u8], byte: Option<u8>) -> Option<(bool, &[u8])> {
    let negated = matches!(pattern.first(), Some(b'!' | b'^'));
    let mut index = usize::from(negated);
    let first = index;
    let mut found = false;
    loop {
        let low = *pattern.get(index)?;
        if low == b']' && index > first {
            let is_in = byte.is_some() && found != negated;
            return Some((is_in, &pattern[index + 1..]));
        }
        let high = match (pattern.get(index + 1), pattern.get(index + 2)) {
            (Some(b'-'), Some(&high)) if high != b']' => {
                index += 2;
                high
            }
            _ => low,
        };
        found |= byte.is_some_and(|byte| (low..=high).contains(&byte));
        index += 1;
    }
}

/// Splits a group after its `(` into its choices and the pattern behind it.
fn group(pattern: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let (mut depth, mut start, mut index) = (0_u32, 0, 0);
    let mut choices = Vec::new();
    while let Some(&byte) = pattern.get(index) {
        match byte {
            b'\\' => index += 1,
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b'|' if depth == 0 => {
                choices.push(&pattern[start..index]);
                start = index + 1;
            }
            b')' => {
                choices.push(&pattern[start..index]);
                return Some((choices, &pattern[index + 1..]));
            }
            _ => {}
        }
        index += 1;
    }
    None
}
