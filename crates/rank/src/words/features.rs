//! The values of the features of a word; [`Word`] gives each formula.

use super::Vector;
use super::history::Uses;
use super::names::Names;
use crate::candidate::{Candidate, Context, Kind, Slot};
use crate::feedback::Place;
use crate::index::intern::NONE;
use crate::index::{FAST, Index, trim_slash};
use crate::lines::evidence::{NumberMap, TextMap};
use crate::lines::{Predictor, generate};
use crate::priors::{Priors, Table};
use crate::shell;
use crate::weights::{Weights, Word};

/// Lines that are looked at for the word they would put here.
const LINES: usize = 64;
/// Recent commands that are looked at for names.
const RECENT: usize = 8;
/// Visits from a directory that are looked at.
const VISITS: usize = 128;
/// Commands that leave behind what their arguments name.
const MAKERS: [&[u8]; 14] = [
    b"mkdir", b"touch", b"cp", b"mv", b"tar", b"unzip", b"wget", b"curl", b"vim", b"vi", b"nvim",
    b"nano", b"code", b"emacs",
];

/// Features that fade as a person's own history grows.
const PRIORS: [Word; 12] = [
    Word::PriorFirst,
    Word::PriorNext,
    Word::Marker,
    Word::Markers,
    Word::PriorSub,
    Word::PriorNextSub,
    Word::PriorKind,
    Word::PriorPairKind,
    Word::PriorOptionKind,
    Word::PriorName,
    Word::PriorCommandName,
    Word::PriorPairName,
];

/// How a name came up in recent commands.
#[derive(Debug, Default, Clone, Copy)]
struct Mention {
    /// Commands ago, from 1; 0 = never.
    age: u32,
    made: bool,
    /// 1 / age of the newest mention by a command with the same first words.
    same_command: f32,
}

/// Computes feature values at one place.
pub(crate) struct Features<'a> {
    index: &'a Index,
    priors: &'a Priors,
    context: Context<'a>,
    /// What stands before the last `/` typed, that `/` included.
    base: &'a [u8],
    words: &'a [&'a [u8]],
    sub: Option<Vec<u8>>,
    option: Option<Vec<u8>>,
    previous_sub: Option<Vec<u8>>,
    previous_head: &'a [u8],
    uses: Uses,
    lines: TextMap<f32>,
    heads_after: TextMap<f32>,
    mentions: TextMap<Mention>,
    /// Texts of the candidate that follows the one used last here.
    follows: Option<&'a [u8]>,
    /// The word that the same command had here the last time.
    last_here: Vec<u8>,
    from_here: NumberMap<f32>,
    markers: Vec<Vec<u8>>,
    count: usize,
    names: Names,
    /// Whether anything is known of the names that the command takes.
    takes_names: bool,
    place: Place,
}

impl<'a> Features<'a> {
    pub(crate) fn new(
        index: &'a Index,
        weights: &'a Weights,
        context: &Context<'a>,
        slot: &Slot<'a>,
        candidates: &'a [Candidate],
    ) -> Self {
        let words = &slot.words[shell::wrapped(slot.words)..];
        let joined = |n: usize| words[..n].join(&b' ');
        let previous = context
            .recent
            .last()
            .map_or(&b""[..], |r| r.command.trim_ascii());
        let mut features = Self {
            index,
            priors: &weights.priors,
            context: *context,
            base: slot.base(),
            words,
            sub: (words.len() > 1).then(|| joined(2)),
            option: option(words),
            previous_sub: previous_sub(context, words),
            previous_head: &previous[shell::head(previous).0],
            uses: Uses::gather(index, context.cwd, slot),
            lines: Default::default(),
            heads_after: Default::default(),
            mentions: Default::default(),
            follows: None,
            last_here: Vec::new(),
            from_here: Default::default(),
            markers: Vec::new(),
            count: candidates.len(),
            names: Names::default(),
            takes_names: false,
            place: Place::new(context.cwd, slot),
        };
        features.look_at_lines(weights, slot);
        features.look_at_recent();
        features.look_at_siblings(candidates);
        features.look_at_visits();
        if !words.is_empty() {
            let common = weights.priors.total(Table::Kind, words[0]);
            features.takes_names = common + features.uses.kinds_total > 0.0;
            features.names = Names::gather(context, words, slot.base(), candidates);
        } else {
            features.markers = markers(&weights.priors, context);
        }
        features
    }

