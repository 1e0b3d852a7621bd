"""Makes the tiny random checkpoints beside this file and the numbers expected of them.

    python3 -m venv v && v/bin/pip install mlx==0.32.2 mlx-cpu==0.32.2 tokenizers numpy huggingface-hub
    v/bin/pip install --no-deps laya-mlx==0.5.0
    v/bin/python generate.py

`sequential` and `parallel` are answered by the package laya-mlx. `cached`, a layout of our own, is
answered by the numpy model below, after that model has given the same numbers as laya-mlx on the
other two. The weights are random: the answers mean nothing, their equality does.
"""

import json
import math
import shutil
from pathlib import Path

import laya_mlx
import mlx.core as mx
import numpy as np
from laya_mlx.agent import collate_items
from laya_mlx.common import render_options, serialize_state
from laya_mlx.model import DecisionModel, EncoderConfig
from mlx.utils import tree_flatten
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = Path(__file__).parent
TEXT = ["git checkout main", "cargo build --release", "cd ~/work/website/src", "choice question: which",
        "score question: how", "noul question: does", "打开邮件", "yes, the statement holds", "level 0: low"]
ENCODER = {"model_type": "modernbert", "vocab_size": 0, "hidden_size": 32, "intermediate_size": 40,
           "num_hidden_layers": 3, "num_attention_heads": 2, "local_attention": 12, "global_attn_every_n_layers": 2,
           "global_rope_theta": 160000.0, "local_rope_theta": 10000.0, "max_position_embeddings": 256}
AGENT = {"encoder": "tiny", "head_layers": 1, "max_len": 96, "head_max_len": 40, "act_costs": {"act": 1.0},
         "temperature": [1.2, 0.9, 1.0], "temperature_by_options": {"choice:3-5": 1.5}}
CASES = [
    ("cd do", {"where": {"type": "choice", "instructions": "Which directory?",
                         "criteria": ["docs/", "downloads/", "src", "a name with spaces"]},
               "ready": {"type": "noul", "instructions": "Is the line complete?"}}),
    ({"cwd": "/home/u", "n": [1, 2.5, None], "文": "打开 é"},
     {"level": {"type": "score", "instructions": "How sure?", "criteria": ["low", {"kind": "mid"}, "high"]},
      "turned": {"type": "choice", "instructions": "Pick", "criteria": {"a": "first", "b": "", "c": 0},
                 "option_order": [2, 0, 1]}}),
    (["user: build it", "assistant: done", "user: test it [MASK] " * 20],
     {"yes": {"type": "noul", "instructions": "Run?", "criteria": {"true": "all of them", "false": "none"}}}),
    ("", {"one": {"type": "choice", "instructions": "Pick", "criteria": ["only"]}}),
    ("x " * 200, {"long": {"type": "choice", "instructions": "word " * 60,
                           "criteria": {f"option{i}": "text " * i for i in range(9)}}}),
]


