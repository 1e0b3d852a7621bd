"""Draws training batches from the packed decisions: options sampled anew each time, states varied."""

import json
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

import state as text

SHARE = {"command": .24, "subcommand": .17, "path": .20, "cd": .02, "args": .07, "line": .06, "made-path": .18, "made-cd": .04, "made-line": .02}
OPTIONS, OPTION_ROOM = 40, 288
MARK = np.array([text.MASK], np.uint16)


class Pack:
    """The arrays of pack.npz with the lookups that batches need."""

    def __init__(self, folder):
        data = np.load(Path(folder) / "pack.npz")
        self.__dict__.update({k: data[k] for k in data.files})
        info = json.loads((Path(folder) / "frame.json").read_text())
        self.frame = {k: np.array(v, np.uint16) for k, v in info["frame"].items()}
        self.none, self.kinds = np.array(info["none"], np.uint16), info["kinds"]
        self.length = np.diff(self.option_start)
        self.popular = np.log1p(self.option_count.astype(np.float64))

    def segment(self, i):
        return self.segment_ids[self.segment_start[i]:self.segment_start[i + 1]]

    def option(self, i):
        return self.none if i < 0 else self.option_ids[self.option_start[i]:self.option_start[i + 1]]


def state_ids(pack, row, rng, bare=None):
    """The state of a row; with `bare`, a share of states without earlier commands, parts of it are dropped at times."""
    question = "line" if pack.kinds[row[0]].endswith("line") else "word"
    head = [pack.segment(i) for i in row[2:4] if i >= 0 and not (bare is not None and rng.random() < 0.2)]
    past = [i for i in row[7:15] if i >= 0]
    if bare is not None and past:
        draw = rng.random()
        made = pack.kinds[row[0]].startswith("made")
        if draw < bare and not made:
            past = []
        elif draw < bare + 0.22 and not made:
            past = past[-rng.integers(1, len(past) + 1):]
    frame, last, ran = pack.frame[question], pack.segment(row[4]), [pack.segment(i) for i in past]
    room = text.STATE_TOKENS - len(frame) - 1 - len(last)
    while head and sum(map(len, head)) > room:
        head.pop()
    room -= sum(map(len, head))
    kept = []
    for ids in reversed(ran):
        if len(ids) > room:
            break
        room -= len(ids)
        kept.insert(0, ids)
    return np.concatenate([frame, *head, *kept, last, [text.SEP]])


def options_of(pack, row, rng, none_share):
    """(option numbers, place of the answer); -1 is "none of these". The order is random."""
    members = pack.list_members[pack.list_start[row[5]]:pack.list_start[row[5] + 1]]
    answer = row[6]
    typed = rng.choice(5, p=(.3, .25, .2, .15, .1))
    if pack.kinds[row[0]].endswith("line"):
        typed = rng.choice(3)
    while True:
        fits = members[(pack.option_first[members, :typed] == pack.option_first[answer, :typed]).all(1) & (members != answer)]
        if len(fits) or not typed:
            break
        typed -= 1
    room = OPTIONS - 2
    if len(fits) > room:
        liking = pack.popular[fits] if len(members) > 200 else 0
        keys = liking * rng.choice((0.0, 0.6, 1.2)) + rng.gumbel(size=len(fits))
        fits = fits[np.argpartition(-keys, room)[:room]]
    draw = rng.random()
    chosen = list(fits) + ([answer] if draw >= none_share or not len(fits) else [])
    with_none = draw < none_share or rng.random() < 0.6
    rng.shuffle(chosen)
    room, kept = OPTION_ROOM - 1 - len(pack.none), []
    for option in sorted(chosen, key=lambda c: c != answer):
        size = 1 + len(pack.option(option))
        if size <= room:
            kept.append(option)
            room -= size
    rng.shuffle(kept)
    kept += [-1] if with_none else []
    target = kept.index(answer) if answer in kept else len(kept) - 1
    return kept, target