    /// Values of one candidate.
    pub(crate) fn of(&self, candidate: &Candidate) -> Vector {
        let mut v = [0.0; Word::COUNT];
        let text = candidate.text.as_slice();
        let full = if text.starts_with(self.base) {
            text.to_vec()
        } else {
            [self.base, text].concat()
        };
        self.put_uses(&mut v, &full);
        self.put_mentions(&mut v, &full, text);
        if self.words.is_empty() {
            self.put_command_priors(&mut v, text);
        } else {
            self.put_argument_priors(&mut v, &full);
            if self.takes_names && matches!(candidate.kind, Kind::File | Kind::Directory) {
                self.names.put(&mut v, text);
            }
        }
        self.fade(&mut v);
        if candidate.kind == Kind::Directory {
            self.put_visits(&mut v, &full);
        }
        self.put_feedback(&mut v, candidate, &full[self.base.len().min(full.len())..]);
        self.put_plain(&mut v, candidate, &full);
        v
    }

    /// Which words the likely lines would put here.
    fn look_at_lines(&mut self, weights: &Weights, slot: &Slot<'_>) {
        let mut predictor = Predictor::new(self.index, weights, &self.context);
        let mut front = slot.words.join(&b' ');
        if !front.is_empty() {
            front.push(b' ');
        }
        let whole = [front.as_slice(), slot.typed].concat();
        let mut lines = predictor.lines(&whole, LINES);
        if lines.is_empty() && !slot.typed.is_empty() {
            lines = predictor.lines(&front, LINES);
        }
        let most = lines.first().map_or(0.0, |l| l.score);
        let total: f32 = lines.iter().map(|l| (l.score - most).exp()).sum();
        for line in &lines {
            let Some(word) = shell::words(&line.text[front.len()..]).into_iter().next() else {
                continue;
            };
            let share = (line.score - most).exp() / total;
            *self
                .lines
                .entry(trim_slash(&word.text).to_vec())
                .or_default() += share;
        }
        if self.words.is_empty() {
            self.heads_after = predictor.next_heads();
        }
    }

    fn look_at_recent(&mut self) {
        for (recent, age) in self.context.recent.iter().rev().take(RECENT).zip(1..) {
            let all = shell::words(recent.command.trim_ascii());
            let texts: Vec<&[u8]> = all.iter().map(|w| w.text.as_slice()).collect();
            let texts = &texts[shell::wrapped(&texts).min(texts.len())..];
            let Some(head) = texts.first() else { continue };
            let made = generate::made_directory(texts);
            let maker = MAKERS.contains(head) || made.is_some();
            let same = self.words.first().is_none_or(|w| w == head)
                && self.words.get(1).is_none_or(|w| texts.get(1) == Some(w));
            if same && self.last_here.is_empty() {
                self.last_here = texts
                    .get(self.words.len())
                    .map_or(Vec::new(), |w| w.to_vec());
            }
            let skip = usize::from(!self.words.is_empty());
            for word in texts.iter().skip(skip).copied().chain(made) {
                self.mention(word, age, maker, same);
            }
        }
    }

    /// A path mentions itself, its last name and the directories on the way.
    fn mention(&mut self, word: &[u8], age: u32, made: bool, same: bool) {
        let word = trim_slash(word);
        if word.is_empty() || word.starts_with(b"-") {
            return;
        }
        for part in std::iter::once(word).chain(word.split(|b| *b == b'/').filter(|p| p.len() > 1))
        {
            let mention = self.mentions.entry(part.to_vec()).or_default();
            if mention.age == 0 {
                mention.age = age;
                mention.made = made;
            }
            if same && mention.same_command == 0.0 {
                mention.same_command = 1.0 / age as f32;
            }
        }
    }

    fn look_at_siblings(&mut self, candidates: &'a [Candidate]) {
        let last = shell::base_name(&self.last_here);
        if last.is_empty() {
            return;
        }
        let at = candidates
            .iter()
            .position(|c| shell::base_name(&c.text) == last);
        self.follows = at
            .and_then(|at| candidates.get(at + 1))
            .map(|c| c.text.as_slice());
    }

    fn look_at_visits(&mut self) {
        let Some(cwd) = self.index.directory(self.context.cwd) else {
            return;
        };
        for (k, to) in self.index.visits.from(cwd).take(VISITS).enumerate() {
            *self.from_here.entry(to).or_default() += (-(k as f32) / 10.0).exp2();
        }
    }

