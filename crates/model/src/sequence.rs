//! From texts to token sequences, in the four option layouts (see the crate documentation).

use std::ops::Range;
use std::rc::Rc;

use crate::config::{AgentConfig, Kind, Layout};
use crate::error::{Error, Result};

/// Tokens with their places, ready for a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Token numbers.
    pub ids: Vec<u32>,
    /// Position of each token for RoPE and for the sliding window.
    pub positions: Vec<u32>,
    /// 0 for tokens of question and state, `s + 1` for those of the option in slot `s`.
    pub owners: Vec<u32>,
    /// Index of each option's `[MASK]` (`separate`: its `[CLS]`), in slot order.
    pub markers: Vec<usize>,
    /// Kind of the question.
    pub kind: Kind,
}

/// Which end of a state that is too long is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// Keep the start (texts and objects).
    #[default]
    End,
    /// Keep the end, the newest turns (lists).
    Start,
}

/// Numbers of the special tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Special {
    pub(crate) cls: u32,
    pub(crate) sep: u32,
    pub(crate) mask: u32,
}

/// Tokens of a question's parts. Options are in slot order and without their `[MASK]`.
pub(crate) struct Parts<'a> {
    pub(crate) kind: Kind,
    pub(crate) question: &'a [u32],
    pub(crate) options: Vec<&'a [u32]>,
    pub(crate) state: &'a [u32],
    pub(crate) cut: Cut,
}

/// Fewest tokens that the question keeps, however long the options are.
const QUESTION_FLOOR: usize = 8;
/// Room for the question below which options are shortened.
const QUESTION_ROOM: usize = 16;
/// Fewest tokens to which an option is shortened, with its `[MASK]`.
const OPTION_FLOOR: usize = 4;

impl Sequence {
    /// The whole sequence of a `sequential` or `parallel` checkpoint.
    ///
    /// # Errors
    /// [`Error::Input`] when the options do not fit.
    pub(crate) fn joint(parts: &Parts, special: Special, config: &AgentConfig) -> Result<Self> {
        let spans = spans(parts, config);
        let used: usize = spans.iter().map(|span| span.len() + 1).sum();
        let room = config.head_max_len.saturating_sub(used).max(QUESTION_FLOOR);
        let mut ids = vec![special.cls];
        ids.extend(parts.question.iter().take(room));
        ids.push(special.sep);
        let mut markers = Vec::with_capacity(spans.len());
        for span in &spans {
            markers.push(ids.len());
            ids.push(special.mask);
            ids.extend_from_slice(span);
        }
        ids.push(special.sep);
        let head = ids.len();
        let room = config.max_len.saturating_sub(head + 1);
        ids.extend_from_slice(cut_state(parts.state, room, parts.cut));
        ids.push(special.sep);
        ids.truncate(config.max_len);
        if let Some(fit) = markers.iter().position(|m| *m >= config.max_len) {
            return Err(Error::Input(format!(
                "only {fit} of {} options fit in max_len {} (hint: ask with fewer options)",
                markers.len(),
                config.max_len
            )));
        }
        let places = match config.layout {
            Layout::Parallel => places_shared(&markers, head, ids.len()),
            _ => ((0..ids.len() as u32).collect(), vec![0; ids.len()]),
        };
        Ok(Self {
            ids,
            positions: places.0,
            owners: places.1,
            markers,
            kind: parts.kind,
        })
    }

    /// The first piece of a `cached` checkpoint: question and state, blind to the options.
    pub(crate) fn state(parts: &Parts, special: Special, config: &AgentConfig) -> Self {
        let mut ids = vec![special.cls];
        ids.extend(
            parts
                .question
                .iter()
                .take(config.head_max_len.saturating_sub(2)),
        );
        ids.push(special.sep);
        let room = state_budget(config).saturating_sub(ids.len() + 1);
        ids.extend_from_slice(cut_state(parts.state, room, parts.cut));
        ids.push(special.sep);
        let len = ids.len();
        Self {
            ids,
            positions: (0..len as u32).collect(),
            owners: vec![0; len],
            markers: Vec::new(),
            kind: parts.kind,
        }
    }

    /// The second piece of a `cached` checkpoint: the options, each starting at position `start`,
    /// the length of the first piece.
    pub(crate) fn options(
        options: &[&[u32]],
        kind: Kind,
        start: usize,
        special: Special,
        config: &AgentConfig,
    ) -> Self {
        let mut out = Self::empty(kind);
        for (slot, option) in options.iter().enumerate() {
            let text = &option[..option.len().min(config.option_max_len)];
            out.markers.push(out.ids.len());
            out.ids.push(special.mask);
            out.ids.extend_from_slice(text);
            let places = start as u32..(start + text.len() + 1) as u32;
            out.owners.extend(places.clone().map(|_| slot as u32 + 1));
            out.positions.extend(places);
        }
        out
    }

