"""Scores completion cases with a trained model, alone and blended with counting.

    evaluate.py prepare --data ../shared/data --corpus DIR --pack DIR --cases cases.jsonl[.gz] --out FILE.json.gz
    evaluate.py score --checkpoint DIR --cases FILE.json.gz --fit FILE.json.gz [--device cuda]

`prepare` needs the training sequences (it counts in them) and writes token ids and counting features,
so that `score` needs nothing else. Ties always count against the answer.
"""

import argparse
import gzip
import json
import math
import os
import re
from collections import Counter, defaultdict

import numpy as np
import torch

import state as text

FEATURES = ["first", "after", "pair", "kind", "name", "recent", "last", "place"]
BUCKETS = [(1, 2), (3, 5), (6, 10), (11, 10**9)]  # those of the checkpoint format
TOP = 64  # what a worker would hand to the model


def kind_of(name):
    return "/" if name.endswith("/") else os.path.splitext(name)[1] or name.lower()


class Counts:
    """The table of priors: how often words, pairs, file kinds and names occur in the training sequences."""

    def __init__(self, seqs):
        self.first, self.pair, self.names = Counter(), Counter(), Counter()
        self.kinds, self.after = defaultdict(Counter), defaultdict(Counter)
        for seq in seqs:
            previous = None
            for step in seq["steps"]:
                words = step["cmd"].split()
                if not words:
                    continue
                self.first[words[0]] += 1
                if previous:
                    self.after[previous][words[0]] += 1
                if len(words) > 1:
                    self.pair[words[0], words[1]] += 1
                for w in words[1:]:
                    base = w.rstrip("/").split("/")[-1]
                    self.names[base.lower()] += 1
                    self.kinds[words[0]]["/" if w.endswith("/") else kind_of(base)] += 1
                previous = words[0]

    def features(self, case):
        recent = [r["cmd"] for r in case["recent"]]
        said, last = " ".join(recent), recent[-1] if recent else ""
        word = (case["line"].split() or [""])[0]
        previous = last.split()[:1]
        out = np.zeros((len(case["candidates"]), len(FEATURES)), np.float32)
        for i, cand in enumerate(case["candidates"]):
            base = cand.rstrip("/")
            hit = r"(^|[\s/])" + re.escape(base) + r"($|[\s/])"
            if case["kind"] == "command":
                out[i, 0] = math.log(self.first[cand] + 0.1)
                if previous:
                    out[i, 1] = math.log((self.after[previous[0]][cand] + 0.3) / (self.first[cand] + 1) * 100)
            elif case["kind"] == "subcommand":
                out[i, 2] = math.log(self.pair[word, cand] + 0.3)
            else:
                out[i, 3] = math.log(self.kinds[word][kind_of(cand)] + 0.3)
                out[i, 4] = math.log(self.names[base.lower()] + 0.3)
            out[i, 5] = bool(re.search(hit, said))
            out[i, 6] = bool(re.search(hit, last))
            out[i, 7] = math.log1p(i)
        return out

    def order(self, case, features):
        """The published counting baseline's score, for the same candidates."""
        f = features
        if case["kind"] == "command":
            return f[:, 0] + 0.7 * f[:, 1]
        return f[:, 2] if case["kind"] == "subcommand" else f[:, 3] + 0.7 * f[:, 4] + 3 * f[:, 5]


def prepare(cases, encoder, counts):
    for case in cases:
        stem = case["line"][:len(case["line"]) - case["typed"]] if case["typed"] else case["line"]
        listing = case["listing"] if "/" not in stem.split(" ")[-1] else []
        features = counts.features(case)
        yield {"id": case["id"], "kind": case["kind"], "recent": len(case["recent"]), "answer": case["candidates"].index(case["answer"]),
               "state": encoder.state("word", case["cwd"], listing, [(r["cmd"], r["exit"]) for r in case["recent"]], stem),
               "options": [encoder.option(c) for c in case["candidates"]] + [encoder.option(text.NONE)],
               "features": [[round(float(x), 4) for x in row] for row in features], "base": [round(float(x), 4) for x in counts.order(case, features)]}


def load(path):
    with gzip.open(path, "rt") as f:
        return [json.loads(line) for line in f]


