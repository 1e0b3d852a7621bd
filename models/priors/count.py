#!/usr/bin/env python3
"""Counts what commands are used with, over public documentation, into priors.tsv.

    count.py TRAIN_DIR [--folds K --without I] > priors.tsv

TRAIN_DIR holds seqs.jsonl.gz (sequences of documented commands per project), trees.jsonl.gz (paths
of each project), tldr.jsonl.gz and nl2bash.jsonl.gz (single commands). Only counts leave this
script: first words, subcommands, options, name extensions and frequent names. Each line is
TABLE, KEY, ITEM, COUNT (tab between); COUNT is the sum over projects of the square root of the
count in each, so that no project rules the table. Tables: see crates/rank/src/priors.rs.

With --folds and --without, the projects of one fold are left out: for measuring on projects that
the table has never seen.
"""

import argparse
import gzip
import hashlib
import json
import math
import re
import shlex
from collections import Counter, defaultdict

WRAPPERS = {"sudo", "doas", "command", "builtin", "env", "nice", "nohup", "time", "exec"}
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
SUBCOMMAND = re.compile(r"[A-Za-z][A-Za-z0-9_:-]{1,23}$")
PLAIN = re.compile(r"[A-Za-z0-9_.+@/:,=-]{1,40}$")
FIRST = re.compile(r"(\./)?[A-Za-z_\[][A-Za-z0-9_.+-]{0,30}$")
# Least count that is kept, and how many of the largest, per table.
LEAST = {"F": 1.0, "N": 1.4, "M": 2.0, "S": 1.0, "T": 1.0, "K": 1.4, "P": 1.4, "O": 1.0, "A": 1.4, "C": 1.4}
MOST = {"F": 1600, "N": 1600, "M": 1400, "S": 1800, "T": 800, "K": 1300, "P": 600, "O": 500, "A": 1200, "C": 1500}
LARGEST = 200_000


def rows(path):
    with gzip.open(path, "rt") as lines:
        for line in lines:
            yield json.loads(line)


def simple_commands(line):
    """The words of each simple command of a line, wrappers and assignments taken off."""
    for part in re.split(r"&&|\|\||[|;&\n]", line):
        part = re.split(r"[<>]", part)[0]
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        while words and (words[0] in WRAPPERS or ASSIGNMENT.match(words[0])):
            if len(words) > 1 and words[1].startswith("-"):
                break
            words = words[1:]
        if words and FIRST.match(words[0]):
            yield words


def base_name(word):
    return (word.rstrip("/") or "/").split("/")[-1]


def name_kind(word, directories):
    if word.endswith("/") or word.rstrip("/") in directories:
        return "/"
    name = base_name(word).lower()
    dot = name.rfind(".")
    return name[dot:] if 0 < dot < len(name) - 1 else name


def is_name(word):
    return bool(PLAIN.match(word)) and "://" not in word and "=" not in word and not word.startswith("-")


def join(cwd, path):
    parts = [] if cwd in (None, ".") else cwd.split("/")
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


