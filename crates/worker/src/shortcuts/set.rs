//! Shortcuts of one source, ready to be searched.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use tabsense_shortcuts::{Index, Shortcut, Source};

/// The numbers that a model made of a text.
pub(crate) type Vector = Arc<[f32]>;

/// Shortcuts with their texts, the terms of these, and their vectors as far as they are known.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) shortcuts: Vec<Shortcut>,
    pub(crate) index: Index,
    /// Whether a model reads all of its texts beforehand. Of long lists only those are read that
    /// share words with a phrase.
    pub(crate) is_read: bool,
    texts: Vec<String>,
    vectors: Box<[OnceLock<Vector>]>,
}

impl Set {
    /// A set of these shortcuts; of several with the same id the first counts.
    pub(crate) fn new(mut shortcuts: Vec<Shortcut>, is_read: bool) -> Self {
        let mut seen = HashSet::new();
        shortcuts.retain(|shortcut| seen.insert(shortcut.id.clone()));
        let texts: Vec<String> = shortcuts.iter().flat_map(Shortcut::texts).collect();
        Self {
            index: Index::new(&shortcuts),
            vectors: texts.iter().map(|_| OnceLock::new()).collect(),
            texts,
            shortcuts,
            is_read,
        }
    }

    /// The text of that number.
    pub(crate) fn text(&self, number: usize) -> &str {
        &self.texts[number]
    }

    /// The numbers of the texts of a shortcut: they follow each other.
    pub(crate) fn texts_of(&self, shortcut: usize) -> std::ops::Range<usize> {
        let numbers = 0..self.texts.len();
        let start = partition(&numbers, |text| self.index.owner(text) < shortcut);
        let end = partition(&numbers, |text| self.index.owner(text) <= shortcut);
        start..end
    }

    /// The numbers of those of its texts that the model compares a phrase with.
    ///
    /// The model learned the built-in shortcuts by their first text, in English; in whatever
    /// language a phrase is, that one says most.
    pub(crate) fn meanings_of(&self, shortcut: usize) -> std::ops::Range<usize> {
        let texts = self.texts_of(shortcut);
        match self.shortcuts[shortcut].source {
            Source::Builtin => texts.start..texts.end.min(texts.start + 1),
            _ => texts,
        }
    }

    /// What the model made of a text, if it has been asked.
    pub(crate) fn vector(&self, number: usize) -> Option<&Vector> {
        self.vectors[number].get()
    }

    /// Keeps what the model made of a text.
    pub(crate) fn keep(&self, number: usize, vector: Vector) {
        // Two who asked at the same time have the same answer.
        let _ = self.vectors[number].set(vector);
    }

    /// The texts that the model has not been asked about: the first of every shortcut, then the
    /// second, and so on.
    pub(crate) fn unread(&self) -> Vec<usize> {
        let meanings = (0..self.shortcuts.len()).map(|shortcut| self.meanings_of(shortcut));
        let mut unread: Vec<(usize, usize)> = meanings
            .flat_map(|texts| texts.enumerate())
            .filter(|(_, text)| self.vector(*text).is_none())
            .collect();
        unread.sort_unstable();
        unread.into_iter().map(|(_, text)| text).collect()
    }
}

/// The first number for which `before` does not hold.
fn partition(numbers: &std::ops::Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (numbers.start, numbers.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_belong_to_their_shortcuts_and_vectors_are_kept() {
        let text = "[[shortcut]]\nid = \"a\"\ntitle = { en = \"x\", de = \"y\" }\ncommand = \"1\"\n\
                    [[shortcut]]\nid = \"b\"\ntitle = \"z\"\nexamples = [\"w\"]\ncommand = \"2\"\n";
        let (shortcuts, _) = tabsense_shortcuts::parse(text, "f", tabsense_shortcuts::Source::File);
        let twice = [shortcuts.clone(), shortcuts].concat();
        let set = Set::new(twice, true);
        assert_eq!(set.shortcuts.len(), 2);
        assert_eq!((set.texts_of(0), set.texts_of(1)), (0..2, 2..4));
        assert_eq!(set.text(3), "w");
        assert_eq!(set.unread(), [0, 2, 1, 3]);
        set.keep(2, Arc::from([1.0]));
        assert_eq!(set.unread(), [0, 1, 3]);
        assert_eq!(set.vector(2).map(|v| v[0]), Some(1.0));
    }

    #[test]
    fn of_what_is_built_in_the_model_reads_the_english_text_alone() {
        let set = Set::new(tabsense_shortcuts::builtin().to_vec(), true);
        let unread = set.unread();
        assert_eq!(unread.len(), set.shortcuts.len());
        for (shortcut, text) in set.shortcuts.iter().zip(unread) {
            let english = shortcut.title.0.iter().find(|title| title.language == "en");
            let title = &english.expect("an English title").text;
            assert!(
                set.text(text).starts_with(title.as_str()),
                "{}: {}",
                shortcut.id,
                set.text(text)
            );
        }
    }
}
