//! One completion: read the line, gather, match, rank, answer.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tabsense_gather::listing::Listing;
use tabsense_gather::matching::Matcher;
use tabsense_gather::path::{Dots, Target, target};
use tabsense_gather::{Dialect, Parsed, Position, line};
use tabsense_history::Offered;
use tabsense_protocol::reply::{self, Completed, Ranked, Reason, Stage};
use tabsense_protocol::request::{self, Complete, Shell};
use tabsense_rank::{
    Candidate, Context, Kind, Match, Slot, confidence, model_weight, rank_words, refine, settle,
    used_here,
};

use crate::ahead::Around;
use crate::offers::{Answer, Answers, letter};
use crate::places::Places;
use crate::server::refused;
use crate::sources;
use crate::state::{Worker, now};
use crate::sure::{self, chosen_order, native_order};

/// What is kept of the client's budget for the way back, and for a machine that is busy.
const RESERVE: Duration = Duration::from_millis(8);

/// What a request that nobody waits for may take.
const WARM_UP: Duration = Duration::from_millis(100);

/// The most that looking at files may take.
const DETAILS_BUDGET: Duration = Duration::from_millis(3);

/// A first candidate that is less likely is not looked into for being sure.
const POSSIBLE: f32 = 0.5;

/// A first candidate that is not even so many times as likely as one drawn by lot says nothing.
const WORTHLESS: f32 = 3.0;

/// Candidates of an answer that are remembered until the next prompt.
const REMEMBERED: usize = 64;

/// Files whose time of change is looked at.
const DETAILS: usize = 256;

/// Ranks the candidates of a request, or says in time that it cannot.
pub(crate) async fn answer(
    worker: &Arc<Worker>,
    session: Vec<u8>,
    ask: Complete,
    received: Instant,
) -> reply::Body {
    let budget = Duration::from_millis(ask.budget_ms.into()).saturating_sub(RESERVE);
    let deadline = received + budget.max(Duration::from_millis(1));
    let shared = Arc::clone(worker);
    let work = tokio::task::spawn_blocking(move || {
        Completion::new(&shared, &session, &ask, received, deadline).run()
    });
    match tokio::time::timeout_at(deadline.into(), work).await {
        Ok(Ok(completed)) => {
            worker.metrics.note(received.elapsed());
            reply::Body::Completed(completed)
        }
        Ok(Err(panic)) => {
            tracing::error!("a completion failed: {panic}");
            refused(Reason::Failed, "the completion failed", "")
        }
        Err(_) => refused(Reason::Busy, "no ranking in time", ""),
    }
}

/// Answers a request that nobody sent. `/` is a directory that never hangs.
pub(crate) fn warm_up(worker: &Worker) {
    let now = Instant::now();
    for line in [b"cd t".as_slice(), b"ls t"] {
        let ask = Complete {
            line: line.to_vec(),
            cursor: line.len() as u64,
            cwd: b"/".to_vec(),
            add: true,
            ..Complete::default()
        };
        Completion::new(worker, b"", &ask, now, now + WARM_UP).run();
    }
}

/// Everything that is known while one request is worked on.
pub(crate) struct Completion<'a> {
    pub(crate) worker: &'a Worker,
    pub(crate) ask: &'a Complete,
    pub(crate) parsed: Parsed,
    pub(crate) places: Places,
    pub(crate) target: Option<Target>,
    pub(crate) deadline: Instant,
    pub(crate) session: &'a [u8],
    received: Instant,
    stages: Vec<(&'static str, Instant)>,
}

impl<'a> Completion<'a> {
    fn new(
        worker: &'a Worker,
        session: &'a [u8],
        ask: &'a Complete,
        received: Instant,
        deadline: Instant,
    ) -> Self {
        let stages = vec![("queue", Instant::now())];
        let cursor = usize::try_from(ask.cursor).unwrap_or(usize::MAX);
        let parsed = line::parse(&ask.line, cursor, dialect(ask));
        let dots = match parsed.words.first().map(Vec::as_slice) {
            Some(b"cd" | b"pushd") => Dots::Logical,
            _ => Dots::Physical,
        };
        // Only HOME and PWD are known here; nothing is ever evaluated.
        let variable = |name: &[u8]| match name {
            b"HOME" => Some(ask.home.clone()),
            b"PWD" => Some(ask.cwd.clone()),
            _ => None,
        };
        let target = target(&parsed, &ask.cwd, &ask.home, dots, variable);
        let places = Places::new(&ask.cwd, &ask.home);
        Self {
            worker,
            ask,
            parsed,
            places,
            target,
            deadline,
            session,
            received,
            stages,
        }
    }