def collate(states, options, targets, pack):
    """Tensors of a batch, always padded to the same shape (compiled code needs that); see `DecisionModel.forward`."""
    b, s, n, q = len(states), text.STATE_TOKENS, OPTIONS, OPTION_ROOM
    sizes = [np.array([1 + len(pack.option(o)) for o in row]) for row in options]
    out = {"state": np.zeros((b, s), np.int64), "length": np.array([len(x) for x in states]), "option": np.zeros((b, q), np.int64),
           "owner": np.full((b, q), -1), "position": np.zeros((b, q), np.int64), "marker": np.zeros((b, n), np.int64),
           "count": np.array([len(x) for x in options]), "target": np.array(targets)}
    for r in range(b):
        out["state"][r, :len(states[r])] = states[r]
        starts = np.cumsum(sizes[r]) - sizes[r]
        total, at = int(sizes[r].sum()), np.repeat(starts, sizes[r])
        out["option"][r, :total] = np.concatenate([part for o in options[r] for part in (MARK, pack.option(o))])
        out["owner"][r, :total] = np.repeat(np.arange(len(options[r])), sizes[r])
        out["position"][r, :total] = np.arange(total) - at
        out["marker"][r, :len(starts)] = starts
    return {k: torch.from_numpy(v) for k, v in out.items()}


class Decisions(IterableDataset):
    """Endless batches; every worker has its own seed."""

    def __init__(self, pack, batch, seed, share=SHARE, none_share=0.08, bare=0.16):
        self.pack, self.batch, self.seed, self.none_share, self.bare = pack, batch, seed, none_share, bare
        kind = pack.rows[:, 0]
        self.pools = {k: np.flatnonzero(kind == pack.kinds.index(k)) for k in share}
        self.pools = {k: v for k, v in self.pools.items() if len(v)}
        weight = np.array([share[k] for k in self.pools])
        self.names, self.reach = list(self.pools), np.cumsum(weight / weight.sum()).clip(max=1.0)
        self.reach[-1] = 1.0
        self.chance = {k: self.evened(v) for k, v in self.pools.items()}

    def evened(self, pool):
        """Rows of projects with many decisions count less: a project weighs its number to the power of 0.7."""
        repo = self.pack.rows[pool, 1]
        weight = np.bincount(repo)[repo].astype(np.float64) ** -0.3
        return np.cumsum(weight / weight.sum())

    def __iter__(self):
        info = get_worker_info()
        rng = np.random.default_rng((self.seed, info.id if info else 0))
        while True:
            states, options, targets = [], [], []
            while len(states) < self.batch:
                name = self.names[np.searchsorted(self.reach, rng.random())]
                at = min(np.searchsorted(self.chance[name], rng.random()), len(self.pools[name]) - 1)
                row = self.pack.rows[self.pools[name][at]]
                chosen, target = options_of(self.pack, row, rng, self.none_share)
                if len(chosen) < 2:
                    continue
                states.append(state_ids(self.pack, row, rng, self.bare))
                options.append(chosen)
                targets.append(target)
            yield collate(states, options, targets, self.pack)


class Text(IterableDataset):
    """Batches for masked-token pre-training: 20 % of the tokens are hidden."""

    def __init__(self, pack, batch, seed):
        self.pack, self.batch, self.seed = pack, batch, seed

    def __iter__(self):
        info = get_worker_info()
        rng = np.random.default_rng((self.seed, 77, info.id if info else 0))
        count = len(self.pack.text_start) - 1
        while True:
            picked = [self.pack.text_ids[self.pack.text_start[i]:self.pack.text_start[i + 1]] for i in rng.integers(0, count, self.batch)]
            ids = np.zeros((self.batch, text.STATE_TOKENS + 8), np.int64)
            for r, row in enumerate(picked):
                ids[r, 0], ids[r, 1:len(row) + 1] = text.CLS, row
            length = np.array([len(x) + 1 for x in picked])
            hidden = (rng.random(ids.shape) < 0.2) & (ids > text.MASK)
            seen = np.where(hidden & (rng.random(ids.shape) < 0.9), text.MASK, ids)
            yield {"state": torch.from_numpy(seen), "length": torch.from_numpy(length), "chosen": torch.from_numpy(hidden), "ids": torch.from_numpy(ids)}
