"""Writes what a checkpoint of the layout `separate` answers to a few phrases, in 32-bit floats: `expected.json`, by which
`tabsense model verify DIR` judges a backend.

    goldens.py --checkpoint DIR [--out DIR/expected.json]
"""

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from checkpoint import OPTION_TOKENS, STATE_TOKENS
from network import Config, ShortcutModel

NONE = "none of these"
PHRASES = [
    ("put this window on the left half", ["Snap window left: move it to the left half of the screen", "Maximize window: fill the screen", NONE]),
    ("打开邮件", ["Open mail: start the mail program", "Open browser: start the web browser", "Empty trash: delete what is in it", NONE]),
    ("kill whatever runs on port 3000", ["Free a port: end what listens on it", "Show who uses a port: what listens on it", NONE]),
    ("mach lauter", ["Volume up: make the sound louder", "Volume down: make the sound quieter", NONE]),
    ("", ["Show IP address: addresses of this machine", NONE]),
]


def load(folder):
    """The model as it is stored: 8-bit matrices times their scales."""
    stored, weights = load_file(folder / "model.safetensors"), {}
    for name, value in stored.items():
        if name.endswith(".q8"):
            weights[name[:-3]] = value.float() * stored[name[:-3] + ".scale"]
        elif not name.endswith(".scale") and name != "temperature":
            weights[name] = value.float()
    encoder, agent = (json.loads((folder / name).read_text()) for name in ("encoder/config.json", "rl_agent_config.json"))
    known = {name: encoder[name] for name in Config.__dataclass_fields__ if name in encoder}
    model = ShortcutModel(Config(**known, head_layers=agent["head_layers"], dropout=0.0))
    model.load_state_dict(weights)
    return model.eval()


@torch.no_grad()
def expected(folder):
    """One case for each phrase: the pieces' token ids one behind the other, where each option begins, raw logits."""
    model, tokenizer = load(folder), Tokenizer.from_file(str(folder / "tokenizer/tokenizer.json"))
    cls, sep = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")

    def piece(text, most):
        return [cls, *tokenizer.encode(text, add_special_tokens=False).ids[:most], sep]

    rows = []
    for phrase, options in PHRASES:
        state = piece(phrase, STATE_TOKENS - 2)
        pieces = [piece(option, OPTION_TOKENS) for option in options]
        ids = torch.tensor([state])
        hidden, _ = model.encoder(ids)
        vectors = torch.stack([model.encoder(torch.tensor([one]))[1][0] for one in pieces])
        logits = model.compare(hidden, ids, vectors[None])[0]
        starts = [len(state) + sum(map(len, pieces[:n])) for n in range(len(pieces))]
        question = {"type": "choice", "instructions": "not read", "criteria": options}
        rows.append({"state": phrase, "questions": {"meant": question},
                     "rows": [{"question": "meant", "ids": sum(pieces, state), "markers": starts, "logits": [round(float(x), 6) for x in logits]}]})
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--out", type=Path)
    a = ap.parse_args()
    text = json.dumps(expected(a.checkpoint), ensure_ascii=False, indent=1)
    (a.out or a.checkpoint / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