    /// The state of a `separate` checkpoint, which nothing else shares.
    pub(crate) fn phrase(state: &[u32], cut: Cut, special: Special, config: &AgentConfig) -> Self {
        let mut out = Self::empty(Kind::Choice);
        let room = config.max_len.saturating_sub(2);
        out.push_alone(cut_state(state, room, cut), 0, special);
        out
    }

    /// Texts of a `separate` checkpoint, each alone; a marker is a text's `[CLS]`.
    pub(crate) fn texts(texts: &[&[u32]], special: Special, config: &AgentConfig) -> Self {
        let mut out = Self::empty(Kind::Choice);
        for (slot, text) in texts.iter().enumerate() {
            let text = &text[..text.len().min(config.option_max_len)];
            out.markers.push(out.ids.len());
            out.push_alone(text, slot as u32 + 1, special);
        }
        out
    }

    fn push_alone(&mut self, text: &[u32], owner: u32, special: Special) {
        let len = text.len() + 2;
        self.ids.push(special.cls);
        self.ids.extend_from_slice(text);
        self.ids.push(special.sep);
        self.positions.extend(0..len as u32);
        self.owners.extend(std::iter::repeat_n(owner, len));
    }

    fn empty(kind: Kind) -> Self {
        Self {
            ids: Vec::new(),
            positions: Vec::new(),
            owners: Vec::new(),
            markers: Vec::new(),
            kind,
        }
    }

    /// The places of the tokens of each owner, for owners whose tokens lie together.
    pub(crate) fn pieces(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let runs = self.owners.chunk_by(|a, b| a == b);
        runs.map(|run| {
            start += run.len();
            start - run.len()..start
        })
        .collect()
    }

    /// The options in the given slots alone.
    pub(crate) fn only(&self, slots: &[usize]) -> Self {
        let pieces = self.pieces();
        let mut out = Self::empty(self.kind);
        for &slot in slots {
            let piece = pieces[slot].clone();
            out.markers
                .push(out.ids.len() + self.markers[slot] - piece.start);
            out.ids.extend_from_slice(&self.ids[piece.clone()]);
            out.positions
                .extend_from_slice(&self.positions[piece.clone()]);
            out.owners.extend_from_slice(&self.owners[piece]);
        }
        out
    }

    /// Both pieces of a `cached` checkpoint, or state and texts of a `separate` one, as one
    /// sequence.
    pub fn join(state: &Self, options: &Self) -> Self {
        let shift = state.ids.len();
        let both = |a: &[u32], b: &[u32]| [a, b].concat();
        Self {
            ids: both(&state.ids, &options.ids),
            positions: both(&state.positions, &options.positions),
            owners: both(&state.owners, &options.owners),
            markers: options.markers.iter().map(|m| m + shift).collect(),
            kind: options.kind,
        }
    }
}

/// Tokens of the first piece of a `cached` checkpoint, all included. The longest option, its
/// `[MASK]` and one more place come after it.
pub(crate) fn state_budget(config: &AgentConfig) -> usize {
    config.max_len.saturating_sub(config.option_max_len + 2)
}

/// Tokens of question and special tokens in the first piece.
pub(crate) fn frame(question: &[u32], config: &AgentConfig) -> usize {
    question.len().min(config.head_max_len.saturating_sub(2)) + 3
}

/// A state of segments, each encoded on its own, in at most `room` tokens. The last segment
/// stands; of the head as many as fit beside it; of the turns the newest that fit beside both.
pub(crate) fn assemble(
    head: &[Rc<[u32]>],
    turns: &[Rc<[u32]>],
    last: &[u32],
    room: usize,
) -> Vec<u32> {
    let last = &last[..last.len().min(room)];
    let mut left = room - last.len();
    let fits = |left: &mut usize, ids: &[u32]| {
        let enough = ids.len() <= *left;
        *left -= if enough { ids.len() } else { 0 };
        enough
    };
    let head = head
        .iter()
        .take_while(|ids| fits(&mut left, ids))
        .collect::<Vec<_>>();
    let kept = turns
        .iter()
        .rev()
        .take_while(|ids| fits(&mut left, ids))
        .count();
    let turns = &turns[turns.len() - kept..];
    let parts = head.into_iter().chain(turns).map(|ids| &ids[..]);
    parts.chain([last]).flatten().copied().collect()
}

/// Option tokens after the cuts: 48 each, and fewer when they would push out the question.
fn spans<'a>(parts: &Parts<'a>, config: &AgentConfig) -> Vec<&'a [u32]> {
    let cut = |most: usize| -> Vec<&'a [u32]> {
        parts
            .options
            .iter()
            .map(|o| &o[..o.len().min(most)])
            .collect()
    };
    let spans = cut(config.option_max_len);
    let used: usize = spans.iter().map(|span| span.len() + 1).sum();
    if used + QUESTION_ROOM <= config.head_max_len {
        return spans;
    }
    let each = config.head_max_len.saturating_sub(QUESTION_ROOM) / spans.len().max(1);
    cut((each.max(OPTION_FLOOR) - 1).min(config.option_max_len))
}

