//! A checkpoint that is loaded and ready: texts in, answers out.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::backend::cpu::{Cpu, Precision};
use crate::backend::reference::Reference;
use crate::backend::{Backend, Output, Stop};
use crate::config::{AgentConfig, EncoderConfig, Kind, Layout};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::kernels::Isa;
use crate::parameters::Parameters;
use crate::question::Question;
use crate::sequence::{Cut, Parts, Sequence, Special, assemble, frame, state_budget};
use crate::tokens::Tokens;
use crate::weights::Weights;

/// Which backend runs the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The best that is there.
    #[default]
    Auto,
    /// Our own kernels.
    Cpu,
    /// MLX; there only when built with the feature `mlx`.
    Mlx,
    /// Scalar code, for comparison.
    Reference,
}

/// How to load a model.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which backend.
    pub device: Device,
    /// How exactly the CPU backend computes, and MLX: that has floats, in 16 bits for `Half`, and on
    /// Metal also where nothing else is asked for.
    pub precision: Precision,
    /// Instruction set of the CPU backend; the best if none is named.
    pub isa: Option<Isa>,
    /// Threads that share large products in the CPU backend, and the options of a state where there is
    /// a deadline; one if none is named. A second one gains only where a processor is free for it.
    pub threads: Option<usize>,
    /// Most bytes that the weights may take; none means no limit.
    pub memory_cap: Option<u64>,
}

/// A loaded model. Belongs to one thread.
pub struct Model {
    directory: PathBuf,
    encoder: EncoderConfig,
    agent: AgentConfig,
    tokens: Tokens,
    backend: Box<dyn Backend>,
    load_time: Duration,
}

/// What a question is asked about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    head: Vec<String>,
    turns: Vec<String>,
    last: String,
    pub(crate) cut: Cut,
}

impl State {
    /// A plain text; of one that is too long the end is dropped.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            last: text.into(),
            ..Self::default()
        }
    }

    /// A text, an object, or a list of turns of which the oldest are dropped first.
    pub fn json(value: &Json) -> Self {
        let cut = match value {
            Json::List(_) => Cut::Start,
            _ => Cut::End,
        };
        Self {
            last: value.text(),
            cut,
            ..Self::default()
        }
    }

    /// Segments that follow each other, each turned into tokens on its own (and remembered, so
    /// that the next state pays for its new segments alone). If a `cached` or `separate` model has
    /// too little room, whole segments go: the oldest `turns` first, then `head` from its end.
    pub fn segments(head: Vec<String>, turns: Vec<String>, last: String) -> Self {
        Self {
            head,
            turns,
            last,
            cut: Cut::Start,
        }
    }
}

impl Model {
    /// Loads the checkpoint in `directory`.
    ///
    /// # Errors
    /// The file, field or tensor that is wrong, or why no backend could be started.
    pub fn load(directory: &Path, options: &Options) -> Result<Self> {
        let start = Instant::now();
        let encoder = EncoderConfig::read(&directory.join("encoder").join("config.json"))?;
        let agent = AgentConfig::read(&directory.join("rl_agent_config.json"), &encoder)?;
        let file = directory.join("model.safetensors");
        check_size(&file, options.memory_cap)?;
        let weights = Weights::open(&file)?;
        let parameters = Parameters::read(&weights, &encoder, &agent)?;
        let tokens = Tokens::read(&directory.join("tokenizer"))?;
        if tokens.vocabulary() > encoder.vocab {
            let reason = format!(
                "{} is below the tokenizer's {}",
                encoder.vocab,
                tokens.vocabulary()
            );
            return Err(Error::Config {
                file: directory.join("encoder").join("config.json"),
                field: "vocab_size".to_owned(),
                reason,
            });
        }
        let backend = start_backend(options, &encoder, &agent, parameters)?;
        Ok(Self {
            directory: directory.to_owned(),
            encoder,
            agent,
            tokens,
            backend,
            load_time: start.elapsed(),
        })
    }

    /// Where it was loaded from.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Shape of the encoder.
    pub fn encoder(&self) -> &EncoderConfig {
        &self.encoder
    }

