"""Trains the model: first to read like the large encoder, then to decide.

    train.py --pack DIR --out DIR [--distil 200] [--tune 200] (seconds) [--start model16.pt]
"""

import argparse
import copy
import json
import math
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import evaluate
from evaluate import SHORTLIST
from network import PAD, Config, Encoder, ShortcutModel
from teacher import floats
from tasks import Tasks


def trim(ids):
    """Without the columns in which no text has a token, to a multiple of 4."""
    longest = int((ids != PAD).sum(1).max())
    return ids[:, :min(ids.shape[1], (longest + 3) // 4 * 4)]


def load_teacher(pack, shape, device):
    """The large encoder over the pieces the pack uses, and the student's first embedding."""
    stored = np.load(pack / "teacher.npz")
    weights = {k: torch.tensor(floats(v) if v.dtype == np.uint8 else v) for k, v in stored.items()}
    start = weights.pop("start")
    rows = len(weights["embeddings.word_embeddings.weight"])
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings", "layer_norm_eps")
    config = Config(vocab_size=rows, dropout=0.0, **{n: shape[n] for n in names})
    teacher = Encoder(config, shape["type_vocab_size"])
    teacher.load_state_dict(weights)
    return teacher.to(device).eval(), start


def grow(config, teacher, start):
    """A student that begins with the teacher's own layers."""
    student = ShortcutModel(config)
    weights = teacher.state_dict()
    own = student.encoder.state_dict()
    for name in own:
        source = name
        if name.startswith("encoder.layer."):
            _, _, number, rest = name.split(".", 3)
            source = f"encoder.layer.{config.from_layers[int(number)]}.{rest}"
        value = start if "word_embeddings" in name else weights[source]
        own[name] = value[:own[name].shape[0]].clone()
    student.encoder.load_state_dict(own)
    return student


def optimiser(model, rate, decay=0.01):
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    plain = [p for n, p in trained if p.ndim < 2 or "embedding" in n or "type_emb" in n]
    weighed = [p for n, p in trained if not (p.ndim < 2 or "embedding" in n or "type_emb" in n)]
    return torch.optim.AdamW([{"params": plain, "weight_decay": 0.0}, {"params": weighed, "weight_decay": decay}], lr=rate, betas=(0.9, 0.98),
                             fused=next(model.parameters()).is_cuda)


class Clock:
    """Learning rate by the time that is left: up over the first twentieth, then down to a fiftieth by a cosine."""

    def __init__(self, seconds, rate):
        self.start, self.seconds, self.rate = time.time(), seconds, rate

    def share(self):
        return (time.time() - self.start) / self.seconds

    def step(self, optim):
        t = min(1.0, self.share())
        rate = self.rate * min(1.0, t * 20 + 0.02) * (0.51 + 0.49 * math.cos(math.pi * t))
        for group in optim.param_groups:
            group["lr"] = rate
        return self.share() < 1


def relations(a, b, temperature=0.05):
    """How far the likenesses among `a`'s vectors are from those among `b`'s (unit vectors)."""
    diagonal = torch.eye(len(a), dtype=torch.bool, device=a.device)
    p, q = ((v @ v.T / temperature).masked_fill(diagonal, -1e4) for v in (a, b))
    return F.kl_div(p.log_softmax(1), q.log_softmax(1), reduction="batchmean", log_target=True)


class Distil:
    """Loss of the student's vectors against the teacher's, less the mean that all the teacher's vectors share."""

    def __init__(self, tasks, teacher, autocast):
        self.tasks, self.teacher, self.autocast = tasks, teacher, autocast
        with torch.no_grad():
            many = torch.cat([self.vectors(tasks.plain_rows(512)) for _ in range(8)])
        self.mean = many.mean(0)

    def vectors(self, rows):
        with self.autocast():
            return F.normalize(self.teacher(trim(self.tasks.plain_teacher[rows].long()))[1], dim=1)

    def loss(self, model, batch):
        rows = self.tasks.plain_rows(batch)
        with torch.no_grad():
            wanted = F.normalize(self.vectors(rows) - self.mean, dim=1)
        with self.autocast():
            found = F.normalize(model.encoder(trim(self.tasks.plain[rows].long()))[1], dim=1)
        return 2 * (1 - (found * wanted).sum(1)).mean() + relations(found, wanted)


def shortlist(near, target, noise):
    """[B, SHORTLIST] columns of `near` [B, N]: the target (if any) first, then the likest others, with some noise."""
    noisy = near + noise * torch.randn_like(near)
    known = target >= 0
    noisy = noisy.scatter(1, target.clamp_min(0)[:, None], torch.where(known, 1e4, noisy.gather(1, target.clamp_min(0)[:, None])[:, 0])[:, None])
    return noisy.topk(min(SHORTLIST, near.shape[1]), 1).indices


def decision_loss(model, hidden, ids, vectors, none, target, near, drop):
    """Cross entropy of the head over a shortlist and "none of these", which is right for a target of -1.

    `drop` is the share of targets that are hidden, so that none is right although likely ones are there.
    """
    listed = shortlist(near.detach(), target, 1.0)
    gone = (torch.rand(len(target), device=near.device) < drop) & (target >= 0)
    answer = torch.where((target >= 0) & ~gone, 0, listed.shape[1])
    options = torch.cat((vectors[listed], none.expand(len(target), 1, -1)), 1)
    logits = model.compare(hidden, ids, options)
    hide = torch.zeros_like(logits, dtype=torch.bool)
    hide[:, 0] = gone
    return F.cross_entropy(logits.masked_fill(hide, -1e4), answer)


def tune_step(model, tasks, autocast, scale):
    """Losses of one step over all tasks."""
    groups = tasks.step()
    texts = [trim(g.phrases) for g in groups] + [trim(g.options) for g in groups] + [trim(tasks.none)]
    with autocast():
        read = [model.encoder(ids) for ids in texts]
        none = read[-1][1]
        losses = {}
        for i, group in enumerate(groups):
            hidden, said = read[i]
            vectors = read[len(groups) + i][1]
            near = F.normalize(said, dim=1) @ F.normalize(vectors, dim=1).T * scale
            known = group.target >= 0
            if group.clash is not None:
                near = near.masked_fill(group.clash, -1e4)
            losses[f"{group.name} near"] = F.cross_entropy(near[known], group.target[known])
            losses[group.name] = decision_loss(model, hidden, texts[i], vectors, none, group.target, near, group.drop)
    return losses


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--pack", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--distil", type=float, default=200)
    ap.add_argument("--tune", type=float, default=200)
    ap.add_argument("--batch", type=int, default=2048, help="texts of a distilling step; those of a tuning step go with it")
    ap.add_argument("--rate", type=float, default=5e-4)
    ap.add_argument("--tune-rate", type=float, default=2e-4)
    ap.add_argument("--dropout", type=float, default=0.1)
    ap.add_argument("--start", type=Path, help="a model to go on from instead of distilling")
    ap.add_argument("--save-distilled", type=Path)
    ap.add_argument("--layers", default="0,2,4,6,8,11", help="layers of the teacher to begin with")
    ap.add_argument("--head-layers", type=int, default=2)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    torch.manual_seed(a.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    autocast = lambda: torch.autocast(device, torch.bfloat16, enabled=device == "cuda")  # noqa: E731
    a.out.mkdir(parents=True, exist_ok=True)
    table = json.loads((a.pack / "texts.json").read_text())
    tasks = Tasks(np.load(a.pack / "pack.npz"), table, device, a.seed, a.batch / 2048)
    layers = [int(n) for n in a.layers.split(",")]
    config = Config(vocab_size=table["vocabulary"], from_layers=layers, num_hidden_layers=len(layers), dropout=a.dropout, head_layers=a.head_layers)
    teacher, start = load_teacher(a.pack, table["shape"], device)
    model = grow(config, teacher, start.to(device)).to(device)
    distil = Distil(tasks, teacher, autocast)
    (a.out / "log.jsonl").write_text("")

    def note(**row):
        print(json.dumps(row), flush=True)
        with (a.out / "log.jsonl").open("a") as log:
            log.write(json.dumps(row) + "\n")

    if a.start:
        model.load_state_dict({k: v.float() for k, v in torch.load(a.start, map_location=device)["weights"].items()}, strict=False)
    else:
        optim, clock, step = optimiser(model.encoder, a.rate), Clock(a.distil, a.rate), 0
        while clock.step(optim):
            loss = distil.loss(model, a.batch)
            learn(model, optim, loss)
            step += 1
            if step % 200 == 1:
                note(stage="distil", step=step, loss=round(loss.item(), 4), share=round(clock.share(), 3))
        if a.save_distilled:
            save(model, a.save_distilled)

    optim, clock, step = optimiser(model, a.tune_rate), Clock(a.tune, a.tune_rate), 0
    smooth = copy.deepcopy(model)
    while clock.step(optim):
        losses = tune_step(model, tasks, autocast, 20.0)
        losses["distil"] = 0.5 * distil.loss(model, max(8, a.batch // 8))
        learn(model, optim, sum(losses.values()))
        step += 1
        with torch.no_grad():
            keep = min(0.999, step / (step + 10))
            for mine, new in zip(smooth.parameters(), model.parameters()):
                mine.lerp_(new, 1 - keep)
        if step % 200 == 1:
            note(stage="tune", step=step, share=round(clock.share(), 3), **{k: round(v.item(), 3) for k, v in losses.items()})
        if step % 1500 == 0:
            note(step=step, **evaluate.judge(smooth, tasks, autocast))
            smooth.train()
    result = evaluate.judge(smooth, tasks, autocast)
    note(step=step, **result)
    save(smooth, a.out / "model16.pt")
    (a.out / "result.json").write_text(json.dumps(result, indent=1))


def learn(model, optim, loss):
    optim.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optim.step()


def save(model, file):
    torch.save({"config": asdict(model.config), "weights": {k: v.half() for k, v in model.state_dict().items()}}, file)


if __name__ == "__main__":
    main()
