//! Words with typing errors.

/// What a misspelt word counts.
pub(super) const TYPO: f32 = 0.6;

/// Shorter words are too near to each other.
const SHORTEST: usize = 4;

/// Words from this length on may have two errors.
const TWO: usize = 8;

/// Whether `typed` may be meant to be `word`: one letter missing, too many, wrong, or two swapped;
/// in long words twice (optimal string alignment distance).
pub(super) fn is_near(typed: &[char], word: &[char]) -> bool {
    let most = match typed.len() {
        ..SHORTEST => return false,
        SHORTEST..TWO => 1,
        _ => 2,
    };
    // The first letter is seldom wrong, and this sorts out nearly all.
    typed[0] == word[0] && typed.len().abs_diff(word.len()) <= most && distance(typed, word) <= most
}

fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let change = row[j] + usize::from(a[i] != b[j]);
            let mut least = change.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            next[j + 1] = least;
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_differ_by_one_error_and_long_ones_by_two() {
        let near = |a: &str, b: &str| {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            is_near(&chars(a), &chars(b))
        };
        for (typed, word) in [
            ("widnow", "window"),
            ("windw", "window"),
            ("windoww", "window"),
            ("wimdow", "window"),
            ("scrensot", "screenshot"),
            ("brigthnes", "brightness"),
        ] {
            assert!(near(typed, word), "{typed} {word}");
        }
        for (typed, word) in [
            ("lat", "let"),
            ("mute", "note"),
            ("widno", "window"),
            ("xindow", "window"),
        ] {
            assert!(!near(typed, word), "{typed} {word}");
        }
    }
}
