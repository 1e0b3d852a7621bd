"""Makes the golden checkpoint `separate`: a tiny random BERT with the layout `separate`, and what a
PyTorch model written from the format's description makes of a few questions. The encoder is built
from PyTorch's own parts (`scaled_dot_product_attention`, `layer_norm`, exact `gelu`), the head from
its `TransformerEncoderLayer`, and nothing of it is shared with the crate.

    python3 separate.py        # needs torch, tokenizers, safetensors
"""

import json
import math
import shutil
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

HERE = Path(__file__).parent
OUT = HERE / "separate"
D, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 4, 48, 40
TEXT = ["put this window on the left", "make the sound louder", "show my mails", "close the door, please",
        "leiser stellen", "把窗口移到左边", "打开邮件", "mets la fenêtre à gauche", "none of these", "git push", "画面を消す"]
CASES = [
    ("put it on the LEFT", ["snap window left", "volume up", "none of these"]),
    ("把窗口移到左边 please", ["窗口靠左", "Ｖｏｌｕｍｅ ｕｐ", "none of these", "a text <mask> with a mark </s>"]),
    ("word " * 60, ["long " * 40, "short"]),
    ("", ["one", ""]),
]
ENCODER = {"model_type": "bert", "vocab_size": 0, "hidden_size": D, "num_hidden_layers": LAYERS,
           "num_attention_heads": HEADS, "intermediate_size": INNER, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
           "max_position_embeddings": POSITIONS, "type_vocab_size": 1}
AGENT = {"encoder": "tiny", "head_layers": 1, "max_len": 32, "option_max_len": 12, "option_layout": "separate",
         "temperature": [1.1, 1.0, 1.0]}


def tokenizer(directory):
    directory.mkdir(parents=True)
    tok = Tokenizer(models.Unigram())
    tok.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tok.train_from_iterator(TEXT * 3, trainers.UnigramTrainer(
        vocab_size=120, special_tokens=special, unk_token="<unk>", show_progress=False))
    tok.save(str(directory / "tokenizer.json"), pretty=False)
    (directory / "tokenizer_config.json").write_text(json.dumps(
        {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}))
    return tok


def weights(vocabulary):
    g = torch.Generator().manual_seed(7)
    w = {}

    def put(name, *shape, middle=0.0, scale=None):
        width = scale or (0.1 if len(shape) == 1 else 0.8 / math.sqrt(shape[-1]))
        w[name] = (middle + width * torch.randn(*shape, generator=g)).half()

    def linear(name, rows, columns):
        put(name + ".weight", rows, columns)
        put(name + ".bias", rows)

    def norm(name):
        put(name + ".weight", D, middle=1.0)
        put(name + ".bias", D)

    put("encoder.embeddings.word_embeddings.weight", vocabulary, D, scale=1.0)
    put("encoder.embeddings.position_embeddings.weight", POSITIONS, D, scale=0.5)
    put("encoder.embeddings.token_type_embeddings.weight", 1, D, scale=0.5)
    norm("encoder.embeddings.LayerNorm")
    for i in range(LAYERS):
        p = f"encoder.encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(p + "attention.self." + part, D, D)
        linear(p + "attention.output.dense", D, D)
        norm(p + "attention.output.LayerNorm")
        linear(p + "intermediate.dense", INNER, D)
        linear(p + "output.dense", D, INNER)
        norm(p + "output.LayerNorm")
    put("type_emb.weight", 3, D, scale=0.5)
    p = "head.layers.0."
    put(p + "self_attn.in_proj_weight", 3 * D, D)
    put(p + "self_attn.in_proj_bias", 3 * D)
    linear(p + "self_attn.out_proj", D, D)
    linear(p + "linear1", 4 * D, D)
    linear(p + "linear2", D, 4 * D)
    norm(p + "norm1")
    norm(p + "norm2")
    norm("scorer.0")
    linear("scorer.1", D, D)
    linear("scorer.3", 1, D)
    w["scorer.3.weight"] *= 4
    return w


