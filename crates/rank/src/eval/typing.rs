//! Keys that offers save.

/// How far one method has helped with one command.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typing {
    pub(super) by_line: usize,
    line_done: bool,
    pub(super) by_word: usize,
    /// Characters that stand already, by typing or accepting.
    standing: usize,
}

impl Typing {
    /// Shows the first offer after so many typed characters; `ends` are the command's character ends.
    pub(super) fn see(
        &mut self,
        command: &str,
        ends: &[usize],
        typed: usize,
        offer: Option<&[u8]>,
    ) {
        let length = ends.len() - 1;
        let Some(offer) = offer else { return };
        let whole = offer == command.as_bytes();
        if whole && !self.line_done {
            self.line_done = true;
            self.by_line = length - typed - 1;
        }
        if self.standing > typed {
            return;
        }
        self.standing = typed;
        let reached = if whole {
            length
        } else {
            next_word(command, ends, typed, offer)
        };
        // Accepting costs one key.
        if reached > typed + 1 {
            self.by_word += reached - typed - 1;
            self.standing = reached;
        }
    }
}

/// Where one stands after accepting the offer's next word, if it is the command's too.
fn next_word(command: &str, ends: &[usize], typed: usize, offer: &[u8]) -> usize {
    let start = ends[typed];
    let Some(rest) = offer.get(start..) else {
        return typed;
    };
    let blanks = rest.iter().take_while(|b| **b == b' ').count();
    let letters = rest[blanks..].iter().take_while(|b| **b != b' ').count();
    let end = start + blanks + letters;
    let same = command.as_bytes().get(..end) == offer.get(..end);
    let at_end = command.as_bytes().get(end).is_none_or(|b| *b == b' ');
    match ends.binary_search(&end) {
        Ok(reached) if same && at_end => reached,
        _ => typed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(command: &str, offers: &[&str]) -> (usize, usize) {
        let ends: Vec<usize> = (0..=command.len()).collect();
        let mut typing = Typing::default();
        for (typed, offer) in (1..).zip(offers) {
            typing.see(command, &ends, typed, Some(offer.as_bytes()));
        }
        (typing.by_line, typing.by_word)
    }

    #[test]
    fn a_whole_line_saves_what_is_left_but_one_key_also_after_a_word() {
        assert_eq!(
            saved("git status", &["git push", "git status", "git status"]),
            (7, 7)
        );
    }

    #[test]
    fn a_word_saves_what_it_adds_and_nothing_is_saved_twice() {
        assert_eq!(saved("make test", &["make all", "make all"]), (0, 2));
        assert_eq!(saved("make test", &["made all"]), (0, 0));
    }
}
