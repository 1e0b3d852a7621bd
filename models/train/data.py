"""Builds the training set: tokenizer, packed decisions and text for pre-training.

    data.py --data ../shared/data --corpus DIR_OF_CORPUS.PY --out DIR [--tiny]

Only the train split is read, and only projects that are not held out. Output (a few tens of MB):
tokenizer.json, pack.npz (see `Packer`), heldout/{seqs,trees}.jsonl.gz for `make_cases.py`.
"""

import argparse
import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import decisions
import state
from synthetic import Inventor

KINDS = ["command", "subcommand", "path", "cd", "args", "line", "made-path", "made-cd", "made-line"]
CAPS = {"command": 500, "subcommand": 350, "path": 600, "cd": 200, "args": 250, "line": 200}


class Table:
    """Rows of token ids, each text once."""

    def __init__(self, encode):
        self.encode, self.number, self.ids = encode, {}, []

    def add(self, text):
        if text not in self.number:
            self.number[text] = len(self.ids)
            self.ids.append(self.encode(text))
        return self.number[text]

    def arrays(self, name):
        starts = np.zeros(len(self.ids) + 1, np.int32)
        np.cumsum([len(x) for x in self.ids], out=starts[1:])
        return {f"{name}_start": starts, f"{name}_ids": np.array([i for x in self.ids for i in x], np.uint16)}


class Packer:
    """Decisions as numbers: segments, options and candidate lists are stored once and shared."""

    def __init__(self, encoder):
        self.segments, self.options = Table(encoder.segment), Table(encoder.option)
        self.lists, self.members, self.rows = {}, [], []

    def candidates(self, names):
        key = id(names) if len(names) > 1000 else tuple(names)
        if key not in self.lists:
            self.lists[key] = len(self.members)
            self.members.append(np.array([self.options.add(n) for n in names], np.int32))
        return self.lists[key]

    def add(self, decision, repo):
        head, ran, last = state.segments(decision["cwd"], decision["listing"], decision["recent"], decision["line"])
        tail = next((h for h in head if h[0] == "@"), None)
        shown = next((h for h in head if h[0] == ":"), None)
        row = [KINDS.index(decision["kind"]), repo, self.segments.add(tail) if tail else -1, self.segments.add(shown) if shown else -1,
               self.segments.add(last), self.candidates(decision["candidates"]), self.options.add(decision["answer"])]
        past = [self.segments.add(s) for s in ran]
        self.rows.append(row + [-1] * (state.RECENT - len(past)) + past)

    def arrays(self, frequency):
        starts = np.zeros(len(self.members) + 1, np.int32)
        np.cumsum([len(m) for m in self.members], out=starts[1:])
        names = list(self.options.number)
        first = np.zeros((len(names), 4), np.uint8)
        for i, name in enumerate(names):
            raw = name.encode()[:4]
            first[i, :len(raw)] = list(raw)
        return {**self.segments.arrays("segment"), **self.options.arrays("option"), "list_start": starts,
                "list_members": np.concatenate(self.members), "rows": np.array(self.rows, np.int32), "option_first": first,
                "option_count": np.array([frequency.get(n, 0) for n in names], np.int32)}


