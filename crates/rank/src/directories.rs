//! Ranking of directories to go to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::candidate::{Context, ScoredDirectory};
use crate::index::intern::NONE;
use crate::index::visits::HALF_LIFE;
use crate::index::{Index, trim_slash};
use crate::lines::evidence::parent;
use crate::lines::{Predictor, generate};
use crate::shell;
use crate::weights::{Directory, Weights};

/// The values of all features of a directory.
pub(crate) type Vector = [f32; Directory::COUNT];

/// Directories that are looked at; newer ones first.
const MOST: usize = 20_000;
const FROM: usize = 256;
/// Recent commands that are looked at for names.
const RECENT: usize = 8;
const LINES: usize = 48;
/// zoxide's factors, by time since the newest visit in seconds.
const FACTORS: [(i64, f32); 3] = [(3_600, 4.0), (86_400, 2.0), (604_800, 0.5)];

/// The `k` directories most likely wanted by `cd`, best first.
///
/// Their last name starts with the last part of `typed`, upper and lower case alike; if `typed`
/// has a `/`, they are below what stands before it. The current directory is left out. Directories
/// that were never gone to are among them if recorded commands name them: whether they exist is
/// not known here.
pub fn rank_directories(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    typed: &[u8],
    k: usize,
) -> Vec<ScoredDirectory> {
    let mut found: Vec<ScoredDirectory> = explain_directories(index, weights, context, typed)
        .into_iter()
        .map(|(path, visits, vector)| {
            let score = vector
                .iter()
                .zip(&weights.directories)
                .map(|(v, w)| v * w)
                .sum();
            ScoredDirectory {
                path,
                score,
                visits,
            }
        })
        .collect();
    found.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.path.cmp(&b.path))
    });
    found.truncate(k);
    found
}

/// All directories behind [`rank_directories`]: path, visits and feature values in the order of
/// [`crate::Blend::features`].
pub fn explain_directories(
    index: &Index,
    weights: &Weights,
    context: &Context<'_>,
    typed: &[u8],
) -> Vec<(Vec<u8>, u32, Vec<f32>)> {
    let finder = Finder::new(index, weights, context);
    let wanted = Wanted::new(context, typed);
    let mut found = Vec::new();
    for path in finder.known(&wanted) {
        let directory = index.directory(&path);
        let visits = directory.map_or(0, |d| index.visits.of(d).count);
        let vector = finder.values(&path, directory).to_vec();
        found.push((path, visits, vector));
    }
    found
}

/// What was typed.
struct Wanted {
    above: Option<Vec<u8>>,
    name: Vec<u8>,
    cwd: Vec<u8>,
}

impl Wanted {
    fn new(context: &Context<'_>, typed: &[u8]) -> Self {
        let slash = typed.iter().rposition(|b| *b == b'/');
        let above = slash.map(|at| shell::resolve(context.cwd, context.home, &typed[..=at]));
        let name = slash.map_or(typed, |at| &typed[at + 1..]).to_vec();
        Self {
            above,
            name,
            cwd: trim_slash(context.cwd).to_vec(),
        }
    }

    fn fits(&self, path: &[u8]) -> bool {
        let name = shell::base_name(path);
        let below = |above: &Vec<u8>| {
            above == b"/"
                || path
                    .strip_prefix(above.as_slice())
                    .is_some_and(|r| r.starts_with(b"/"))
        };
        !name.is_empty()
            && path != self.cwd
            && starts_with_ignoring_case(name, &self.name)
            && self.above.as_ref().is_none_or(below)
    }
}

fn starts_with_ignoring_case(name: &[u8], typed: &[u8]) -> bool {
    if name
        .get(..typed.len())
        .is_some_and(|front| front.eq_ignore_ascii_case(typed))
    {
        return true;
    }
    match (std::str::from_utf8(name), std::str::from_utf8(typed)) {
        (Ok(name), Ok(typed)) if !typed.is_ascii() => {
            name.to_lowercase().starts_with(&typed.to_lowercase())
        }
        _ => false,
    }
}

struct Finder<'a> {
    index: &'a Index,
    context: &'a Context<'a>,
    cwd: &'a [u8],
    from: HashMap<u32, (f32, u32)>,
    from_total: f32,
    from_newest: u32,
    before: u32,
    /// Paths that recent commands name, with commands ago, and whether they were made.
    named: HashMap<Vec<u8>, (u32, bool)>,
    lines: HashMap<Vec<u8>, f32>,
}

