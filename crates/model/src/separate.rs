//! Texts and options of a `separate` model, whose parts are encoded each alone.

use std::rc::Rc;

use crate::backend::{Output, Stop, pooled};
use crate::config::Layout;
use crate::error::{Error, Result};
use crate::model::{Model, State};
use crate::question::Question;
use crate::sequence::{Cut, Sequence};

/// Tokens that go through the encoder at once where texts are many. More would not be faster: the
/// weights have been read often enough by then.
const BATCH: usize = 512;

/// What a `separate` model made of a state: small, and free of the model it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Phrase {
    /// Its vector, `hidden` numbers of the length `sqrt(hidden)`. Nearest are those with the
    /// largest product.
    pub vector: Vec<f32>,
    /// Last hidden states of its tokens, `[tokens, hidden]`.
    rows: Vec<f32>,
}

impl Phrase {
    /// Number of tokens, special ones included.
    pub fn tokens(&self) -> usize {
        self.rows.len() / self.vector.len().max(1)
    }
}

impl Model {
    /// The vectors of option texts, `[texts, hidden]`, each of the length `sqrt(hidden)`. A vector
    /// depends on its text alone and can be kept for as long as the checkpoint is the same.
    ///
    /// # Errors
    /// [`Error::Input`] for a model of another layout, [`Error::Tokenizer`], [`Error::Stopped`].
    pub fn vectors<T: AsRef<str>>(&mut self, texts: &[T], stop: &Stop) -> Result<Vec<f32>> {
        self.need_separate()?;
        let ids = self.text_tokens(texts.iter().map(AsRef::as_ref))?;
        let hidden = self.encoder().hidden;
        let mut vectors = Vec::with_capacity(texts.len() * hidden);
        let mut rest = &ids[..];
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_len(rest));
            let batch: Vec<&[u32]> = batch.iter().map(|ids| &ids[..]).collect();
            let pieces = Sequence::texts(&batch, self.special(), self.agent());
            let rows = self.backend().encode(&pieces, stop)?;
            for piece in pieces.pieces() {
                let rows = &rows[piece.start * hidden..piece.end * hidden];
                vectors.extend(pooled(rows, hidden));
            }
            rest = after;
        }
        Ok(vectors)
    }

    /// What a state is to the model: its vector, and what [`Self::compare`] looks at.
    ///
    /// # Errors
    /// As [`Self::vectors`].
    pub fn phrase(&mut self, text: &str, stop: &Stop) -> Result<Phrase> {
        self.need_separate()?;
        let piece = self.phrase_piece(&State::text(text))?;
        let hidden = self.encoder().hidden;
        let rows = self.backend().encode(&piece, stop)?;
        Ok(Phrase {
            vector: pooled(&rows, hidden),
            rows,
        })
    }

    /// One logit for each option, from the vectors that [`Self::vectors`] made.
    ///
    /// # Errors
    /// As [`Self::vectors`]; [`Error::Input`] when there is no option, or when one has another
    /// width than the model.
    pub fn compare(&mut self, phrase: &Phrase, options: &[&[f32]], stop: &Stop) -> Result<Output> {
        self.need_separate()?;
        let hidden = self.encoder().hidden;
        if let Some(other) = options.iter().find(|option| option.len() != hidden) {
            let reason = format!("a vector of {} numbers, not of {hidden}", other.len());
            return Err(Error::Input(reason));
        }
        let options = options.concat();
        self.backend().compare(&phrase.rows, &options, stop)
    }

    /// State and options of a question, in the order shown, as one sequence.
    pub(crate) fn separate_sequence(
        &mut self,
        state: &State,
        question: &Question,
    ) -> Result<Sequence> {
        let shown = (0..question.options.len()).map(|slot| &question.options[question.shown(slot)]);
        let ids = self.text_tokens(shown.map(String::as_str))?;
        let options: Vec<&[u32]> = ids.iter().map(|ids| &ids[..]).collect();
        let state = self.phrase_piece(state)?;
        let mut options = Sequence::texts(&options, self.special(), self.agent());
        options.kind = question.kind;
        Ok(Sequence::join(&state, &options))
    }

    fn phrase_piece(&mut self, state: &State) -> Result<Sequence> {
        let ids = self.state_tokens(state, 0)?;
        let cut: Cut = state.cut;
        Ok(Sequence::phrase(&ids, cut, self.special(), self.agent()))
    }

    fn text_tokens<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Rc<[u32]>>> {
        texts
            .map(|text| self.tokens().encode_cached(text))
            .collect()
    }

    fn need_separate(&self) -> Result<()> {
        match self.agent().layout {
            Layout::Separate => Ok(()),
            other => Err(Error::Input(format!(
                "the option layout {} has no vectors (hint: only separate has)",
                other.name()
            ))),
        }
    }
}

/// How many of the texts fill a batch: one at least.
fn batch_len(texts: &[Rc<[u32]>]) -> usize {
    let mut tokens = 0;
    let fit = texts.iter().take_while(|ids| {
        tokens += ids.len() + 2;
        tokens <= BATCH
    });
    fit.count().max(1)
}