    /// Head, budgets and calibration.
    pub fn agent(&self) -> &AgentConfig {
        &self.agent
    }

    /// What runs it.
    pub fn backend(&mut self) -> &mut dyn Backend {
        &mut *self.backend
    }

    /// The tokenizer.
    pub fn tokens(&mut self) -> &mut Tokens {
        &mut self.tokens
    }

    /// How long loading took.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }

    /// Answers one question about a state.
    ///
    /// # Errors
    /// [`Error::Question`] with the question's identifier when it does not fit; [`Error::Stopped`].
    pub fn answer(&mut self, state: &State, question: &Question, stop: &Stop) -> Result<Answer> {
        let named = |error| match error {
            Error::Input(reason) => Error::Question {
                id: question.id.clone(),
                reason,
            },
            other => other,
        };
        let sequence = self.sequence(state, question).map_err(named)?;
        let output = self.backend.forward(&sequence, stop).map_err(named)?;
        Ok(Answer::new(&output, question, &self.agent))
    }

    /// The token sequence for a question, as the backend gets it.
    ///
    /// # Errors
    /// [`Error::Input`] when the options do not fit, [`Error::Tokenizer`].
    pub fn sequence(&mut self, state: &State, question: &Question) -> Result<Sequence> {
        if self.agent.layout == Layout::Separate {
            return self.separate_sequence(state, question);
        }
        let shown = (0..question.options.len()).map(|slot| &question.options[question.shown(slot)]);
        let encoded = shown.map(|text| self.tokens.encode_cached(&format!(" {text}")));
        let options = encoded.collect::<Result<Vec<_>>>()?;
        let question_ids = self.question_tokens(question.kind, &question.instructions)?;
        let frame = frame(&question_ids, &self.agent);
        let state_ids = self.state_tokens(state, frame)?;
        let parts = Parts {
            kind: question.kind,
            question: &question_ids,
            options: options.iter().map(|ids| &ids[..]).collect(),
            state: &state_ids,
            cut: state.cut,
        };
        if self.agent.layout != Layout::Cached {
            return Sequence::joint(&parts, self.special(), &self.agent);
        }
        let state = Sequence::state(&parts, self.special(), &self.agent);
        let start = state.ids.len();
        let kind = question.kind;
        let options = Sequence::options(&parts.options, kind, start, self.special(), &self.agent);
        Ok(Sequence::join(&state, &options))
    }

    /// The first piece of a `cached` model: what [`Backend::prepare`] takes.
    ///
    /// # Errors
    /// [`Error::Input`] for a model of another layout, [`Error::Tokenizer`].
    pub fn state_piece(&mut self, kind: Kind, question: &str, state: &State) -> Result<Sequence> {
        self.need_cached()?;
        let question_ids = self.question_tokens(kind, question)?;
        let frame = frame(&question_ids, &self.agent);
        let state_ids = self.state_tokens(state, frame)?;
        let parts = Parts {
            kind,
            question: &question_ids,
            options: Vec::new(),
            state: &state_ids,
            cut: state.cut,
        };
        Ok(Sequence::state(&parts, self.special(), &self.agent))
    }

    /// The second piece: what [`Backend::options`] takes. `start` is the length of the first.
    ///
    /// # Errors
    /// As [`Self::state_piece`].
    pub fn options_piece<T: AsRef<str>>(
        &mut self,
        kind: Kind,
        options: &[T],
        start: usize,
    ) -> Result<Sequence> {
        self.need_cached()?;
        let mut text = String::new();
        let mut ids = Vec::with_capacity(options.len());
        for option in options {
            text.clear();
            text.push(' ');
            text.push_str(option.as_ref());
            ids.push(self.tokens.encode_cached(&text)?);
        }
        let slices: Vec<&[u32]> = ids.iter().map(|ids| &ids[..]).collect();
        Ok(Sequence::options(
            &slices,
            kind,
            start,
            self.special(),
            &self.agent,
        ))
    }

