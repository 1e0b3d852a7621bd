"""Decisions out of command sequences: which word or line comes next, among what could stand there.

A decision is {"kind", "repo", "cwd", "listing", "recent": [(command, exit)], "line", "candidates", "answer"}.
Kinds: command, subcommand, path, cd (as in the completion cases), args (flags and words the command takes), line.
"""

import gzip
import hashlib
import json
import random
import re
import shlex
from collections import Counter, defaultdict
from pathlib import Path

from state import markers

SKIP = {"echo", "printf", "export", "alias", "source", "curl", "wget"}
WITH_SUBCOMMANDS = ("git docker kubectl npm yarn pnpm cargo pip go systemctl apt brew helm poetry conda gh terraform "
                    "rustup dotnet flutter gcloud aws az vagrant podman nix pacman dnf uv bun deno").split()
HELD_OUT_PERCENT = 7
PARENTS = ["work", "src", "projects", "code", "dev", "repos"]


def rows(path):
    with gzip.open(path, "rt") as file:
        for line in file:
            yield json.loads(line)


def held_out(repo):
    """Projects that no step of training or choosing looks at."""
    return int(hashlib.sha1(f"held out: {repo}".encode()).hexdigest(), 16) % 100 < HELD_OUT_PERCENT


def index(paths):
    dirs = defaultdict(set)
    for p in paths:
        parts = p.rstrip("/").split("/")
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            dirs["/".join(parts[:i]) or "."].add(part + ("/" if not last or p.endswith("/") else ""))
    return dirs


def join(cwd, rel):
    out = [] if cwd == "." else cwd.split("/")
    for part in rel.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not out:
                return None
            out.pop()
        else:
            out.append(part)
    return "/".join(out) or "."


def load(split, corpus):
    """(sequences, trees) of the given split and of the repositories read by corpus.py."""
    seqs = list(rows(Path(split) / "seqs.jsonl.gz"))
    trees = {t["repo"]: t["paths"] for t in rows(Path(split) / "trees.jsonl.gz")}
    for file in sorted(Path(corpus).glob("*.json.gz")) if corpus else ():
        with gzip.open(file, "rt") as f:
            row = json.load(f)
        seqs += row["seqs"]
        trees[row["tree"]["repo"]] = row["tree"]["paths"]
    return seqs, trees


def page_names(pages):
    found = sorted({page for platform, page in (line.rstrip("\n").split("\t") for line in open(pages)) if platform in ("common", "linux", "osx")})
    subs = defaultdict(set)
    for page in found:
        for c in WITH_SUBCOMMANDS:
            if page.startswith(c + "-"):
                rest = page[len(c) + 1:]
                subs[c].add(rest.split("-")[0] if c in ("aws", "gcloud", "az") else rest)
    return {p for p in found if "-" not in p or p.split("-")[0] not in WITH_SUBCOMMANDS} | {"cd", "source", "export"}, subs


def simple_words(cmd):
    """Words of a command without operators or quotes; None when it has them."""
    if re.search(r"[|;&<>`$\\]", cmd):
        return None
    try:
        words = shlex.split(cmd)
    except ValueError:
        return None
    return words if words and "".join(words) == re.sub(r"\s", "", cmd) else None


class Vocabulary:
    """What each command took in the training sequences: the candidates a shell could offer."""

    def __init__(self, seqs, pages):
        self.pages, page_subs = page_names(pages)
        self.first, self.sub, self.after = Counter(), defaultdict(Counter), defaultdict(Counter)
        by_first = defaultdict(set)
        self.lines_of, self.often = defaultdict(list), {}
        for seq in seqs:
            for step in seq["steps"]:
                words = simple_words(step["cmd"])
                if not words:
                    continue
                self.first[words[0]] += 1
                by_first[words[0]].add(seq["repo"])
                if len(self.lines_of[words[0]]) < 400:
                    self.lines_of[words[0]].append(step["cmd"])
                for w in range(1, len(words)):
                    self.after[self.key(words, w)][words[w]] += 1
                if len(words) > 1:
                    self.sub[words[0]][words[1]] += 1
        self.commands = sorted(self.pages | {c for c, repos in by_first.items() if len(repos) > 1})
        self.known = set(self.commands)
        self.subs = {}
        for command in set(self.sub) | set(page_subs):
            common = {w for w, n in self.sub[command].items() if n > 1 and re.fullmatch(r"[a-z][\w:-]*", w)}
            names = page_subs.get(command, set()) | (common if command in WITH_SUBCOMMANDS else set())
            if len(names) > 2:
                self.subs[command] = sorted(names)

    @staticmethod
    def key(words, at):
        return words[0] if at == 1 else " ".join(words[:2])

    def taken(self, words, at, answer):
        """Words this command often took at this place, and the answer."""
        key = self.key(words, at)
        if key not in self.often:
            self.often[key] = sorted(w for w, n in self.after[key].most_common(60) if n > 1)
        often = self.often[key]
        return often if answer in often else sorted([*often, answer])


