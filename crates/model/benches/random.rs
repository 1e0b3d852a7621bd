//! Checkpoints of any shape with random weights: nothing they answer means anything, but they load
//! and run as real ones do.
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "part of a bench, not of a library"
)]

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;

/// What a checkpoint looks like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub layers: usize,
    pub hidden: usize,
    pub inner: usize,
    pub heads: usize,
    pub head_layers: usize,
    pub vocab: usize,
    pub layout: &'static str,
}

/// Writes a checkpoint into `directory`.
pub fn write(directory: &Path, shape: &Shape) {
    for part in ["encoder", "tokenizer"] {
        std::fs::create_dir_all(directory.join(part)).unwrap();
    }
    let put = |name: &str, text: String| std::fs::write(directory.join(name), text).unwrap();
    put(
        "encoder/config.json",
        format!(
            r#"{{"model_type": "modernbert", "vocab_size": {}, "hidden_size": {},
            "intermediate_size": {}, "num_hidden_layers": {}, "num_attention_heads": {},
            "local_attention": 128, "global_attn_every_n_layers": 3,
            "max_position_embeddings": 1024}}"#,
            shape.vocab, shape.hidden, shape.inner, shape.layers, shape.heads
        ),
    );
    put(
        "rl_agent_config.json",
        format!(
            r#"{{"encoder": "random", "head_layers": {}, "max_len": 512, "head_max_len": 192,
            "act_costs": {{"act": 1.0}}, "option_layout": "{}"}}"#,
            shape.head_layers, shape.layout
        ),
    );
    put("tokenizer/tokenizer.json", tokenizer());
    put(
        "tokenizer/tokenizer_config.json",
        r#"{"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}"#
            .to_owned(),
    );
    weights(&directory.join("model.safetensors"), shape);
}

/// Byte-level BPE without merges: one token for each byte.
fn tokenizer() -> String {
    let special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"];
    let mut vocabulary: Vec<String> = special.map(str::to_owned).into();
    // Bytes that are no printable characters stand for characters from U+0100 on.
    let mut next = 256;
    for byte in 0..=255u32 {
        let printable = matches!(byte, 33..=126 | 161..=172 | 174..=255);
        let code = if printable { byte } else { next };
        next += u32::from(!printable);
        vocabulary.push(char::from_u32(code).unwrap().to_string());
    }
    let entries: Vec<String> = vocabulary
        .iter()
        .enumerate()
        .map(|(i, t)| format!("{}: {i}", serde_json::to_string(t).unwrap()))
        .collect();
    let added: Vec<String> = special
        .iter()
        .enumerate()
        .map(|(i, t)| {
            format!(
                r#"{{"id": {i}, "content": "{t}", "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true}}"#
            )
        })
        .collect();
    format!(
        r#"{{"version": "1.0", "added_tokens": [{}], "normalizer": null,
        "pre_tokenizer": {{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
        "use_regex": true}}, "post_processor": null, "decoder": {{"type": "ByteLevel",
        "add_prefix_space": true, "trim_offsets": true, "use_regex": true}}, "model": {{
        "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
        "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
        "ignore_merges": false, "vocab": {{{}}}, "merges": []}}}}"#,
        added.join(","),
        entries.join(",")
    )
}

fn weights(file: &Path, shape: &Shape) {
    let (d, inner) = (shape.hidden, shape.inner);
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        (
            "encoder.embeddings.tok_embeddings.weight".into(),
            vec![shape.vocab, d],
        ),
        ("encoder.embeddings.norm.weight".into(), vec![d]),
        ("encoder.final_norm.weight".into(), vec![d]),
        ("type_emb.weight".into(), vec![3, d]),
    ];
    for i in 0..shape.layers {
        let mut add = |part: &str, shape: Vec<usize>| {
            tensors.push((format!("encoder.layers.{i}.{part}.weight"), shape));
        };
        if i > 0 {
            add("attn_norm", vec![d]);
        }
        add("attn.Wqkv", vec![3 * d, d]);
        add("attn.Wo", vec![d, d]);
        add("mlp_norm", vec![d]);
        add("mlp.Wi", vec![2 * inner, d]);
        add("mlp.Wo", vec![d, inner]);
    }
    let mut linear = |name: String, rows: usize, columns: usize| {
        let weight = if columns == 0 {
            vec![rows]
        } else {
            vec![rows, columns]
        };
        tensors.push((format!("{name}.weight"), weight));
        tensors.push((format!("{name}.bias"), vec![rows]));
    };
    for i in 0..shape.head_layers {
        let at = |part: &str| format!("head.layers.{i}.{part}");
        linear(at("norm1"), d, 0);
        linear(at("self_attn.in_proj"), 3 * d, d);
        linear(at("self_attn.out_proj"), d, d);
        linear(at("norm2"), d, 0);
        linear(at("linear1"), 4 * d, d);
        linear(at("linear2"), d, 4 * d);
    }
    linear("scorer.layers.0".into(), d, 0);
    linear("scorer.layers.1".into(), d, d);
    linear("scorer.layers.3".into(), 1, d);
    linear("act_head.layers.0".into(), 256, d + 4);
    linear("act_head.layers.2".into(), 2, 256);

    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut data = Vec::new();
    for (name, shape) in &tensors {
        let len: usize = shape.iter().product();
        let (middle, width) = match shape[..] {
            [_, columns] => (0.0, 1.7 / (columns as f32).sqrt()),
            _ => (if name.ends_with("weight") { 1.0 } else { 0.0 }, 0.1),
        };
        let mut bytes = Vec::with_capacity(4 * len);
        for _ in 0..len {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let unit = (seed >> 40) as f32 / (1 << 23) as f32 - 1.0;
            bytes.extend((middle + width * unit).to_le_bytes());
        }
        data.push(bytes);
    }
    let views = tensors.iter().zip(&data).map(|((name, shape), bytes)| {
        (
            name.as_str(),
            TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap(),
        )
    });
    safetensors::serialize_to_file(views, None, file).unwrap();
}