def encode(w, ids):
    def linear(name, x):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    def norm(name, x):
        return F.layer_norm(x, (D,), w[name + ".weight"], w[name + ".bias"], ENCODER["layer_norm_eps"])

    e = "encoder.embeddings."
    x = w[e + "word_embeddings.weight"][torch.tensor(ids)] + w[e + "position_embeddings.weight"][: len(ids)]
    x = norm(e + "LayerNorm", x + w[e + "token_type_embeddings.weight"][0])
    for i in range(LAYERS):
        p = f"encoder.encoder.layer.{i}."
        q, k, v = (linear(p + "attention.self." + n, x).view(len(ids), HEADS, -1).transpose(0, 1)
                   for n in ("query", "key", "value"))
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(len(ids), D)
        x = norm(p + "attention.output.LayerNorm", x + linear(p + "attention.output.dense", mixed))
        inner = F.gelu(linear(p + "intermediate.dense", x))
        x = norm(p + "output.LayerNorm", x + linear(p + "output.dense", inner))
    return x


def vector(hidden):
    return F.normalize(hidden.mean(0), dim=0) * math.sqrt(D)


def compare(w, state, options):
    layer = torch.nn.TransformerEncoderLayer(D, 1, 4 * D, 0.0, batch_first=True, norm_first=True).double().eval()
    layer.load_state_dict({n.removeprefix("head.layers.0."): t for n, t in w.items() if n.startswith("head.")})
    x = torch.cat([state + w["type_emb.weight"][0], options + w["type_emb.weight"][1]])
    x = layer(x[None])[0][len(state):]
    x = F.layer_norm(x, (D,), w["scorer.0.weight"], w["scorer.0.bias"])
    x = F.gelu(F.linear(x, w["scorer.1.weight"], w["scorer.1.bias"]))
    return F.linear(x, w["scorer.3.weight"], w["scorer.3.bias"])[:, 0]


@torch.no_grad()
def main():
    shutil.rmtree(OUT, ignore_errors=True)
    tok = tokenizer(OUT / "tokenizer")
    cls, sep = tok.token_to_id("<s>"), tok.token_to_id("</s>")
    (OUT / "encoder").mkdir()
    (OUT / "encoder/config.json").write_text(json.dumps(ENCODER | {"vocab_size": tok.get_vocab_size()}))
    (OUT / "rl_agent_config.json").write_text(json.dumps(AGENT))
    stored = weights(tok.get_vocab_size())
    save_file(stored, OUT / "model.safetensors")
    w = {name: tensor.double() for name, tensor in stored.items()}

    def piece(text, most):
        return [cls, *tok.encode(text.replace("<mask>", " "), add_special_tokens=False).ids[:most], sep]

    rows = []
    for state, options in CASES:
        pieces = [piece(state, AGENT["max_len"] - 2), *(piece(o, AGENT["option_max_len"]) for o in options)]
        hidden = [encode(w, ids) for ids in pieces]
        vectors = [vector(h) for h in hidden]
        logits = compare(w, hidden[0], torch.stack(vectors[1:]))
        p = torch.softmax(logits / AGENT["temperature"][0], 0)
        entropy = float(-(p * p.log()).sum()) / math.log(len(p))
        starts = [sum(map(len, pieces[:i])) for i in range(1, len(pieces))]
        answer = {"type": "choice", "choice": options[int(p.argmax())],
                  "probabilities": {o: round(float(v), 4) for o, v in zip(options, p)},
                  "confidence": round(1 - entropy, 4), "answer_confidence": round(float(p.max()), 4),
                  "action": {"act_probability": 1.0}}
        rows.append({
            "state": state,
            "questions": {"q": {"type": "choice", "instructions": "not read", "criteria": options}},
            "answers": {"q": answer},
            "rows": [{"question": "q", "ids": sum(pieces, []), "markers": starts,
                      "logits": [round(float(v), 6) for v in logits], "act": [],
                      "vectors": [[round(float(v), 5) for v in x] for x in vectors]}]})
    (OUT / "expected.json").write_text(json.dumps(rows, ensure_ascii=False))
    print(OUT.name, sum(f.stat().st_size for f in OUT.rglob("*") if f.is_file()) // 1024, "KiB")


main()