def wanted_listing(tree, cwd):
    return markers(tree.get(cwd, ())) if tree and cwd else []


def of_sequences(seqs, trees, vocabulary, seed, caps):
    """Yields decisions; `caps` gives the most of one kind and project (a random choice of them)."""
    rng = random.Random(seed)
    pools = defaultdict(list)
    indexed = {repo: index(paths) for repo, paths in trees.items()}
    for seq in seqs:
        tree, steps, repo = indexed.get(seq["repo"]), seq["steps"], seq["repo"]
        for i in range(len(steps)):
            for decision in of_step(tree, steps, i, repo, vocabulary, rng):
                pools[repo, decision["kind"]].append(decision)
    for (repo, kind), pool in sorted(pools.items()):
        rng.shuffle(pool)
        yield from pool[:caps[kind]]


def of_step(tree, steps, i, repo, vocabulary, rng):
    step, words = steps[i], simple_words(steps[i]["cmd"])
    if not words:
        return
    home = f"~/{rng.choice(PARENTS)}/{repo.split('/')[1]}"
    place = "" if step.get("cwd") is None else home if step["cwd"] == "." else f"{home}/{step['cwd']}"
    base = {"repo": repo, "cwd": place, "listing": wanted_listing(tree, step.get("cwd")), "recent": [(s["cmd"], 0) for s in steps[max(0, i - 8):i]]}
    if words[0] in vocabulary.known:
        yield {**base, "kind": "command", "line": "", "candidates": vocabulary.commands, "answer": words[0]}
    has_sub = len(words) > 1 and words[1] in vocabulary.subs.get(words[0], ())
    if has_sub:
        yield {**base, "kind": "subcommand", "line": words[0], "candidates": vocabulary.subs[words[0]], "answer": words[1]}
    for w in range(1, len(words)):
        path = None if has_sub and w == 1 else path_decision(tree, step, words, w)
        if path:
            yield {**base, **path}
        elif not step.get("ph") and not (has_sub and w == 1) and len(words[w]) < 40:
            taken = vocabulary.taken(words, w, words[w])
            if len(taken) > 3:
                yield {**base, "kind": "args", "line": " ".join(words[:w]), "candidates": taken, "answer": words[w]}
    if i and not step.get("ph") and len(step["cmd"]) < 120:
        other = [s["cmd"] for s in steps if s is not step]
        pool = set(rng.sample(other, min(10, len(other)))) | set(rng.sample(vocabulary.lines_of[words[0]], min(8, len(vocabulary.lines_of[words[0]]))))
        pool |= {rng.choice(vocabulary.lines_of[c]) for c in rng.choices(vocabulary.commands, k=8) if vocabulary.lines_of[c]}
        yield {**base, "kind": "line", "line": "", "candidates": sorted(pool | {step["cmd"]}), "answer": step["cmd"]}


def path_decision(tree, step, words, w):
    """The decision for a word that names an entry of the tree; None for other words."""
    word = words[w].rstrip("/")
    if not tree or not step.get("cwd") or words[0] in SKIP or word.startswith("-") or word in (".", "..", "") or not re.search(r"\w", word):
        return None
    head, base = word.rsplit("/", 1) if "/" in word else ("", word)
    directory = join(step["cwd"], head)
    names = sorted(tree.get(directory, ())) if directory else []
    hit = [n for n in names if n.rstrip("/") == base]
    kind = "cd" if words[0] in ("cd", "pushd") else "path"
    if kind == "cd":
        names = [n for n in names if n.endswith("/")]
    if not base.startswith("."):
        names = [n for n in names if not n.startswith(".")]
    if not hit or hit[0] not in names or len(names) < 2 or len(names) > 400:
        return None
    row = {"kind": kind, "line": " ".join(words[:w]) + " " + (head + "/" if head else ""), "candidates": names, "answer": hit[0]}
    return row if not head else {**row, "listing": []}


def from_examples(split, vocabulary, rng, limit):
    """Flags and words of tldr and NL2Bash examples, without earlier commands."""
    out = []
    for row in rows(Path(split) / "tldr.jsonl.gz"):
        if row["lang"] in ("en", "zh"):
            cmd = re.sub(r"\{\{\[?([^|{}\]]+)[^{}]*\}\}", r"\1", row["cmd"])
            out.append(cmd.replace("path/to/", ""))
    out += [row["cmd"] for row in rows(Path(split) / "nl2bash.jsonl.gz")]
    rng.shuffle(out)
    made = 0
    for cmd in out:
        words = simple_words(cmd)
        if not words or len(words) < 2 or made >= limit:
            continue
        w = rng.randint(1, len(words) - 1)
        taken = vocabulary.taken(words, w, words[w])
        if len(taken) > 3:
            made += 1
            yield {"repo": "examples", "kind": "args", "cwd": "", "listing": [], "recent": [], "line": " ".join(words[:w]), "candidates": taken, "answer": words[w]}