fn cut_state(state: &[u32], room: usize, cut: Cut) -> &[u32] {
    match cut {
        Cut::End => &state[..state.len().min(room)],
        Cut::Start => &state[state.len().saturating_sub(room)..],
    }
}

/// Positions and owners of the `parallel` layout: all options start at the first option's place,
/// and what follows them goes on after the longest.
fn places_shared(markers: &[usize], head: usize, len: usize) -> (Vec<u32>, Vec<u32>) {
    let start = markers.first().copied().unwrap_or(len);
    let mut positions: Vec<u32> = (0..start as u32).collect();
    let mut owners = vec![0; start];
    let mut longest = 0;
    for (slot, from) in markers.iter().enumerate() {
        let to = markers.get(slot + 1).copied().unwrap_or(head - 1);
        longest = longest.max(to - from);
        positions.extend((start..start + to - from).map(|p| p as u32));
        owners.extend((*from..to).map(|_| slot as u32 + 1));
    }
    let after = (start + longest) as u32;
    let rest = len.saturating_sub(positions.len());
    positions.extend(after..after + rest as u32);
    owners.resize(positions.len(), 0);
    positions.truncate(len);
    owners.truncate(len);
    (positions, owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECIAL: Special = Special {
        cls: 1,
        sep: 2,
        mask: 3,
    };

    fn config(layout: Layout, max_len: usize, head_max_len: usize) -> AgentConfig {
        AgentConfig {
            head_layers: 1,
            max_len,
            head_max_len,
            option_max_len: 48,
            actions: 2,
            layout,
            temperature: [1.0; 3],
            temperature_by_options: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn parts<'a>(question: &'a [u32], options: Vec<&'a [u32]>, state: &'a [u32]) -> Parts<'a> {
        Parts {
            kind: Kind::Choice,
            question,
            options,
            state,
            cut: Cut::End,
        }
    }

    #[test]
    fn parallel_options_share_their_places() {
        let parts = parts(&[10, 11], vec![&[20], &[21, 22, 23]], &[30, 31]);
        let s = Sequence::joint(&parts, SPECIAL, &config(Layout::Parallel, 64, 32)).unwrap();
        assert_eq!(s.ids, [1, 10, 11, 2, 3, 20, 3, 21, 22, 23, 2, 30, 31, 2]);
        assert_eq!(s.markers, [4, 6]);
        assert_eq!(s.positions, [0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(s.owners, [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0]);
    }

    #[test]
    fn cached_pieces_join_to_one_sequence() {
        let parts = parts(&[10], vec![&[20], &[21, 22]], &[30, 31]);
        let config = config(Layout::Cached, 80, 16);
        let state = Sequence::state(&parts, SPECIAL, &config);
        let options = Sequence::options(
            &parts.options,
            Kind::Choice,
            state.ids.len(),
            SPECIAL,
            &config,
        );
        assert_eq!(state.ids, [1, 10, 2, 30, 31, 2]);
        assert_eq!(options.ids, [3, 20, 3, 21, 22]);
        assert_eq!(options.positions, [6, 7, 6, 7, 8]);
        let both = Sequence::join(&state, &options);
        assert_eq!(both.markers, [6, 8]);
        assert_eq!(both.owners, [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_long_state_loses_the_end_that_the_cut_names() {
        let state: Vec<u32> = (100..200).collect();
        let mut parts = parts(&[10], vec![&[20]], &state);
        let config = config(Layout::Sequential, 20, 12);
        let s = Sequence::joint(&parts, SPECIAL, &config).unwrap();
        assert_eq!((s.ids.len(), s.ids[6], s.ids[19]), (20, 100, 2));
        parts.cut = Cut::Start;
        let s = Sequence::joint(&parts, SPECIAL, &config).unwrap();
        assert_eq!((s.ids.len(), s.ids[18], s.ids[19]), (20, 199, 2));
    }

    #[test]
    fn of_a_long_state_the_oldest_turns_go_first_and_then_the_head() {
        let ids = |from: u32, len: u32| -> Rc<[u32]> { (from..from + len).collect() };
        let (head, turns) = (
            [ids(10, 2), ids(20, 3)],
            [ids(30, 2), ids(40, 2), ids(50, 2)],
        );
        let last = [60, 61];
        let all = assemble(&head, &turns, &last, 13);
        assert_eq!(all, [10, 11, 20, 21, 22, 30, 31, 40, 41, 50, 51, 60, 61]);
        let fewer = assemble(&head, &turns, &last, 11);
        assert_eq!(fewer, [10, 11, 20, 21, 22, 40, 41, 50, 51, 60, 61]);
        assert_eq!(assemble(&head, &turns, &last, 6), [10, 11, 50, 51, 60, 61]);
        assert_eq!(assemble(&head, &turns, &last, 1), [60]);
    }

    #[test]
    fn too_many_options_are_refused() {
        let parts = parts(&[10], vec![&[20]; 40], &[]);
        let error = Sequence::joint(&parts, SPECIAL, &config(Layout::Sequential, 40, 20));
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("of 40 options fit in max_len 40")
        );
    }
}
