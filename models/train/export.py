"""Writes a trained model as a checkpoint directory: 32-bit for goldens, 8-bit to ship.

    export.py --model model16.pt --pack DIR --out DIR [--bits 8|32] [--goldens FILE] [--temperatures JSON]

How weights are stored is said in weights.py.
"""

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

import evaluate
import state as text
from model import Config, DecisionModel, loaded
from weights import tensors

EXAMPLES = [  # our own words: (question, working directory, listing, (command, exit) ..., line, options)
    ("word", "~/work/garden", ["Cargo.toml", "src/", "README.md"], [("git clone https://example.org/garden.git", 0), ("cd garden", 0)], "", ["cargo", "cat", "git", "ls"]),
    ("word", "~/work/garden", [], [("mkdir seeds", 0), ("touch seeds/list.txt", 0)], "cd", ["docs/", "seeds/", "src/"]),
    ("word", "~/downloads", [], [("wget https://example.org/tulip-1.2.tar.gz", 0)], "tar xf", ["notes.txt", "tulip-1.2.tar.gz", "rose.zip", "tulip.png"]),
    ("word", "~/work/shed", ["package.json"], [("npm test", 1)], "git", ["add", "commit", "push", "status", "stash"]),
    ("line", "~/work/shed", ["Makefile"], [("vim fence.c", 0), ("make", 1), ("vim fence.c", 0)], "", ["make", "git push", "./fence", "vim fence.c"]),
    ("word", "~/笔记", [], [("vim 花园.md", 0)], "cat", ["花园.md", "清单.txt", "a file with spaces.md"]),
    ("word", "", [], [], "", ["ls"]),
]


def agent_json(config, temperatures):
    return {"encoder": "tabsense", "head_layers": config.head_layers, "max_len": text.STATE_TOKENS + text.OPTION_TOKENS + 2, "head_max_len": 32,
            "option_max_len": text.OPTION_TOKENS, "act_costs": {"act": 1.0}, "option_layout": "cached", "temperature": [1.0, 1.0, 1.0],
            "temperature_by_options": temperatures}


def save_checkpoint(model, tokenizer, out, bits, temperatures):
    out = Path(out)
    (out / "encoder").mkdir(parents=True, exist_ok=True)
    (out / "tokenizer").mkdir(exist_ok=True)
    save_file(tensors(model, bits), out / "model.safetensors")
    (out / "encoder/config.json").write_text(json.dumps(model.config.encoder_json(), indent=1) + "\n")
    (out / "rl_agent_config.json").write_text(json.dumps(agent_json(model.config, temperatures), indent=1) + "\n")
    shutil.copyfile(tokenizer, out / "tokenizer/tokenizer.json")
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
    (out / "tokenizer/tokenizer_config.json").write_text(json.dumps(names, indent=1) + "\n")
    return hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()


def load_checkpoint(folder):
    """The model of a checkpoint directory, 32- or 8-bit."""
    folder = Path(folder)
    encoder, agent = json.loads((folder / "encoder/config.json").read_text()), json.loads((folder / "rl_agent_config.json").read_text())
    config = Config(vocab_size=encoder["vocab_size"], hidden_size=encoder["hidden_size"], intermediate_size=encoder["intermediate_size"],
                    num_hidden_layers=encoder["num_hidden_layers"], num_attention_heads=encoder["num_attention_heads"],
                    head_layers=agent["head_layers"], rope_theta=encoder["global_rope_theta"], dropout=0.0)
    stored, weights = load_file(folder / "model.safetensors"), {}
    for name, value in stored.items():
        if name.endswith(".q8"):
            weights[name[:-3]] = value.float() * stored[name[:-3] + ".scale"]
        elif not name.endswith(".scale") and name != "temperature":
            weights[name] = value
    model = DecisionModel(config)
    model.load_state_dict(weights)
    return model.eval()


def goldens(model, encoder):
    """The examples in the form of the reference's expected.json: state, questions, token ids, markers, raw logits.

    The ids are the whole sequence, state first; markers are places in it.
    """
    rows = []
    for question, cwd, listing, recent, line, options in EXAMPLES:
        ids = encoder.state(question, cwd, listing, recent, line)
        head, ran, last = text.segments(cwd, listing, recent, line)
        case = {"state": ids, "options": [encoder.option(o) for o in options]}
        with torch.no_grad():
            found = model(**evaluate.tensors([case], "cpu"))[0].tolist()
        markers, whole = [], list(ids)
        for option in case["options"]:
            markers.append(len(whole))
            whole += [text.MASK, *option]
        asked = {"type": "choice", "instructions": text.INSTRUCTIONS[question], "criteria": options}
        rows.append({"state": "".join([*head, *ran, last]), "questions": {"next": asked},
                     "rows": [{"question": "next", "ids": whole, "markers": markers, "logits": found}],
                     "from": {"cwd": cwd, "listing": listing, "recent": [list(r) for r in recent], "line": line}})
    return rows


def main():
    from tokenizers import Tokenizer
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("model", "pack", "out"):
        ap.add_argument(f"--{name}", required=True)
    ap.add_argument("--bits", type=int, choices=[8, 32], default=8)
    ap.add_argument("--goldens", default="")
    ap.add_argument("--temperatures", type=json.loads, default={})
    a = ap.parse_args()
    model = loaded(a.model)
    tokenizer = f"{a.pack}/tokenizer.json"
    print(save_checkpoint(model.eval(), tokenizer, a.out, a.bits, a.temperatures), a.out)
    table = {"markers": text.MARKERS, "markers_shown": text.MARKERS_SHOWN, "recent": text.RECENT, "state_tokens": text.STATE_TOKENS,
             "command_chars": text.COMMAND_CHARS, "command_head": text.COMMAND_HEAD, "none": text.NONE, "instructions": text.INSTRUCTIONS}
    (Path(a.out) / "state.json").write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n")
    if a.goldens:
        rows = goldens(load_checkpoint(a.out), text.Encoder(Tokenizer.from_file(tokenizer)))
        Path(a.goldens).write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