    /// The raw output for a sequence.
    ///
    /// # Errors
    /// As [`Backend::forward`].
    pub fn forward(&mut self, sequence: &Sequence, stop: &Stop) -> Result<Output> {
        self.backend.forward(sequence, stop)
    }

    #[cfg(test)]
    pub(crate) fn replace_backend(&mut self, backend: Box<dyn Backend>) {
        self.backend = backend;
    }

    /// Tokens of a state that shares its piece with `frame` others.
    pub(crate) fn state_tokens(&mut self, state: &State, frame: usize) -> Result<Rc<[u32]>> {
        let last = self.tokens.encode_cached(&state.last)?;
        if state.head.is_empty() && state.turns.is_empty() {
            return Ok(last);
        }
        let mut encode = |texts: &[String]| -> Result<Vec<Rc<[u32]>>> {
            texts
                .iter()
                .map(|text| self.tokens.encode_cached(text))
                .collect()
        };
        let (head, turns) = (encode(&state.head)?, encode(&state.turns)?);
        let room = match self.agent.layout {
            Layout::Cached => state_budget(&self.agent).saturating_sub(frame),
            Layout::Separate => self.agent.max_len.saturating_sub(2),
            Layout::Sequential | Layout::Parallel => usize::MAX,
        };
        Ok(assemble(&head, &turns, &last, room).into())
    }

    fn question_tokens(&mut self, kind: Kind, instructions: &str) -> Result<Rc<[u32]>> {
        self.tokens
            .encode_cached(&format!("{} question: {instructions}", kind.name()))
    }

    fn need_cached(&self) -> Result<()> {
        match self.agent.layout {
            Layout::Cached => Ok(()),
            other => Err(Error::Input(format!(
                "the option layout {} has no kept state (hint: only cached has)",
                other.name()
            ))),
        }
    }

    pub(crate) fn special(&self) -> Special {
        Special {
            cls: self.tokens.cls,
            sep: self.tokens.sep,
            mask: self.tokens.mask,
        }
    }
}

fn check_size(file: &Path, cap: Option<u64>) -> Result<()> {
    let needed = std::fs::metadata(file)
        .map_err(|e| Error::io(file, e))?
        .len();
    match cap {
        Some(cap) if needed > cap => Err(Error::TooLarge {
            file: file.to_owned(),
            needed,
            cap,
        }),
        _ => Ok(()),
    }
}

fn start_backend(
    options: &Options,
    encoder: &EncoderConfig,
    agent: &AgentConfig,
    parameters: Parameters,
) -> Result<Box<dyn Backend>> {
    let (encoder, agent) = (encoder.clone(), agent.clone());
    match options.device {
        Device::Reference => Ok(Box::new(Reference::new(encoder, agent, parameters))),
        Device::Mlx => start_mlx(encoder, agent, parameters, options.precision),
        // Where MLX is part of every build it is the better one.
        Device::Auto if cfg!(all(target_os = "macos", target_arch = "aarch64")) => {
            start_mlx(encoder, agent, parameters, options.precision)
        }
        Device::Auto | Device::Cpu => {
            let isa = options.isa.unwrap_or_else(Isa::best);
            Ok(Box::new(Cpu::new(
                encoder,
                agent,
                parameters,
                isa,
                options.precision,
                options.threads.unwrap_or(1).max(1),
            )?))
        }
    }
}

#[cfg(any(feature = "mlx", all(target_os = "macos", target_arch = "aarch64")))]
fn start_mlx(
    encoder: EncoderConfig,
    agent: AgentConfig,
    parameters: Parameters,
    precision: Precision,
) -> Result<Box<dyn Backend>> {
    Ok(Box::new(crate::backend::mlx::Mlx::new(
        encoder, agent, parameters, precision,
    )?))
}

#[cfg(not(any(feature = "mlx", all(target_os = "macos", target_arch = "aarch64"))))]
fn start_mlx(
    _: EncoderConfig,
    _: AgentConfig,
    _: Parameters,
    _: Precision,
) -> Result<Box<dyn Backend>> {
    Err(Error::NoBackend(
        "mlx: not part of this build (hint: build with the feature mlx, or use cpu)".to_owned(),
    ))
}
