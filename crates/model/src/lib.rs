//! Runs small decision models: a state and a typed question in, a probability for every allowed
//! answer out, in one pass and without generating anything.

mod answer;
mod backend;
mod config;
mod error;
mod find;
mod json;
mod kernels;
mod model;
mod parameters;
mod quantize;
mod question;
mod runner;
mod sequence;
mod tokens;
mod verify;
mod weights;

pub use answer::{Answer, answers_json, concentration, softmax, temperature};
pub use backend::cpu::Precision;
pub use backend::{Backend, Output, Stop};
pub use config::{AgentConfig, Attention, EncoderConfig, Kind, Layout};
pub use error::{Error, Result};
pub use find::{hub_cache, in_hub_cache, is_checkpoint};
pub use json::Json;
pub use kernels::Isa;
pub use model::{Device, Model, Options, State};
pub use quantize::{Quantize, Report, quantize};
pub use question::Question;
pub use runner::{Decided, Decision, Info, Refused, Runner, Status, WAITING};
pub use sequence::{Cut, Sequence};
pub use tokens::Tokens;
pub use verify::{Case, Expected, Fidelity, Verification, compare, goldens, samples, verify};