def tokenizer(directory):
    directory.mkdir(parents=True)
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(TEXT * 3, trainers.BpeTrainer(
        vocab_size=320, special_tokens=["[PAD]", "[CLS]", "[SEP]", "[MASK]"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tok.save(str(directory / "tokenizer.json"), pretty=False)
    names = {f"{n}_token": f"[{n.upper()}]" for n in ("cls", "sep", "pad")}
    names["mask_token"] = {"content": "[MASK]", "lstrip": True}
    (directory / "tokenizer_config.json").write_text(json.dumps(names))
    return tok.get_vocab_size()


def checkpoint(out, layout, seed, dtype):
    shutil.rmtree(out, ignore_errors=True)
    encoder = ENCODER | {"vocab_size": tokenizer(out / "tokenizer")}
    agent = AGENT | {"option_layout": layout}
    if layout == "cached":
        agent["option_max_len"] = 12
    (out / "encoder").mkdir()
    (out / "encoder/config.json").write_text(json.dumps(encoder))
    (out / "rl_agent_config.json").write_text(json.dumps(agent))
    rng = np.random.default_rng(seed)
    weights = {}
    for name, value in tree_flatten(DecisionModel(EncoderConfig.from_dict(encoder), AGENT).parameters()):
        flat = value.ndim == 1
        base = 1.0 if flat and name.endswith("weight") else 0.0
        noise = rng.normal(0, 0.1 if flat else 0.8 / math.sqrt(value.shape[-1]), value.shape)
        weights[name] = mx.array(base + noise).astype(dtype)
    weights["scorer.layers.3.weight"] = weights["scorer.layers.3.weight"] * 4
    if layout == "sequential":  # the spelling of PyTorch checkpoints
        weights = {n.replace("in_proj.", "in_proj_").replace("scorer.layers", "scorer").replace(
            "act_head.layers", "act_head"): w for n, w in weights.items()}
    mx.save_safetensors(str(out / "model.safetensors"), weights)
    return encoder, agent


def norm(x, w, b=0.0):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def attend(q, k, v, heads, mask):
    q, k, v = (x.reshape(len(x), heads, -1).transpose(1, 0, 2) for x in (q, k, v))
    s = np.where(mask, q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]), -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(q.shape[1], -1)


def rope(x, positions, base, heads):
    y = x.reshape(len(x), heads, 2, -1)
    angle = positions[:, None] / base ** (np.arange(y.shape[-1]) / y.shape[-1])
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = y[:, :, 0], y[:, :, 1]
    return np.stack([a * c - b * s, b * c + a * s], 2).reshape(x.shape)


def forward(w, cfg, layout, ids, positions, owners, markers, kind):
    """All layouts: `owners` is 0 for shared tokens, s + 1 for those of option s."""
    heads, mine, other = cfg["num_attention_heads"], owners[:, None], owners[None]
    full = {"sequential": mine >= 0, "parallel": (mine == 0) | (other == 0) | (mine == other),
            "cached": (other == 0) | (mine == other)}[layout] & (other >= 0)
    local = full & (abs(positions[:, None] - positions[None]) <= cfg["local_attention"] // 2)
    x = norm(w["encoder.embeddings.tok_embeddings.weight"][ids], w["encoder.embeddings.norm.weight"])
    for i in range(cfg["num_hidden_layers"]):
        p = f"encoder.layers.{i}."
        wide = i % cfg["global_attn_every_n_layers"] == 0
        y = norm(x, w[p + "attn_norm.weight"]) if i else x
        q, k, v = np.split(y @ w[p + "attn.Wqkv.weight"].T, 3, -1)
        base = cfg["global_rope_theta" if wide else "local_rope_theta"]
        q, k = rope(q, positions, base, heads), rope(k, positions, base, heads)
        x = x + attend(q, k, v, heads, full if wide else local) @ w[p + "attn.Wo.weight"].T
        a, g = np.split(norm(x, w[p + "mlp_norm.weight"]) @ w[p + "mlp.Wi.weight"].T, 2, -1)
        x = x + (gelu(a) * g) @ w[p + "mlp.Wo.weight"].T
    x = norm(x, w["encoder.final_norm.weight"])
    if layout == "cached":  # the head compares the first token and the markers, nothing else
        x, markers = x[[0, *markers]], np.arange(len(markers)) + 1
    x = x + w["type_emb.weight"][kind]

    def linear(name, x):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    for i in range(AGENT["head_layers"]):
        p = f"head.layers.{i}."
        y = norm(x, w[p + "norm1.weight"], w[p + "norm1.bias"])
        q, k, v = np.split(linear(p + "self_attn.in_proj", y), 3, -1)
        x = x + linear(p + "self_attn.out_proj", attend(q, k, v, max(1, x.shape[-1] // 64), True))
        y = norm(x, w[p + "norm2.weight"], w[p + "norm2.bias"])
        x = x + linear(p + "linear2", np.maximum(linear(p + "linear1", y), 0))
    y = norm(x[markers], w["scorer.layers.0.weight"], w["scorer.layers.0.bias"])
    logits = linear("scorer.layers.3", gelu(linear("scorer.layers.1", y)))[:, 0]
    p = np.exp(logits - logits.max())
    p /= p.sum()
    top, count = np.sort(np.append(p, 0.0))[::-1], max(2, len(p))
    entropy = -(p * np.log(np.maximum(p, 1e-9))).sum() / math.log(count)
    features = [top[0], top[0] - top[1], entropy, count / 255]
    return logits, linear("act_head.layers.2", gelu(linear("act_head.layers.0", np.append(x[0], features))))


def cached_item(tok, state, q, agent):
    encode = lambda text: tok(text.replace("[MASK]", " "))["input_ids"]
    options = render_options(q)
    ids = [tok.cls_token_id, *encode(f"{q['t']} question: {q['ins']}")[: agent["head_max_len"] - 2], tok.sep_token_id]
    room = agent["max_len"] - len(ids) - agent["option_max_len"] - 3
    text = encode(serialize_state(state))
    ids += text[max(0, len(text) - room):] if isinstance(state, list) else text[:room]
    ids.append(tok.sep_token_id)
    start = len(ids)
    positions, owners, markers = list(range(start)), [0] * start, []
    for slot, i in enumerate(q.get("option_order") or range(len(options))):
        span = [tok.mask_token_id, *encode(" " + options[i])[: agent["option_max_len"]]]
        markers.append(len(ids))
        ids += span
        positions += range(start, start + len(span))
        owners += [slot + 1] * len(span)
    kind = ("choice", "score", "noul").index(q["t"])
    return {"ids": ids, "markers": markers, "qtype": kind, "layout": {"position_ids": positions, "option_ids": owners}}


def main():
    for seed, (layout, dtype) in enumerate([("sequential", mx.float16), ("parallel", mx.bfloat16), ("cached", mx.float16)]):
        out = HERE / layout
        encoder, config = checkpoint(out, layout, seed, dtype)
        if layout == "cached":  # laya-mlx loads it under another layout; only its host code is used
            (out / "rl_agent_config.json").write_text(json.dumps(config | {"option_layout": "sequential"}))
        agent = laya_mlx.load(str(out), device="cpu", dtype="float32")
        (out / "rl_agent_config.json").write_text(json.dumps(config))
        w = {k: np.array(v).astype(np.float64) for k, v in tree_flatten(agent.model.parameters())}
        rows = []
        for state, questions in CASES:
            internal = {k: agent._to_internal(v) for k, v in questions.items()}
            if layout == "cached":
                items = [cached_item(agent.tok, state, q, config) for q in internal.values()]
            else:
                items = agent._encode_state(state, list(questions), internal)
            numbers = []
            for item in items:
                n = len(item["ids"])
                places = item.get("layout") or {"position_ids": range(n), "option_ids": [0] * n}
                numbers.append(forward(w, encoder, layout, np.array(item["ids"]), np.array(places["position_ids"]),
                                       np.array(places["option_ids"]), item["markers"], item["qtype"]))
            if layout != "cached":
                logits, act = (np.array(v) for v in agent.forward(collate_items(items, agent.tok.pad_token_id)))
                for i, (ours, action) in enumerate(numbers):
                    theirs = logits[i][: len(ours)]
                    assert abs(ours - theirs).max() < 1e-4 and abs(action - act[i]).max() < 1e-4, (layout, state)
                    numbers[i] = (theirs, act[i])
            width = max(len(n[0]) for n in numbers)
            padded = np.full((len(numbers), width), -1e4, dtype=np.float32)
            for i, (logits, _) in enumerate(numbers):
                padded[i, : len(logits)] = logits
            act = np.stack([np.exp(a - a.max()) / np.exp(a - a.max()).sum() for _, a in numbers])
            answers = agent._decode_answers(padded, act, items, list(questions), internal, 0)
            rows.append({"state": state, "questions": questions, "answers": answers, "rows": [
                {"question": k, "ids": it["ids"], "markers": it["markers"], "logits": [round(float(v), 6) for v in n[0]],
                 "act": [round(float(v), 6) for v in n[1]]} for k, it, n in zip(questions, items, numbers)]})
        (out / "expected.json").write_text(json.dumps(rows, ensure_ascii=False))
        print(out.name, sum(f.stat().st_size for f in out.rglob("*") if f.is_file()) // 1024, "KiB")


main()