class Project:
    def __init__(self):
        self.counts = Counter()

    def add(self, table, key, item, n=1):
        self.counts[table, key, item] += n

    def arguments(self, words, cwd, dirs):
        """What one simple command takes."""
        first = words[0]
        pair = f"{first} {words[1]}" if len(words) > 1 and SUBCOMMAND.match(words[1]) else None
        for i, word in enumerate(words[1:], 1):
            if not is_name(word) or (i == 1 and pair and "." not in word and word not in dirs):
                continue
            inside = {word.rstrip("/")} if join(cwd, word) in dirs else ()
            kind, name = name_kind(word, inside), base_name(word).lower()
            self.add("A", "", name)
            keys = [("K", first)]
            if pair and i > 1:
                keys.append(("P", pair))
            if words[i - 1].startswith("-") and i > 1:
                keys.append(("O", f"{first} {words[i - 1]}"))
            for table, key in keys:
                self.add(table, key, kind)
                self.add("C", key, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("train")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--without", type=int, default=-1)
    options = parser.parse_args()

    def left_out(repo):
        fold = int(hashlib.sha1(("fold " + repo).encode()).hexdigest(), 16)
        return options.folds > 0 and fold % options.folds == options.without

    trees = {}
    for tree in rows(f"{options.train}/trees.jsonl.gz"):
        directories, children = set(), defaultdict(set)
        for path in tree["paths"]:
            parts = path.rstrip("/").split("/")
            for i in range(1, len(parts) + (1 if path.endswith("/") else 0)):
                directories.add("/".join(parts[:i]))
            children["/".join(parts[:-1])].add(parts[-1])
        trees[tree["repo"]] = (directories, children)

    projects = defaultdict(Project)
    for sequence in rows(f"{options.train}/seqs.jsonl.gz"):
        repo = sequence["repo"]
        if left_out(repo):
            continue
        project = projects[repo]
        directories, children = trees.get(repo, (set(), {}))
        before, subs = None, {}
        for step in sequence["steps"]:
            cwd = step.get("cwd")
            for words in simple_commands(step["cmd"]):
                first = words[0]
                project.add("F", "", first)
                if before:
                    project.add("N", before, first)
                if len(words) > 1 and SUBCOMMAND.match(words[1]):
                    project.add("S", first, words[1])
                    if first in subs:
                        project.add("T", f"{first} {subs[first]}", words[1])
                    subs[first] = words[1]
                if sequence.get("in_repo") and cwd is not None:
                    for name in children.get("" if cwd == "." else cwd, ()):
                        project.add("M", name.lower(), first)
                if not step.get("ph"):
                    project.arguments(words, cwd, directories)
                before = first
    for page in rows(f"{options.train}/tldr.jsonl.gz"):
        if page["lang"] != "en":
            continue
        project = projects["tldr " + page["page"]]
        for words in simple_commands(re.sub(r"\{\{|\}\}", "", page["cmd"])):
            project.add("F", "", words[0], 0.05)
            if len(words) > 1 and SUBCOMMAND.match(words[1]) and "path/to" not in words[1]:
                project.add("S", words[0], words[1], 0.05)
            for i, word in enumerate(words[1:], 1):
                if word.startswith("path/to/") and PLAIN.match(word):
                    kind = "/" if "dir" in word or "folder" in word else name_kind(word, ())
                    if kind == "/" or kind.startswith("."):
                        project.add("K", words[0], kind)
    for row in rows(f"{options.train}/nl2bash.jsonl.gz"):
        for words in simple_commands(row["cmd"]):
            projects["nl2bash"].add("F", "", words[0], 0.2)

    total = Counter()
    for project in projects.values():
        for key, n in project.counts.items():
            # What a directory holds is seen once per project, however much is documented there.
            total[key] += min(n, 1) if key[0] == "M" else math.sqrt(n)
    print("".join(sorted(table_lines(total))), end="")


def table_lines(total):
    """The lines that are kept: per table the largest counts, the rarest dropped to fit the size."""
    users, holders = Counter(), Counter()
    for (table, key, item), n in total.items():
        if table == "M":
            users[item] += n
            holders[key] += n
    everything = sum(users.values())

    def worth(line):
        table, key, item, n = line
        if table != "M":
            return n
        return n * max(0.0, math.log(n * everything / users[item] / holders[key]))

    by_table = defaultdict(list)
    for (table, key, item), n in total.items():
        if n >= LEAST[table] - 1e-9 and "\t" not in key + item:
            by_table[table].append((table, key, item, n))
    ranked = []
    for lines in by_table.values():
        lines.sort(key=lambda line: (-worth(line), line[:3]))
        most = MOST[lines[0][0]]
        ranked += [(place / most, line) for place, line in enumerate(lines[:most])]
    ranked.sort()
    kept, size = [], 0
    for _, (table, key, item, n) in ranked:
        text = f"{table}\t{key}\t{item}\t{n:.3g}\n"
        size += len(text.encode())
        if size > LARGEST:
            break
        kept.append(text)
    return kept


if __name__ == "__main__":
    main()
