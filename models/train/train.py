"""Trains the decision model: masked tokens first, then a softmax over sampled options.

    train.py --pack DIR --valid FILE.json.gz --fit FILE.json.gz --out DIR [--steps 6000 ...]

Keeps the averaged weights that rank the valid cases best (mean reciprocal rank), and stops when
they no longer improve. Writes best.pt, log.jsonl and result.json.
"""

import argparse
import copy
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

import evaluate
from batches import SHARE, Decisions, Pack, Text
from model import Config, DecisionModel, loaded


def arguments():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("pack", "valid", "fit", "out"):
        ap.add_argument(f"--{name}", required=True)
    for name, value in (("layers", 6), ("hidden", 256), ("inter", 512), ("head", 1), ("steps", 6000), ("pretrain", 2000), ("batch", 256), ("seed", 1),
                        ("workers", 3), ("every", 400), ("patience", 6)):
        ap.add_argument(f"--{name}", type=int, default=value)
    for name, value in (("lr", 8e-4), ("dropout", 0.2), ("decay", 0.05), ("average", 0.998), ("none", 0.08), ("bare", 0.16), ("soft", 0.7), ("seconds", 520.0)):
        ap.add_argument(f"--{name}", type=float, default=value)
    ap.add_argument("--share", type=json.loads, default={}, help="other shares of the kinds of decisions, JSON")
    ap.add_argument("--start", default="", help="begin with the weights of this model16.pt instead of pre-training")
    ap.add_argument("--teachers", nargs="*", default=[], help="model16.pt files; --soft is the weight of their averaged probabilities beside the answers")
    ap.add_argument("--compile", action="store_true", help="compile the network (pays off after about a minute)")
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return ap.parse_args()


def loader(dataset, workers):
    return iter(DataLoader(dataset, batch_size=None, num_workers=workers, prefetch_factor=6 if workers else None, persistent_workers=workers > 0))


def optimizer(model, a):
    weights = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    return torch.optim.AdamW([{"params": weights, "weight_decay": a.decay}, {"params": others, "weight_decay": 0}], lr=a.lr, betas=(0.9, 0.98), fused=a.device == "cuda")


def rate(step, done, peak):
    """Learning rate: a warm-up of 200 steps, then a cosine to a twentieth over the share `done` of the run."""
    return peak * min(1, (step + 1) / 200) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1, done))))


def moved(batch, device):
    return {k: v.to(device, non_blocking=True) for k, v in batch.items()}


def update(model, opt, loss, lr):
    for group in opt.param_groups:
        group["lr"] = lr
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()


def taught(teachers, batch):
    """The teachers' averaged probabilities of the options, [B,N]."""
    with torch.no_grad():
        return torch.stack([t(**batch).softmax(-1) for t in teachers]).mean(0)


def pretrain(model, pack, a, log):
    """Masked tokens, told by the tied embedding."""
    opt, batches = optimizer(model, a), loader(Text(pack, a.batch * 2, a.seed), min(a.workers, 4))
    encode = torch.compile(model.encode) if a.compile else model.encode
    for step in range(a.pretrain):
        b = moved(next(batches), a.device)
        with torch.autocast(a.device, torch.bfloat16, enabled=a.device == "cuda"):
            found = encode(b["state"], b["length"])[0][b["chosen"]] @ model.encoder.embeddings.tok_embeddings.weight.T
        loss = F.cross_entropy(found.float(), b["ids"][b["chosen"]])
        update(model, opt, loss, rate(step, step / a.pretrain, a.lr))
        if step % 250 == 0:
            log(stage="pretrain", step=step, loss=float(loss.detach()))


def train(model, pack, valid, a, log, started):
    mean, opt = copy.deepcopy(model).requires_grad_(False), optimizer(model, a)
    batches = loader(Decisions(pack, a.batch, a.seed, {**SHARE, **a.share}, a.none, a.bare), a.workers)
    best, since, losses, begun = (-1.0, 0), 0, [], time.time()
    teachers = [loaded(t, a.device).eval().requires_grad_(False) for t in a.teachers]
    run, *teachers = [torch.compile(m) if a.compile else m for m in (model, *teachers)]
    for step in range(a.steps):
        model.train()
        b = moved(next(batches), a.device)
        target = b.pop("target")
        with torch.autocast(a.device, torch.bfloat16, enabled=a.device == "cuda"):
            found = run(**b)
            soft = taught(teachers, b) if teachers else None
        loss = F.cross_entropy(found, target)
        if teachers:
            loss = (1 - a.soft) * loss + a.soft * F.cross_entropy(found, soft)
        update(model, opt, loss, rate(step, max(step / a.steps, (time.time() - begun) / max(1.0, a.seconds - (begun - started))), a.lr))
        keep = min(a.average, step / (step + 50))
        with torch.no_grad():
            for p, q in zip(mean.parameters(), model.parameters()):
                p.lerp_(q, 1 - keep)
        losses.append(loss.detach())
        last = step + 1 == a.steps or time.time() - started > a.seconds
        if (step + 1) % a.every and not last:
            continue
        scores = [row[:-1] for row in evaluate.logits(mean, valid, a.device)]
        found = evaluate.table(valid, scores)
        log(stage="train", step=step + 1, loss=float(torch.stack(losses).mean()), seconds=round(time.time() - started), **{k: v[1:] for k, v in found.items()})
        losses, since = [], since + 1
        if found["all"][2] > best[0]:
            best, since = (found["all"][2], step + 1), 0
            torch.save(mean.state_dict(), Path(a.out) / "best.pt")
        if since >= a.patience or last:
            break
    mean.load_state_dict(torch.load(Path(a.out) / "best.pt"))
    return mean, best, step + 1


def main():
    a, started = arguments(), time.time()
    Path(a.out).mkdir(parents=True, exist_ok=True)
    torch.manual_seed(a.seed)
    torch.set_float32_matmul_precision("high")
    pack, valid, fit = Pack(a.pack), evaluate.load(a.valid), evaluate.load(a.fit)
    config = Config(hidden_size=a.hidden, intermediate_size=a.inter, num_hidden_layers=a.layers, num_attention_heads=max(1, a.hidden // 64), head_layers=a.head, dropout=a.dropout)
    model = DecisionModel(config).to(a.device)
    lines = open(Path(a.out) / "log.jsonl", "w")

    def log(**row):
        print(json.dumps(row), file=lines, flush=True)

    size = sum(p.numel() for p in model.parameters())
    if a.start:
        model.load_state_dict(loaded(a.start, a.device).state_dict())
    elif a.pretrain:
        pretrain(model, pack, a, log)
    model, best, steps = train(model, pack, valid, a, log, started)
    half = {k: v.half() for k, v in model.state_dict().items()}
    torch.save({"config": vars(config), "weights": half}, Path(a.out) / "model16.pt")
    result = {"arguments": {k: v for k, v in vars(a).items() if k not in ("pack", "valid", "fit", "out", "start", "teachers")}, "parameters": size, "best step": best[1], "steps done": steps,
              "seconds": round(time.time() - started), "valid": evaluate.report(model, valid, fit, a.device), "held out": evaluate.report(model, fit, valid, a.device)}
    (Path(a.out) / "result.json").write_text(json.dumps(result, indent=1))
    for name in ("valid", "held out"):
        r = result[name]
        print(Path(a.out).name, name, "alone", r["model"]["all"], r["model"].get("path+cd"), "blend", {k: v for k, v in r["blend"].items()}, "ece", round(r["ece blend"], 3), flush=True)
    np.set_printoptions(suppress=True)


if __name__ == "__main__":
    main()