def tensors(batch, device):
    b, s, n = len(batch), max(len(c["state"]) for c in batch), max(len(c["options"]) for c in batch)
    q = max(sum(1 + len(o) for o in c["options"]) for c in batch)
    out = {"state": np.zeros((b, s), np.int64), "length": np.array([len(c["state"]) for c in batch]), "option": np.zeros((b, q), np.int64),
           "owner": np.full((b, q), -1), "position": np.zeros((b, q), np.int64), "marker": np.zeros((b, n), np.int64),
           "count": np.array([len(c["options"]) for c in batch])}
    for r, c in enumerate(batch):
        out["state"][r, :len(c["state"])] = c["state"]
        at = 0
        for i, ids in enumerate(c["options"]):
            size = 1 + len(ids)
            out["option"][r, at:at + size] = (text.MASK, *ids)
            out["owner"][r, at:at + size], out["position"][r, at:at + size], out["marker"][r, i] = i, np.arange(size), at
            at += size
    return {k: torch.from_numpy(v).to(device) for k, v in out.items()}


def shortlist(cases, weights):
    """Cases as a worker sees them: the model gets the TOP best by fitted counting, in native order, and "none"."""
    out = []
    for c in cases:
        keep = sorted(np.argsort(-(np.array(c["features"]) @ weights), kind="stable")[:TOP].tolist())
        out.append({**c, "options": [c["options"][i] for i in keep] + [c["options"][-1]], "keep": keep})
    return out


@torch.no_grad()
def logits(model, cases, device, budget=6e7):
    """Per case the logits of its options, "none" last."""
    model.eval()
    order = sorted(range(len(cases)), key=lambda i: sum(1 + len(o) for o in cases[i]["options"]))
    out, batch = [None] * len(cases), []
    for n, i in enumerate(order):
        batch.append(i)
        q = sum(1 + len(o) for o in cases[i]["options"])
        if (len(batch) + 1) * q * (q + text.STATE_TOKENS) < budget and n + 1 < len(order):
            continue
        rows = model(**tensors([cases[k] for k in batch], device)).float().cpu().numpy()
        for k, row in zip(batch, rows):
            out[k] = row[:len(cases[k]["options"])]
        batch = []
    return out


def rank(scores, answer):
    """Place of the answer, ties before it."""
    return int((scores >= scores[answer]).sum()) - 1


def table(cases, scores):
    """{group: (cases, top1, mrr)} for every kind, path with cd, no recent commands, all."""
    ranks = defaultdict(list)
    for c, s in zip(cases, scores):
        r = rank(np.asarray(s)[:len(c["base"])], c["answer"])
        groups = [c["kind"], "all"] + (["path+cd"] if c["kind"] in ("path", "cd") else []) + (["no recent"] if not c["recent"] else [])
        for g in groups:
            ranks[g].append(r)
    return {g: (len(r), round(float(np.mean([x == 0 for x in r])), 4), round(float(np.mean([1 / (1 + x) for x in r])), 4)) for g, r in sorted(ranks.items())}


def model_columns(cases, raw):
    """The model's logits over all candidates; those it was not asked about get its lowest, minus 1."""
    out = []
    for c, row in zip(cases, raw):
        keep = c.get("keep", range(len(c["base"])))
        column = np.full(len(c["base"]), row[:-1].min() - 1 if len(row) > 1 else 0.0)
        column[list(keep)] = row[:-1]
        out.append(column)
    return out


def design(cases, columns):
    """Feature matrices of the linear blend: counting, then the model by kind of word."""
    out = []
    for c, column in zip(cases, columns):
        group = 0 if c["kind"] == "command" else 1 if c["kind"] == "subcommand" else 2
        f = np.array(c["features"])
        place = np.zeros((len(f), 6))
        place[:, group] = column
        place[:, 3 + group] = f[:, 5]
        out.append(np.concatenate([f, place], 1))
    return out