def pretraining_text(seqs, split, rng, limit):
    """Commands of a document together, and examples with their descriptions."""
    texts = []
    for seq in seqs:
        steps = [s["cmd"] for s in seq["steps"]]
        texts += ["".join(f"> {c}\n" for c in steps[i:i + 8]) for i in range(0, len(steps), 8)]
    for row in decisions.rows(split / "tldr.jsonl.gz"):
        if row["lang"] in ("en", "zh"):
            texts.append(f"# {row['desc']}\n> {re.sub(r'[{}]{2}', '', row['cmd'])}\n")
    texts += [f"# {row['nl']}\n> {row['cmd']}\n" for row in decisions.rows(split / "nl2bash.jsonl.gz")]
    rng.shuffle(texts)
    return texts[:limit]


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--data", required=True)
    ap.add_argument("--corpus", default="")
    ap.add_argument("--out", required=True)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--made-paths", type=int, default=90000)
    ap.add_argument("--made-lines", type=int, default=12000)
    ap.add_argument("--tokenizer", default="", help="keep this tokenizer.json instead of training one")
    ap.add_argument("--repos", type=int, default=0, help="only so many projects (for the tests)")
    a = ap.parse_args()
    rng, out, split = random.Random(a.seed), Path(a.out), Path(a.data) / "train"
    (out / "heldout").mkdir(parents=True, exist_ok=True)
    seqs, trees = decisions.load(split, a.corpus)
    write_held_out(out / "heldout", [s for s in seqs if decisions.held_out(s["repo"])], {r: p for r, p in trees.items() if decisions.held_out(r)})
    seqs = [s for s in seqs if not decisions.held_out(s["repo"])]
    trees = {r: p for r, p in trees.items() if not decisions.held_out(r)}
    if a.repos:
        keep = set(sorted(trees)[:a.repos])
        seqs, trees = [s for s in seqs if s["repo"] in keep], {r: p for r, p in trees.items() if r in keep}
    vocabulary = decisions.Vocabulary(seqs, Path(a.data) / "pages.txt")
    texts = pretraining_text(seqs, split, rng, 120000)
    names = [" " + n for paths in trees.values() for n in rng.sample(paths, min(len(paths), 600))]
    tokenizer = Tokenizer.from_file(a.tokenizer) if a.tokenizer else state.train_tokenizer(texts + names)
    tokenizer.save(str(out / "tokenizer.json"))
    encoder = state.Encoder(tokenizer)
    packer, repos = Packer(encoder), {}
    made, frequency = Counter(), Counter()
    for d in real(seqs, trees, vocabulary, split, a.seed, rng):
        made[d["kind"]] += 1
        frequency[d["answer"]] += d["kind"] in ("command", "subcommand")
        packer.add(d, repos.setdefault(d["repo"], len(repos)))
    lines = [s["cmd"] for q in seqs for s in q["steps"] if not s.get("ph") and 3 < len(s["cmd"]) < 90]
    inventor = Inventor({r: decisions.index(p) for r, p in trees.items()}, lines, a.seed)
    for n, draw in ((a.made_paths, inventor.path_case), (a.made_lines, inventor.line_case)):
        for _ in range(n):
            d = draw()
            d["kind"] = "made-" + d["kind"]
            made[d["kind"]] += 1
            packer.add(d, repos.setdefault("made", len(repos)))
    arrays = packer.arrays(frequency)
    text_ids = [encoder.ids(t)[:state.STATE_TOKENS] for t in texts]
    starts = np.cumsum([0] + [len(t) for t in text_ids]).astype(np.int32)
    np.savez_compressed(out / "pack.npz", **arrays, text_start=starts, text_ids=np.array([i for t in text_ids for i in t], np.uint16))
    (out / "frame.json").write_text(json.dumps({"frame": encoder.frame, "none": encoder.option(state.NONE), "kinds": KINDS, "repos": len(repos)}))
    print(dict(made), "projects", len(repos), "segments", len(packer.segments.ids), "options", len(packer.options.ids), "lists", len(packer.members),
          "text tokens", int(starts[-1]), "vocabulary", tokenizer.get_vocab_size())


def real(seqs, trees, vocabulary, split, seed, rng):
    yield from decisions.of_sequences(seqs, trees, vocabulary, seed, CAPS)
    yield from decisions.from_examples(split, vocabulary, rng, 15000)


def write_held_out(folder, seqs, trees):
    with gzip.open(folder / "seqs.jsonl.gz", "wt") as f:
        f.writelines(json.dumps(s, ensure_ascii=False) + "\n" for s in seqs)
    with gzip.open(folder / "trees.jsonl.gz", "wt") as f:
        f.writelines(json.dumps({"repo": r, "paths": p}, ensure_ascii=False) + "\n" for r, p in trees.items())


if __name__ == "__main__":
    main()
