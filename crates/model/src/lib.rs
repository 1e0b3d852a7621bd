//! Runs small decision models: a state and a typed question in, a probability for every allowed
//! answer out, in one pass and without generating anything.
//!
//! Models come as Laya checkpoints (Apache-2.0; the PyPI packages `laya` and `laya-mlx` are the
//! reference for format and numbers): a ModernBERT or BERT encoder, a small transformer head, one
//! logit for each option.
//!
//! # A checkpoint
//! A directory with
//! - `model.safetensors`: the parameters, in `F32`, `F16` or `BF16` and spelled as PyTorch or as
//!   the MLX port spells them, or quantised to 8 or 4 bits ([`quantize`]; the form is described at
//!   the top of `weights.rs`),
//! - `rl_agent_config.json`: head, budgets, layout, temperatures ([`AgentConfig`]),
//! - `encoder/config.json`: the encoder's shape ([`EncoderConfig`]). `model_type` is `modernbert`
//!   or `bert`; a BERT has Hugging Face's names (`BertModel` under the prefix `encoder.`, without
//!   its pooler), learned positions, and the first of its token types for every token,
//! - `tokenizer/tokenizer.json` and `tokenizer/tokenizer_config.json`,
//! - optionally `expected.json`: what the reference made of some questions ([`verify`]).
//!
//! # Sequences
//! Texts become tokens with the text of `[MASK]` in them read as a space. An option's text gets a
//! space in front and keeps at most 48 tokens. A state that is too long loses its end, or, if it
//! is a list of turns, its start.
//!
//! There are four layouts (`option_layout`). Below, one line is what the tokens are, one their
//! positions, for a question `q q`, a state `s s s`, and the options `a` and `b b`.
//!
//! ## `sequential`
//! ```text
//! [CLS] q q [SEP] [MASK] a [MASK] b b [SEP] s s s [SEP]
//!   0   1 2   3     4    5   6    7 8   9  10 ..     13
//! ```
//! Every token sees every token (in sliding layers: those at most half a window away). Question
//! and options have `head_max_len` tokens together: if less than 16 are left for the question,
//! each option is cut to an equal share (4 tokens at least, its `[MASK]` included), and the
//! question to what is left (8 at least). The state gets the rest of `max_len`. The head looks at
//! all tokens.
//!
//! ## `parallel`
//! ```text
//! [CLS] q q [SEP] [MASK] a [MASK] b b [SEP] s s s [SEP]
//!   0   1 2   3     4    5   4    5 6   7   8 ..     11
//! ```
//! The same tokens and cuts. Options do not see each other, and all start at the same position;
//! what follows goes on after the longest. So their order cannot matter in the encoder. Distances
//! in sliding layers are between positions. The head looks at all tokens, without positions.
//!
//! ## `cached`
//! ```text
//! [CLS] q q [SEP] s s s [SEP] | [MASK] a | [MASK] b b
//!   0   1 2   3   4 5 6   7   |   8    9 |   8    9 10
//! ```
//! The state comes first and does not see the options. Every option sees the state and itself, and
//! starts at the position after the state. The head compares the options: it looks at `[CLS]` and
//! at the options' `[MASK]`, and at nothing else. So all that the state contributes, keys and
//! values in every layer and the last hidden state of `[CLS]`, is computed once
//! ([`Backend::prepare`]), and each new set of options pays for its own tokens alone
//! ([`Backend::options`]). The first piece has at most `max_len - option_max_len - 2` tokens, of
//! which the question has at most `head_max_len - 2`; an option's text has at most
//! `option_max_len` (48 unless named). The number of options is not limited by these.
//!
//! ## `separate`
//! ```text
//! [CLS] s s s [SEP] | [CLS] a [SEP] | [CLS] b b [SEP]
//!   0   1 2 3   4   |   0   1   2   |   0   1 2   3
//! ```
//! Nothing sees anything else: state and options are encoded each alone, and the question is not
//! read. A text's vector is the mean of its tokens' last hidden states, the special ones included,
//! brought to the length `sqrt(hidden)`; an option is its vector, which therefore can be computed
//! once and kept ([`Model::vectors`]). The head looks at the hidden states of the state's tokens
//! ([`Model::phrase`]) and at the options' vectors together ([`Model::compare`]), without
//! positions. The state has at most `max_len` tokens and an option `option_max_len + 2` (48 unless
//! named), special tokens included; an option's text gets no space in front. The vectors of state
//! and options also tell by their angle which options are worth comparing.
//!
//! # Numbers
//! Hidden states of `[CLS]` and markers go, after the type embedding of the question's kind is
//! added, through the head's layers; a marker's state gives its option's logit. (`separate`: the
//! first row of that table is added to the state's tokens and the second to the options' vectors,
//! whatever the kind; it may have no `act_head`.) Logits over the
//! [`temperature`] make probabilities. An answer tells two confidences: one minus the normalised
//! entropy (for yes or no: the likelier side), and the probability of the answer itself, which is
//! what temperatures are fitted for.
//!
//! # Running
//! [`Model`] is for one thread, [`Runner`] gives it one. The CPU backend (`kernels`) holds weights
//! in 8 bits and picks AVX-512, AVX-VNNI, AVX2 or portable code at run time; `benches/forward.rs`
//! times it. The reference backend is the same model in plain scalar code, to compare with.

mod answer;
mod backend;
mod config;
mod error;
mod find;
mod helpers;
mod json;
mod kernels;
mod model;
mod parameters;
mod quantize;
mod question;
mod runner;
mod separate;
mod sequence;
mod tokens;
mod verify;
mod weights;

pub use answer::{Answer, answers_json, concentration, softmax, temperature};
pub use backend::cpu::Precision;
pub use backend::{Backend, Output, Stop};
pub use config::{AgentConfig, Attention, EncoderConfig, Family, Kind, Layout};
pub use error::{Error, Result};
pub use find::{hub_cache, in_hub_cache, is_checkpoint};
pub use json::Json;
pub use kernels::Isa;
pub use model::{Device, Model, Options, State};
pub use quantize::{Quantize, Report, quantize};
pub use question::Question;
pub use runner::{Decided, Decision, Info, Refused, Runner, Status, WAITING};
pub use separate::Phrase;
pub use sequence::{Cut, Sequence};
pub use tokens::Tokens;
pub use verify::{Case, Expected, Fidelity, Verification, compare, goldens, samples, verify};
