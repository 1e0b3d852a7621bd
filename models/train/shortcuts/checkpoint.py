"""Writes a trained model as a checkpoint directory (layout `separate`), 8- or 32-bit.

    checkpoint.py --model model16.pt --pack DIR --out DIR [--bits 8|32] [--temperature 1.6]
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from network import Config, ShortcutModel
from weights import tensors  # one folder up, where network.py looks too

STATE_TOKENS, OPTION_TOKENS = 48, 48
MASK = "<mask>"


def load(file):
    """The model of a training run, in 32-bit floats."""
    saved = torch.load(file, map_location="cpu")
    model = ShortcutModel(Config(**saved["config"]))
    model.load_state_dict({k: v.float() for k, v in saved["weights"].items()})
    return model.eval()


def with_mask(model, tokenizer):
    """Adds the mask token, which the format names and this layout never reads."""
    if any(token["content"] == MASK for token in tokenizer["added_tokens"]):
        return
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokenizer["added_tokens"].append({"id": model.config.vocab_size, "content": MASK} | flags)
    table = model.encoder.embeddings.word_embeddings
    table.weight = torch.nn.Parameter(torch.cat((table.weight, torch.zeros(1, table.weight.shape[1]))))
    model.config.vocab_size += 1


def agent_json(config, temperature):
    return {"encoder": "tabsense", "head_layers": config.head_layers, "max_len": STATE_TOKENS, "head_max_len": 8, "option_max_len": OPTION_TOKENS,
            "act_costs": {"act": 1.0}, "option_layout": "separate", "temperature": [temperature, 1.0, 1.0]}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("model", "pack", "out"):
        ap.add_argument(f"--{name}", type=Path, required=True)
    ap.add_argument("--bits", type=int, choices=[8, 32], default=8)
    ap.add_argument("--temperature", type=float, default=1.6)
    a = ap.parse_args()
    model = load(a.model)
    tokenizer = json.loads((a.pack / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    with_mask(model, tokenizer)
    for folder in ("encoder", "tokenizer"):
        (a.out / folder).mkdir(parents=True, exist_ok=True)
    save_file(tensors(model, a.bits), a.out / "model.safetensors")
    (a.out / "encoder/config.json").write_text(json.dumps(model.config.encoder_json(), indent=1) + "\n")
    (a.out / "rl_agent_config.json").write_text(json.dumps(agent_json(model.config, a.temperature), indent=1) + "\n")
    (a.out / "tokenizer/tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "mask_token": MASK}
    (a.out / "tokenizer/tokenizer_config.json").write_text(json.dumps(names, indent=1) + "\n")
    print(hashlib.sha256((a.out / "model.safetensors").read_bytes()).hexdigest(), a.out)


if __name__ == "__main__":
    main()