    fn run(mut self) -> Completed {
        let around = self.look_around();
        let listing = self.listing();
        let mut candidates = self.natives(listing.as_ref());
        if candidates.is_empty() && self.ask.add {
            candidates = sources::gather(&self, listing.as_ref());
        }
        self.look_at_files(&mut candidates);
        self.stages.push(("gather", Instant::now()));
        let decided = self.rank(&candidates, &around);
        let ranked = decided
            .order
            .iter()
            .map(|ranked| self.answer_for(&candidates[ranked.position], ranked.score))
            .collect();
        let completed = Completed {
            ranked,
            stages: self.stage_times(),
            start: self.parsed.start as u64,
            confidence: decided.confidence,
            sure: decided.sure,
        };
        self.remember(&candidates, &decided);
        completed
    }

    /// Keeps the answer until the next prompt tells what was taken of it.
    fn remember(self, candidates: &[Candidate], decided: &Decided) {
        if decided.order.len() < 2 {
            return;
        }
        let typed = self.parsed.typed;
        let slot = Slot {
            words: &[],
            typed: &typed,
        };
        let base = slot.base();
        let offered = |ranked: &tabsense_rank::Ranked| {
            let candidate = &candidates[ranked.position];
            let name = candidate.text.strip_prefix(base);
            Offered {
                kind: letter(candidate.kind),
                native: candidate.native,
                text: name.unwrap_or(&candidate.text).to_vec(),
            }
        };
        let answer = Answer {
            dialect: dialect(self.ask),
            front: self.ask.line[..self.parsed.start.min(self.ask.line.len())].to_vec(),
            cwd: self.ask.cwd.clone(),
            words: self.parsed.words,
            candidates: decided.order.iter().take(REMEMBERED).map(offered).collect(),
            sure: decided.sure,
            typed,
        };
        self.worker.lock_answers().note(self.session, answer);
    }

    /// What is left of the time, and at most `most`.
    pub(crate) fn left(&self, most: Duration) -> Duration {
        self.deadline
            .saturating_duration_since(Instant::now())
            .min(most)
    }

    /// The directory that the word points into.
    fn listing(&self) -> Option<Listing> {
        let target = self.target.as_ref()?;
        let half = self.left(Duration::MAX) / 2;
        self.worker.listings.list(&target.directory, half).ok()
    }

    /// The shell's own candidates, with what the listing knows of them.
    fn natives(&self, listing: Option<&Listing>) -> Vec<Candidate> {
        let last = self
            .target
            .as_ref()
            .map_or(&self.parsed.typed, |target| &target.last);
        let base = self.target.as_ref().map_or(&[][..], |target| &target.base);
        let mut matcher = Matcher::new(last);
        let native = |(place, sent): (usize, &request::Candidate)| {
            let whole = sent.text.strip_prefix(base).unwrap_or(&sent.text);
            let (kind, text) = self.kind_of(whole, listing);
            Candidate {
                quality: matcher.quality(&text).unwrap_or(Match::Subsequence),
                kind,
                text,
                description: sent.description.clone(),
                native: u32::try_from(place).ok(),
                modified: None,
            }
        };
        self.ask.candidates.iter().enumerate().map(native).collect()
    }

    /// What a native candidate is; a directory's text gets its slash.
    fn kind_of(&self, text: &[u8], listing: Option<&Listing>) -> (Kind, Vec<u8>) {
        if text.starts_with(b"-") {
            return (Kind::Option, text.to_vec());
        }
        let name = text.strip_suffix(b"/").unwrap_or(text);
        let entry = listing.and_then(|listing| listing.get(name));
        let is_directory =
            text.ends_with(b"/") || entry.is_some_and(|entry| entry.kind == Kind::Directory);
        if is_directory {
            return (Kind::Directory, [name, b"/"].concat());
        }
        let kind = match (self.parsed.position, entry) {
            (_, Some(_)) => Kind::File,
            (Position::Command, None) => Kind::Command,
            _ => Kind::Word,
        };
        (kind, text.to_vec())
    }

    fn look_at_files(&self, candidates: &mut [Candidate]) {
        let Some(target) = &self.target else { return };
        let is_entry = |c: &Candidate| matches!(c.kind, Kind::File | Kind::Directory);
        let places: Vec<usize> = (0..candidates.len())
            .filter(|&place| is_entry(&candidates[place]))
            .take(DETAILS)
            .collect();
        if places.is_empty() {
            return;
        }
        let details = {
            let name = |&place: &usize| {
                let candidate = &candidates[place];
                let text = candidate.text.as_slice();
                // Ours are whole words: the name is what stands behind the typed directory.
                let name = match candidate.native {
                    Some(_) => text,
                    None => text.strip_prefix(&target.base[..]).unwrap_or(text),
                };
                name.strip_suffix(b"/").unwrap_or(name)
            };
            let names: Vec<&[u8]> = places.iter().map(name).collect();
            let budget = self.left(DETAILS_BUDGET);
            self.worker
                .listings
                .details(&target.directory, &names, DETAILS, budget)
        };
        for (place, details) in places.into_iter().zip(details) {
            candidates[place].modified = details.map(|details| details.modified);
        }
    }