impl<'a> Finder<'a> {
    fn new(index: &'a Index, weights: &'a Weights, context: &'a Context<'a>) -> Self {
        let mut finder = Self {
            index,
            context,
            cwd: trim_slash(context.cwd),
            from: HashMap::new(),
            from_total: 0.0,
            from_newest: NONE,
            before: NONE,
            named: HashMap::new(),
            lines: HashMap::new(),
        };
        finder.look_from_here();
        finder.look_at_names();
        finder.look_at_lines(weights);
        finder
    }

    fn look_from_here(&mut self) {
        let other = self.context.recent.iter().rev().map(|r| trim_slash(r.cwd));
        let before = other
            .into_iter()
            .find(|cwd| *cwd != self.cwd && !cwd.is_empty());
        self.before = before
            .and_then(|cwd| self.index.directory(cwd))
            .unwrap_or(NONE);
        let Some(cwd) = self.index.directory(self.cwd) else {
            return;
        };
        for (k, to) in self.index.visits.from(cwd).take(FROM).enumerate() {
            let weight = (-(k as f32) / 8.0).exp2();
            let entry = self.from.entry(to).or_default();
            entry.0 += weight;
            entry.1 += 1;
            self.from_total += weight;
            if k == 0 {
                self.from_newest = to;
            }
        }
    }

    /// Directories in the words of recent commands: made ones, and those on the way to files.
    fn look_at_names(&mut self) {
        for (recent, age) in self.context.recent.iter().rev().take(RECENT).zip(1..) {
            let all = shell::words(recent.command.trim_ascii());
            let texts: Vec<&[u8]> = all.iter().map(|w| w.text.as_slice()).collect();
            let texts = &texts[shell::wrapped(&texts).min(texts.len())..];
            if let Some(made) = generate::made_directory(texts) {
                self.name(recent.cwd, made, age, true);
            }
            for word in texts.iter().skip(1) {
                let slash = word.iter().rposition(|b| *b == b'/').filter(|at| *at > 0);
                let Some(slash) = slash.filter(|_| !is_foreign(word)) else {
                    continue;
                };
                self.name(recent.cwd, &word[..slash], age, false);
                if slash + 1 == word.len() {
                    continue;
                }
            }
            let head = texts.first().copied().unwrap_or_default();
            if matches!(
                head,
                b"ls" | b"ll" | b"la" | b"cd" | b"pushd" | b"rmdir" | b"du" | b"tree"
            ) {
                for word in texts.iter().skip(1).filter(|w| !is_foreign(w)) {
                    self.name(recent.cwd, word, age, false);
                }
            }
        }
    }

    fn name(&mut self, cwd: &[u8], path: &[u8], age: u32, made: bool) {
        let from = if cwd.is_empty() { self.cwd } else { cwd };
        if from.is_empty() || path.is_empty() {
            return;
        }
        let path = shell::resolve(from, self.context.home, path);
        if path.len() <= 1 {
            return;
        }
        let entry = self.named.entry(path).or_insert((age, made));
        entry.1 |= made;
    }

    /// Where the likely `cd` lines lead.
    fn look_at_lines(&mut self, weights: &Weights) {
        // By the sum alone, as these weights were fitted to it.
        let mut weights = weights.clone();
        weights.set_network(Arc::default());
        let mut predictor = Predictor::new(self.index, &weights, self.context);
        let lines = predictor.lines(b"cd ", LINES);
        let most = lines.first().map_or(0.0, |l| l.score);
        let total: f32 = lines.iter().map(|l| (l.score - most).exp()).sum();
        for line in &lines {
            let words = shell::words(&line.text);
            let [_, word] = words.as_slice() else {
                continue;
            };
            if self.cwd.is_empty() || word.text == b"-" || is_foreign(&word.text) {
                continue;
            }
            let path = shell::resolve(self.cwd, self.context.home, &word.text);
            // A way up that was taken elsewhere leads nowhere from here.
            if word.text.starts_with(b"..") && self.index.directory(&path).is_none() {
                continue;
            }
            *self.lines.entry(path).or_default() += (line.score - most).exp() / total;
        }
    }

