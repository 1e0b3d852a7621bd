//! What a `separate` model does, through its thread and under the same limits as all else.

use std::time::{Duration, Instant};

use super::thread::{Worker, quickest};
use super::{Decided, Refused, Runner, Work};
use crate::answer::temperature;
use crate::backend::Stop;
use crate::config::Kind;
use crate::error::{Error, Result};
use crate::separate::Phrase;

impl Runner {
    /// Makes the vectors of option texts, `[texts, hidden]`, as
    /// [`Model::vectors`](crate::Model::vectors) does, and calls `reply` with them: from the
    /// model's thread, or at once and from this one if the request is refused.
    pub fn vectors(
        &self,
        texts: Vec<String>,
        deadline: Option<Instant>,
        reply: impl FnOnce(std::result::Result<Vec<f32>, Refused>) + Send + 'static,
    ) {
        self.push(Work::Vectors {
            texts,
            deadline,
            reply: Box::new(reply),
        });
    }

    /// Encodes a state, as [`Model::phrase`](crate::Model::phrase) does.
    pub fn phrase(
        &self,
        text: String,
        deadline: Option<Instant>,
        reply: impl FnOnce(std::result::Result<Phrase, Refused>) + Send + 'static,
    ) {
        self.push(Work::Phrase {
            text,
            deadline,
            reply: Box::new(reply),
        });
    }

    /// Scores options by their vectors, `[options, hidden]`, as
    /// [`Model::compare`](crate::Model::compare) does.
    pub fn compare(
        &self,
        phrase: Phrase,
        options: Vec<f32>,
        deadline: Option<Instant>,
        reply: impl FnOnce(std::result::Result<Decided, Refused>) + Send + 'static,
    ) {
        self.push(Work::Compare {
            phrase,
            options,
            deadline,
            reply: Box::new(reply),
        });
    }
}

impl Worker {
    pub(super) fn compare(
        &mut self,
        phrase: &Phrase,
        options: &[f32],
        stop: &Stop,
    ) -> Result<Decided> {
        let start = Instant::now();
        let hidden = self.model.encoder().hidden;
        if !options.len().is_multiple_of(hidden) {
            let reason = format!("{} numbers are not rows of {hidden}", options.len());
            return Err(Error::Input(reason));
        }
        let options: Vec<&[f32]> = options.chunks_exact(hidden).collect();
        let output = self.model.compare(phrase, &options, stop)?;
        Ok(Decided {
            temperature: temperature(self.model.agent(), Kind::Choice, output.logits.len()),
            logits: output.logits,
            time: start.elapsed(),
            tokenise: Duration::ZERO,
        })
    }

    /// The warm-up of this layout: a phrase of about `tokens` tokens.
    pub(super) fn warm_up_phrase(&mut self, tokens: usize, stop: &Stop) -> Result<Duration> {
        let text = "a ".repeat(tokens);
        quickest(|| self.model.phrase(&text, stop).map(drop))
    }
}