    /// Statistics first; the model refines when it is in time.
    fn rank(&mut self, candidates: &[Candidate], around: &Around) -> Decided {
        let root = self.places.project_root(self.worker);
        let words: Vec<&[u8]> = self.parsed.words.iter().map(Vec::as_slice).collect();
        let feedback = self.worker.feedback();
        let recent = around.recent();
        let context = Context {
            project_root: root.as_ref().map(|root| root.as_os_str().as_bytes()),
            session: self.session,
            now: now(),
            feedback: Some(&feedback),
            ..around.context(&self.ask.cwd, &self.ask.home, &recent)
        };
        let slot = Slot {
            words: &words,
            typed: &self.parsed.typed,
        };
        let weights = &self.worker.adapter.weights();
        let (mut ranked, weight) = {
            let index = &self.worker.read_index();
            let ranked = rank_words(index, weights, &context, &slot, candidates);
            (ranked, model_weight(weights, index, &slot, candidates))
        };
        self.stages.push(("rank", Instant::now()));
        let mut heard = 0.0;
        if ranked.len() > 1
            && let Some(mut voice) = self.worker.judge.for_request(self.session, self.deadline)
        {
            let begun = Instant::now();
            heard = refine(&mut ranked, candidates, &context, &slot, weight, &mut voice);
            self.stages.push(("tokenise", begun + voice.tokenise()));
            self.stages.push(("forward", Instant::now()));
        }
        self.decide(candidates, ranked, heard, &context, &slot)
    }

    /// How sure the ranking is, in which a model was heard with a weight, and what follows from that.
    fn decide(
        &self,
        candidates: &[Candidate],
        mut order: Vec<tabsense_rank::Ranked>,
        heard: f32,
        context: &Context<'_>,
        slot: &Slot<'_>,
    ) -> Decided {
        let settings = &self.worker.settings;
        let confidence = confidence(&order, heard);
        let best = order.first().map(|entry| entry.position);
        let floor = percent(settings.complete_native_percent());
        if self.ask.ordered {
            let used = used_here(&self.worker.read_index(), context, slot, candidates);
            chosen_order(&mut order, &used);
        } else if confidence.first < floor.min(WORTHLESS / order.len().max(1) as f32) {
            native_order(&mut order, candidates);
        } else if candidates
            .iter()
            .all(|candidate| candidate.native.is_some())
        {
            settle(&mut order, candidates, heard);
        }
        let line = &self.ask.line;
        let front = &line[..self.parsed.start.min(line.len())];
        let asked_before = |answers: &Answers| answers.was_sure(self.session, front, slot.typed);
        let least = percent(settings.complete_insert_percent());
        let sure = self.ask.sure
            && settings.complete_inserts()
            && order.first().map(|entry| entry.position) == best
            // Looking into the history is for the few that are likely at all.
            && confidence.first >= POSSIBLE
            && !asked_before(&self.worker.lock_answers())
            && {
                let index = self.worker.read_index();
                let cursor = usize::try_from(self.ask.cursor).unwrap_or(usize::MAX);
                sure::Answer {
                    position: self.parsed.position,
                    words: &self.parsed.words,
                    typed: &slot.typed[slot.base().len()..],
                    after: &line[cursor.min(line.len())..],
                    candidates,
                    ranked: &order,
                    used: &used_here(&index, context, slot, candidates),
                    confidence,
                }
                .is_sure(least)
            };
        Decided {
            order,
            confidence: confidence.first,
            sure,
        }
    }

    fn answer_for(&self, candidate: &Candidate, score: f32) -> Ranked {
        let kind = match candidate.kind {
            Kind::File => reply::Kind::File,
            Kind::Directory => reply::Kind::Directory,
            Kind::Command => reply::Kind::Command,
            Kind::Option => reply::Kind::Option,
            Kind::Word => reply::Kind::Word,
            Kind::Line => reply::Kind::Line,
        };
        // A native candidate travels as its number: the shell still has the text.
        let (text, description) = match candidate.native {
            Some(_) => (Vec::new(), Vec::new()),
            None => (candidate.text.clone(), candidate.description.clone()),
        };
        Ranked {
            native: candidate.native,
            text,
            kind: kind.into(),
            description,
            score,
        }
    }

    fn stage_times(&self) -> Vec<Stage> {
        if !self.ask.stages {
            return Vec::new();
        }
        let mut before = self.received;
        let times = self.stages.iter().map(|&(name, at)| {
            let micros = u64::try_from((at - before).as_micros()).unwrap_or(u64::MAX);
            before = at;
            Stage {
                name: name.to_owned(),
                micros,
            }
        });
        times.collect()
    }
}

/// An order, and how good it is.
struct Decided {
    order: Vec<tabsense_rank::Ranked>,
    confidence: f32,
    sure: bool,
}

fn dialect(ask: &Complete) -> Dialect {
    match ask.shell() {
        Shell::Zsh => Dialect::Zsh,
        Shell::Fish => Dialect::Fish,
        Shell::Bash | Shell::Unspecified => Dialect::Bash,
    }
}

fn percent(percent: u64) -> f32 {
    percent as f32 / 100.0
}