    /// Whether a directory is home, or one above it, where other people's homes lie.
    fn holds_home(&self, path: &[u8]) -> bool {
        let rest = self.context.home.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// Paths that fit, each once, in a fixed order.
    fn known(&self, wanted: &Wanted) -> Vec<Vec<u8>> {
        let texts = &self.index.directories;
        let mut seen: HashSet<&[u8]> = HashSet::new();
        let newest = texts.len().saturating_sub(MOST);
        for id in newest..texts.len() {
            let path = texts.text(id as u32);
            if wanted.fits(path) {
                seen.insert(path);
            }
            let mut above = parent(path);
            while let Some(path) = above.filter(|p| p.len() > 1 && !self.holds_home(p)) {
                if wanted.fits(path) && !seen.insert(path) {
                    break;
                }
                above = parent(path);
            }
        }
        for path in self.named.keys().chain(self.lines.keys()) {
            if wanted.fits(path) {
                seen.insert(path);
            }
        }
        let mut paths: Vec<Vec<u8>> = seen.into_iter().map(<[u8]>::to_vec).collect();
        paths.sort();
        paths
    }

    fn values(&self, path: &[u8], directory: Option<u32>) -> Vector {
        let mut v = [0.0; Directory::COUNT];
        let mut put = |feature: Directory, value: f32| v[feature as usize] = value;
        let id = directory.unwrap_or(NONE);
        let visits = &self.index.visits;
        let visited = visits.of(id);
        let now = visits.len() as f32;
        let decayed = (visited.frecency - now / HALF_LIFE).exp2();
        let share = decayed * (1.0 - (-1.0 / HALF_LIFE).exp2());
        put(Directory::Frecency, (share + 1e-4).ln());
        put(Directory::FrecencyShare, share);
        put(Directory::Visits, (visited.count as f32).ln_1p());
        let age = if visited.count > 0 {
            now - visited.last as f32
        } else {
            now + 1.0
        };
        put(Directory::Age, age.max(1.0).ln());
        put(Directory::Back, flag(id != NONE && id == self.before));
        put(Directory::Never, flag(visited.count == 0));
        let (weight, count) = self.from.get(&id).copied().unwrap_or_default();
        put(Directory::FromShare, weight / (self.from_total + 0.5));
        put(
            Directory::From,
            ((weight + share + 1e-4) / (self.from_total + 1.0)).ln(),
        );
        put(
            Directory::FromNewest,
            flag(id != NONE && id == self.from_newest),
        );
        put(Directory::FromCount, (count as f32).ln_1p());
        let seconds = self.context.now - i64::from(visited.time);
        if visited.count > 0 && visited.time > 0 && self.context.now > 0 {
            let factor = FACTORS
                .iter()
                .find(|(limit, _)| seconds < *limit)
                .map_or(0.25, |f| f.1);
            put(Directory::Zoxide, factor.ln());
        }
        let below = path
            .strip_prefix(self.cwd)
            .is_some_and(|r| r.starts_with(b"/"));
        put(Directory::Child, flag(parent(path) == Some(self.cwd)));
        put(Directory::Below, flag(below));
        put(Directory::Sibling, flag(parent(path) == parent(self.cwd)));
        put(Directory::Above, flag(self.cwd.starts_with(path)));
        if let Some((age, made)) = self.named.get(path) {
            put(Directory::Mentioned, 1.0 / *age as f32);
            put(Directory::Made, if *made { 1.0 / *age as f32 } else { 0.0 });
        }
        let line = self.lines.get(path).copied().unwrap_or(0.0);
        put(Directory::LineShare, line);
        put(Directory::Line, (line + 0.002).ln());
        let rows = self.index.newest_in.get(id as usize).map_or(0, |newest| {
            self.index
                .log
                .walk(crate::index::log::Chain::Directory, *newest, 32)
                .count()
        });
        put(Directory::Used, (rows as f32).ln_1p());
        put(
            Directory::Depth,
            path.iter().filter(|b| **b == b'/').count() as f32,
        );
        v
    }
}

/// Options, remote places and patterns are no directories.
fn is_foreign(word: &[u8]) -> bool {
    word.starts_with(b"-") || word.iter().any(|b| b":*?$`{}=".contains(b))
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}