def fit_blend(matrices, answers, ridge=0.1, steps=300):
    """Weights of a conditional logit (softmax over the candidates)."""
    width = matrices[0].shape[1]
    n = max(len(m) for m in matrices)
    x = torch.zeros(len(matrices), n, width)
    mask = torch.full((len(matrices), n), -1e9)
    for i, m in enumerate(matrices):
        x[i, :len(m)], mask[i, :len(m)] = torch.from_numpy(m).float(), 0
    scale = x.abs().amax((0, 1)).clamp_min(1e-6)
    w = torch.zeros(width, requires_grad=True)
    target = torch.tensor(answers)
    opt = torch.optim.LBFGS([w], max_iter=steps, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy((x / scale) @ w + mask, target) + ridge * (w / 10).square().sum()
        loss.backward()
        return loss

    opt.step(closure)
    return (w.detach() / scale).numpy()


def bucket(n):
    return next(i for i, (a, b) in enumerate(BUCKETS) if a <= n <= b)


def fit_temperatures(scores, answers):
    """Temperature per number of options, by likelihood on a grid."""
    found = {}
    for i, (a, b) in enumerate(BUCKETS):
        rows = [(s, y) for s, y in zip(scores, answers) if a <= len(s) <= b]
        grid = np.exp(np.linspace(-1.5, 1.5, 61))
        loss = [sum(np.log(np.exp((s - s.max()) / t).sum()) - (s[y] - s.max()) / t for s, y in rows) for t in grid]
        found[i] = float(grid[int(np.argmin(loss))]) if len(rows) >= 20 else 1.0
    return found


def calibration_error(scores, answers, temperatures, bins=15):
    """Expected calibration error of the top choice, equal-width bins."""
    sure, right = [], []
    for s, y in zip(scores, answers):
        z = (np.asarray(s) - np.max(s)) / temperatures[bucket(len(s))]
        p = np.exp(z) / np.exp(z).sum()
        sure.append(p.max())
        right.append(rank(np.asarray(s), y) == 0)
    sure, right = np.array(sure), np.array(right)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    return float(sum(abs(sure[place == b].mean() - right[place == b].mean()) * (place == b).mean() for b in range(bins) if (place == b).any()))


def report(model, cases, fit, device):
    """All tables: counting, the model alone, the blend (weights fitted on `fit`), calibration."""
    answers, fit_answers = [c["answer"] for c in cases], [c["answer"] for c in fit]
    plain = fit_blend([np.array(c["features"]) for c in fit], fit_answers)
    short, fit_short = shortlist(cases, plain), shortlist(fit, plain)
    columns, fit_columns = (model_columns(x, logits(model, x, device)) for x in (short, fit_short))
    everything = logits(model, cases, device)
    weights = fit_blend(design(fit, fit_columns), fit_answers)
    blended = [m @ weights for m in design(cases, columns)]
    fit_blended = [m @ weights for m in design(fit, fit_columns)]
    temperatures = fit_temperatures(fit_blended, fit_answers)
    alone_t = fit_temperatures([r[:-1] for r in everything], answers)
    return {"counting": table(cases, [np.array(c["base"]) for c in cases]),
            "counting, fitted": table(cases, [np.array(c["features"]) @ plain for c in cases]),
            "model": table(cases, [r[:-1] for r in everything]), "blend": table(cases, blended),
            "weights": [round(float(w), 4) for w in weights], "ece blend": calibration_error(blended, answers, temperatures),
            "ece blend, own temperatures": calibration_error(blended, answers, fit_temperatures(blended, answers)),
            "temperatures blend": temperatures, "temperatures model": alone_t,
            "ece model, own temperatures": calibration_error([r[:-1] for r in everything], answers, alone_t)}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("what", choices=["prepare", "score"])
    for name in ("data", "corpus", "pack", "cases", "out", "checkpoint", "fit"):
        ap.add_argument(f"--{name}", default="")
    ap.add_argument("--device", default="cpu")
    a = ap.parse_args()
    if a.what == "score":
        from export import load_checkpoint
        print(json.dumps(report(load_checkpoint(a.checkpoint).to(a.device), load(a.cases), load(a.fit), a.device), indent=1))
        return
    from tokenizers import Tokenizer

    import decisions
    seqs, _ = decisions.load(f"{a.data}/train", a.corpus)
    counts = Counts([s for s in seqs if not decisions.held_out(s["repo"])])
    encoder = text.Encoder(Tokenizer.from_file(f"{a.pack}/tokenizer.json"))
    opener = gzip.open if a.cases.endswith(".gz") else open
    with opener(a.cases, "rt") as f, gzip.open(a.out, "wt") as out:
        for row in prepare(map(json.loads, f), encoder, counts):
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