    fn put_uses(&self, v: &mut Vector, full: &[u8]) {
        let (used, totals) = (self.uses.of(full), self.uses.totals);
        let share = |count: f32, total: f32| count / (total + 0.5);
        let line = self.lines.get(trim_slash(full)).copied().unwrap_or(0.0);
        put(v, Word::LineShare, line);
        put(v, Word::Line, ln(line, 0.002));
        put(v, Word::PlaceShare, share(used.place, totals.place));
        put(v, Word::Place, ln(share(used.place, totals.place), 0.002));
        put(v, Word::Any, ln(share(used.any, totals.any), 0.002));
        put(v, Word::HereShare, share(used.here, totals.here));
        put(v, Word::OptionShare, share(used.option, totals.option));
        if used.age > 0 {
            put(v, Word::Newest, 1.0 / used.age as f32);
        }
        if self.words.is_empty() {
            let head = self.index.heads.get(full).unwrap_or(NONE);
            let stat = self.index.head_stats.get(head as usize);
            let fast = stat.map_or(0.0, |s| self.index.share(s.fast, FAST));
            put(v, Word::First, ln(fast, 1e-4));
            put(
                v,
                Word::FirstCount,
                stat.map_or(0.0, |s| (s.count as f32).ln_1p()),
            );
            put(
                v,
                Word::FirstAfter,
                ln(self.heads_after.get(full).copied().unwrap_or(0.0), 0.005),
            );
        }
    }

    fn put_mentions(&self, v: &mut Vector, full: &[u8], text: &[u8]) {
        let find = |word: &[u8]| self.mentions.get(trim_slash(word)).copied();
        let mention = find(full).or_else(|| find(text)).unwrap_or_default();
        if mention.age > 0 {
            put(v, Word::Mentioned, 1.0);
            put(v, Word::MentionAge, (mention.age as f32).ln());
            put(
                v,
                Word::Made,
                if mention.made {
                    1.0 / mention.age as f32
                } else {
                    0.0
                },
            );
        }
        put(v, Word::SameCommand, mention.same_command);
        let last = shell::base_name(&self.last_here);
        let name = shell::base_name(text);
        if !last.is_empty() {
            put(v, Word::Again, flag(last == name));
            put(v, Word::Follows, flag(self.follows == Some(text)));
            let same = name.iter().zip(last).take_while(|(a, b)| a == b).count();
            let alike = same as f32 / name.len().max(last.len()).max(1) as f32;
            put(v, Word::Alike, if last == name { 0.0 } else { alike });
        }
        let present = self
            .words
            .iter()
            .skip(1)
            .any(|w| trim_slash(w) == trim_slash(full));
        put(v, Word::Present, flag(present));
    }

    fn put_command_priors(&self, v: &mut Vector, text: &[u8]) {
        let priors = self.priors;
        let first = priors.chance(Table::First, b"", text, 10.0, 1e-5);
        put(v, Word::PriorFirst, first.ln());
        let next = priors.chance(Table::Next, self.previous_head, text, 10.0, first);
        put(v, Word::PriorNext, (next / first).ln());
        let lift = |marker: &Vec<u8>| {
            (priors.chance(Table::Marker, marker, text, 20.0, first) / first).ln()
        };
        if !self.markers.is_empty() {
            let lifts = self.markers.iter().map(lift);
            let sum: f32 = lifts.clone().sum();
            put(v, Word::Marker, lifts.fold(0.0, f32::max));
            put(v, Word::Markers, sum / self.markers.len() as f32);
        }
    }

