//! Wrong configurations are refused with the file and the field.

use super::*;
use crate::error::Error;

const ENCODER: &str = r#"{"model_type": "modernbert", "vocab_size": 10, "hidden_size": 8,
  "intermediate_size": 12, "num_hidden_layers": 4, "num_attention_heads": 2,
  "global_attn_every_n_layers": 3, "max_position_embeddings": 512}"#;
const AGENT: &str = r#"{"encoder": "x", "head_layers": 1, "max_len": 128, "head_max_len": 64}"#;

fn encoder(text: &str) -> Result<EncoderConfig> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    EncoderConfig::read(file.path())
}

fn agent(text: &str) -> Result<AgentConfig> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    AgentConfig::read(file.path(), &encoder(ENCODER).unwrap())
}

fn field<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        Error::Config { field, .. } => field,
        other => panic!("no configuration error: {other}"),
    }
}

#[test]
fn every_third_layer_is_full_by_default() {
    use Attention::{Full, Sliding};
    assert_eq!(
        encoder(ENCODER).unwrap().layers,
        [Full, Sliding, Sliding, Full]
    );
}

#[test]
fn wrong_encoder_values_name_their_field() {
    let with = |from: &str, to: &str| field(encoder(&ENCODER.replace(from, to)));
    assert_eq!(with("modernbert", "roberta"), "model_type");
    assert_eq!(with("\"vocab_size\": 10,", ""), "vocab_size");
    assert_eq!(
        with("\"vocab_size\": 10", "\"vocab_size\": \"10\""),
        "vocab_size"
    );
    assert_eq!(
        with("\"hidden_size\": 8", "\"hidden_size\": 0"),
        "hidden_size"
    );
    assert_eq!(
        with("\"num_attention_heads\": 2", "\"num_attention_heads\": 3"),
        "num_attention_heads"
    );
    assert_eq!(with("{\"model", "{\"mlp_bias\": true, \"model"), "mlp_bias");
    assert_eq!(
        with(
            "{\"model",
            "{\"layer_types\": [\"full_attention\"], \"model"
        ),
        "layer_types"
    );
    assert_eq!(
        with("{\"model", "{\"hidden_activation\": \"silu\", \"model"),
        "hidden_activation"
    );
    let yarn = "{\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"yarn\"}}, \"model";
    assert_eq!(
        with("{\"model", yarn),
        "rope_parameters.full_attention.rope_type"
    );
    assert_eq!(field(encoder("[1]")), "document");
    assert_eq!(field(encoder("{")), "document");
}

#[test]
fn rope_parameters_go_before_the_older_fields() {
    let text = ENCODER.replace(
        "{\"model",
        "{\"global_rope_theta\": 5, \"rope_parameters\": {\"full_attention\": \
         {\"rope_theta\": 7}}, \"model",
    );
    let config = encoder(&text).unwrap();
    assert_eq!((config.full_base, config.sliding_base), (7.0, 10_000.0));
}

#[test]
fn wrong_agent_values_name_their_field() {
    let with = |from: &str, to: &str| field(agent(&AGENT.replace(from, to)));
    assert_eq!(with("\"encoder\": \"x\",", ""), "encoder");
    assert_eq!(with("\"head_layers\": 1,", ""), "head_layers");
    assert_eq!(with("\"max_len\": 128", "\"max_len\": 1024"), "max_len");
    assert_eq!(
        with("\"head_max_len\": 64", "\"head_max_len\": 128"),
        "head_max_len"
    );
    assert_eq!(
        with("}", ", \"option_layout\": \"spiral\"}"),
        "option_layout"
    );
    assert_eq!(with("}", ", \"temperature\": [1, 2]}"), "temperature");
    assert_eq!(with("}", ", \"act_costs\": []}"), "act_costs");
    let tight = ", \"option_layout\": \"cached\", \"option_max_len\": 63}";
    assert_eq!(with("}", tight), "max_len");
}

#[test]
fn odd_temperatures_are_mended_and_reported() {
    let text = AGENT.replace(
        "}",
        ", \"temperature\": [true, 0.1, 2], \"temperature_by_options\": {\"choice:11+\": 9}}",
    );
    let config = agent(&text).unwrap();
    assert_eq!(config.temperature, [1.0, 0.5, 2.0]);
    assert_eq!(
        config.temperature_by_options,
        [("choice:11+".to_owned(), 5.0)]
    );
    assert_eq!(config.warnings.len(), 3);
}

const BERT: &str = r#"{"model_type": "bert", "vocab_size": 10, "hidden_size": 9,
  "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
  "max_position_embeddings": 40}"#;

#[test]
fn a_bert_has_the_defaults_of_hugging_face() {
    let config = encoder(BERT).unwrap();
    assert_eq!((config.family, config.head_dim()), (Family::Bert, 3));
    assert_eq!(config.layers, [Attention::Full; 2]);
    assert_eq!((config.eps, config.token_types), (1e-12, 2));
    let with = |more: &str| field(encoder(&BERT.replace("{\"model", more)));
    assert_eq!(with("{\"hidden_act\": \"gelu_new\", \"model"), "hidden_act");
    let relative = "{\"position_embedding_type\": \"relative_key\", \"model";
    assert_eq!(with(relative), "position_embedding_type");
    assert_eq!(with("{\"is_decoder\": true, \"model"), "is_decoder");
}

#[test]
fn budgets_of_a_separate_checkpoint_fit_the_encoder() {
    let read = |more: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text =
            format!(r#"{{"encoder": "x", "head_layers": 1, "option_layout": "separate", {more}}}"#);
        std::fs::write(file.path(), text).unwrap();
        AgentConfig::read(file.path(), &encoder(BERT).unwrap())
    };
    let good = read(r#""max_len": 40, "option_max_len": 38"#).unwrap();
    assert_eq!((good.max_len, good.option_max_len), (40, 38));
    assert_eq!(
        field(read(r#""max_len": 41, "option_max_len": 9"#)),
        "max_len"
    );
    assert_eq!(
        field(read(r#""max_len": 2, "option_max_len": 9"#)),
        "max_len"
    );
    let long = read(r#""max_len": 40, "option_max_len": 39"#);
    assert_eq!(field(long), "option_max_len");
}