    fn put_argument_priors(&self, v: &mut Vector, full: &[u8]) {
        let priors = self.priors;
        let head = self.words[0];
        let kind = shell::name_kind(full).to_ascii_lowercase();
        let name = shell::base_name(full).to_ascii_lowercase();
        let plain = if kind == b"/" { 0.1 } else { 0.003 };
        let by_head = priors.chance(Table::Kind, head, &kind, 3.0, plain);
        put(v, Word::PriorKind, by_head.ln());
        let own = (self.uses.of_kind(full) + 2.0 * by_head) / (self.uses.kinds_total + 2.0);
        put(v, Word::Kind, (own / by_head).ln());
        let common = priors.chance(Table::Name, b"", &name, 1.0, 1e-6);
        put(v, Word::PriorName, (common + 1e-4).ln());
        let named = priors.chance(Table::CommandName, head, &name, 3.0, common + 1e-4);
        put(v, Word::PriorCommandName, named.ln());
        if self.words.len() == 1 {
            let sub = priors.chance(Table::Sub, head, full, 2.0, 1e-3);
            put(v, Word::PriorSub, sub.ln());
            if let Some(previous) = &self.previous_sub {
                let next = priors.chance(Table::NextSub, previous, full, 4.0, sub);
                put(v, Word::PriorNextSub, (next / sub).ln());
            }
        }
        for key in [&self.sub, &self.option].into_iter().flatten() {
            let table = if Some(key) == self.option.as_ref() {
                Table::OptionKind
            } else {
                Table::PairKind
            };
            let special = priors.chance(table, key, &kind, 3.0, by_head);
            let feature = if table == Table::OptionKind {
                Word::PriorOptionKind
            } else {
                Word::PriorPairKind
            };
            put(v, feature, (special / by_head).ln());
            let special = priors.chance(Table::CommandName, key, &name, 3.0, named);
            v[Word::PriorPairName as usize] += (special / named).ln();
        }
    }

    /// What people at large do matters less the more is known of this person.
    fn fade(&self, v: &mut Vector) {
        let left = if self.words.is_empty() {
            60.0 / (60.0 + self.index.log.len() as f32)
        } else {
            4.0 / (4.0 + self.uses.kinds_total)
        };
        for feature in PRIORS {
            v[feature as usize] *= left;
        }
    }

    fn put_visits(&self, v: &mut Vector, full: &[u8]) {
        let path = shell::resolve(self.context.cwd, self.context.home, full);
        let Some(directory) = self.index.directory(&path) else {
            return;
        };
        let visited = self.index.visits.of(directory);
        put(v, Word::Visited, (visited.count as f32).ln_1p());
        let total: f32 = self.from_here.values().sum::<f32>() + 0.5;
        put(
            v,
            Word::FromHere,
            self.from_here.get(&directory).copied().unwrap_or(0.0) / total,
        );
    }

    fn put_feedback(&self, v: &mut Vector, candidate: &Candidate, text: &[u8]) {
        let Some(feedback) = self.context.feedback else {
            return;
        };
        let fate = feedback.of(&self.place, text, candidate.kind);
        put(v, Word::Taken, f32::from(fate.taken).ln_1p());
        put(
            v,
            Word::PassedOver,
            f32::from(fate.passed.saturating_sub(1)).ln_1p(),
        );
    }

    fn put_plain(&self, v: &mut Vector, candidate: &Candidate, full: &[u8]) {
        if let Some(modified) = candidate.modified.filter(|_| self.context.now > 0) {
            let age = (self.context.now - modified).max(0) as f32;
            put(v, Word::Fresh, (-age / 3600.0).exp());
            put(v, Word::FreshDay, (-age / 86_400.0).exp());
        }
        put(v, Word::Quality, candidate.quality as u8 as f32 / 7.0);
        let inside = trim_slash(full).iter().filter(|b| **b == b'/').count();
        put(v, Word::Depth, inside as f32);
        let place = candidate
            .native
            .map_or(1.0, |n| n as f32 / self.count.max(1) as f32);
        put(v, Word::Native, place.min(1.0));
    }
}

fn option(words: &[&[u8]]) -> Option<Vec<u8>> {
    let last = words
        .last()
        .filter(|w| words.len() > 1 && w.starts_with(b"-"))?;
    Some([words[0], b" ", last].concat())
}

/// The first two words of the newest recent command with this first word.
fn previous_sub(context: &Context<'_>, words: &[&[u8]]) -> Option<Vec<u8>> {
    let first = words.first()?;
    context.recent.iter().rev().take(RECENT).find_map(|recent| {
        let line = recent.command.trim_ascii();
        let (head, sub) = shell::head(line);
        let sub = sub.filter(|_| line[head.clone()] == **first)?;
        Some([&line[head], b" ", &line[sub]].concat())
    })
}

/// Names in the directory that say something about the commands used there.
fn markers(priors: &Priors, context: &Context<'_>) -> Vec<Vec<u8>> {
    let names = context
        .listing
        .iter()
        .take(2000)
        .map(|n| trim_slash(n).to_ascii_lowercase());
    names
        .filter(|name| priors.total(Table::Marker, name) > 0.0)
        .collect()
}

fn put(v: &mut Vector, feature: Word, value: f32) {
    v[feature as usize] = value;
}

fn ln(value: f32, floor: f32) -> f32 {
    (value + floor).ln()
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}
