"""Reads shell command sequences and file trees out of local git repositories and source archives.

    corpus.py OUT REPO_DIR_OR_TARBALL:OWNER/NAME ...

For every project with an open licence (a repository, bare or not, or a source tarball) it writes rows in the format of
`seqs.jsonl.gz` and `trees.jsonl.gz`: commands of fenced documentation blocks, CI steps,
Dockerfiles, simple lines of scripts and usage comments of source files, in document order,
with the directory they were most likely typed in. A directory counts as right when words of
the command exist there (`args`). Lines with secrets, addresses or long encoded values are dropped.
"""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

LICENCES = [  # first match wins; None means: do not use
    (r"NonCommercial|NoDerivatives|Business Source License|Elastic License|Commons Clause|RAIL", None),
    (r"Apache License,?\s+Version 2\.0|apache\.org/licenses/LICENSE-2\.0", "Apache-2.0"),
    (r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3,", "AGPL-3.0"),
    (r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version", "LGPL"),
    (r"GNU GENERAL PUBLIC LICENSE\s+Version 3", "GPL-3.0"),
    (r"GNU GENERAL PUBLIC LICENSE\s+Version 2", "GPL-2.0"),
    (r"Mozilla Public License", "MPL-2.0"),
    (r"Redistribution and use in source and binary forms", "BSD"),
    (r"Permission is hereby granted, free of charge|MIT License", "MIT"),
    (r"Permission to use, copy, modify, and/?o?r? distribute", "ISC"),
    (r"CC0 1\.0|unencumbered software released into the public domain", "CC0-1.0"),
    (r"Attribution-ShareAlike 4\.0", "CC-BY-SA-4.0"),
    (r"Attribution 4\.0 International|CC BY 4\.0", "CC-BY-4.0"),
    (r"Creative Commons Attribution", "CC-BY"),
]
SHELL_TAGS = {"bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", "shellscript", "fish", "cmd-bash", "prompt",
              "azurecli", "azurecli-interactive", "dotnetcli", "bash-interactive", "sh-session", "shell-script"}
PRIVATE = re.compile(
    r"(?<!git)@[\w-]+\.\w|\b(?!127\.0\.0\.1)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\b[0-9a-fA-F]{32,}\b|[A-Za-z0-9+/]{40,}"
    r"|(?i:passw(or)?d|secret|token|api_?key|credential)s?[=: ]['\"]?\w{6,}|/(?:home|Users)/\w+")
PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?(?:[\w.@~/:-]*[$%❯➜]|PS>)\s+")
CONTROL = re.compile(r"^(if|then|else|elif|fi|for|while|do|done|case|esac|function|\{|\}|\(|\)|\.\.\.)\b|^[{}()]|;;$|^\s*\w+\s*\(\)")
PLACEHOLDER = re.compile(r"<[\w\s./-]+>|\{\{|\[[\w\s|-]+\]|\bYOUR|path/to|example\.com|\.\.\.|\b[A-Z]{3,}_[A-Z_]+\b(?!=)")
WORD = re.compile(r"^[A-Za-z_.~/][\w.+~/@-]*$")
ROWS_PER_REPO, DOCS_PER_REPO, PATHS_PER_REPO, BIGGEST = 2500, 700, 12000, 300_000
DOCS = re.compile(r"\.(md|mdx|rst|adoc|markdown)$", re.I)
SOURCES = (".py", ".sh", ".go", ".rs", ".js", ".rb", ".pl", ".php", ".yaml", ".yml", ".toml")
SCRIPTS = (".sh", ".bash", ".zsh")
READ = re.compile(DOCS.pattern + r"|(^|/)(licen[cs]e|copying|unlicense)[\w.-]*$|^licenses/|Dockerfile|(" + "|".join(map(re.escape, SCRIPTS + SOURCES)) + ")$", re.I)


def git(repo, *args, data=None):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", str(repo), *args], input=data, capture_output=True, check=False).stdout


class Project:
    """File tree and texts of a project: `sizes` {file: bytes}, `children` {directory: names}."""

    def __init__(self, name, sizes):
        self.name, self.sizes = name, sizes
        self.known = set(self.sizes)
        self.children = {".": set()}
        for file in self.sizes:
            parts = file.split("/")
            for i, part in enumerate(parts):
                parent = "/".join(parts[:i]) or "."
                self.children.setdefault(parent, set()).add(part + ("/" if i < len(parts) - 1 else ""))

    def licence(self):
        files = [f for f in self.sizes if re.match(r"(?i)^(licen[cs]e|copying|unlicense)[\w.-]*$", f)]
        files = files or [f for f in self.sizes if re.match(r"(?i)^(docs?/|licenses?/)?(licen[cs]e|copying)[\w.-]*$|^licenses/.*", f)]
        text = "\n".join(t for _, t in self.read(sorted(files)[:3]))
        for pattern, name in LICENCES:
            if re.search(pattern, text, re.I if name else 0):
                return name
        return None

    def exists(self, cwd, word):
        """The tree path that `word`, typed in `cwd`, names; None if there is none."""
        parts = [] if cwd == "." else cwd.split("/")
        for part in word.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            else:
                parts.append(part)
        path = "/".join(parts) or "."
        return path if path in self.known or path in self.children else None


class Repository(Project):
    """The newest commit of a git repository on disk."""

    def __init__(self, path, name):
        self.path, sizes = path, {}
        for row in filter(None, git(path, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace").split("\0")):
            meta, file = row.split("\t", 1)
            size = meta.split()[3]
            if size.isdigit() and file.isprintable():
                sizes[file] = int(size)
        super().__init__(name, sizes)

    def read(self, files):
        """Yields (file, text) for the blobs."""
        for start in range(0, len(files), 200):
            part = files[start:start + 200]
            out = git(self.path, "cat-file", "--batch", data="".join(f"HEAD:{f}\n" for f in part).encode())
            at = 0
            for file in part:
                end = out.find(b"\n", at)
                head = out[at:end].split()
                if len(head) < 3 or head[1] != b"blob":
                    at = end + 1
                    continue
                size = int(head[2])
                yield file, out[end + 1:end + 1 + size].decode("utf-8", "replace")
                at = end + 2 + size


class Archive(Project):
    """A source tarball; the one directory it unpacks into is left out."""

    def __init__(self, path, name):
        sizes, self.texts = {}, {}
        with tarfile.open(path) as tar:
            members = [m for m in tar if m.isfile() and m.name.isprintable()]
            tops = {m.name.split("/")[0] for m in members}
            drop = len(members[0].name.split("/")[0]) + 1 if len(tops) == 1 else 0
            for m in members:
                file = m.name[drop:].removeprefix("./")
                sizes[file] = m.size
                if m.size < BIGGEST and READ.search(file):
                    self.texts[file] = tar.extractfile(m).read().decode("utf-8", "replace")
        super().__init__(name, sizes)

    def read(self, files):
        """Yields (file, text) for the files."""
        yield from ((f, self.texts[f]) for f in files if f in self.texts)


def words_of(cmd):
    try:
        return shlex.split(cmd)
    except ValueError:
        return []


def arguments(repo, cwd, cmd):
    return [w for i, w in enumerate(words_of(cmd)) if (i or "/" in w) and re.search(r"\w", w) and not w.startswith("-")
            and "://" not in w and repo.exists(cwd, w)]


def logical_lines(lines):
    """Joins continuation lines and drops here-document bodies."""
    out, held, until = [], "", None
    for line in lines:
        if until is not None:
            if line.strip() == until:
                until = None
            continue
        text = held + (line.strip() if held else line.rstrip())
        if text.endswith("\\"):
            held = text[:-1].rstrip() + " "
            continue
        held = ""
        doc = re.search(r"<<-?\s*['\"]?(\w+)['\"]?", text)
        until = doc.group(1) if doc else None
        out.append(text)
    return out


def commands(lines, labelled):
    prompted = any(PROMPT.match(x) for x in lines)
    if not labelled and not prompted:
        return []
    out = []
    for line in logical_lines([x for x in lines]):
        if prompted:
            if not PROMPT.match(line):
                continue
            line = PROMPT.sub("", line)
        line = re.sub(r"\s+#\s.*$", "", line).strip()
        if good(line):
            out.append(line)
    return out


def good(line):
    if not line or len(line) > 300 or line.startswith("#") or not line.isprintable() or PRIVATE.search(line) or CONTROL.search(line):
        return False
    if "<<" in line or "${{" in line:
        return False
    words = words_of(line)
    while words and re.match(r"^[A-Za-z_]\w*=", words[0]):
        words = words[1:]
    if not words or not WORD.match(words[0]) or len(words[0]) > 40:
        return False
    return not (words[0][0].isupper() and len(words) > 2) and not words[0].endswith((":", "."))


def fenced(text, ext):
    """Yields (heading level or 0, lines, labelled): headings as markers, blocks with their lines."""
    if ext in (".rst", ".txt"):
        yield from rst_blocks(text)
        return
    fence, tag, block = None, "", []
    for line in text.split("\n"):
        mark = re.match(r"^\s*(```+|~~~+|----+$)\s*(?:\{?\.?)([\w+-]*)", line)
        if fence is None:
            head = re.match(r"^(#{1,6}|={1,5})\s+\S", line)
            if head:
                yield len(head.group(1)), [], False
            source = re.match(r"^\[source,\s*\"?(\w+)", line)
            if source:
                tag = source.group(1).lower()
            elif mark and (mark.group(1)[0] != "-" or ext == ".adoc"):
                fence, block = mark.group(1), []
                tag = mark.group(2).lower() or (tag if ext == ".adoc" else "")
        elif line.strip().startswith(fence[:3]) and line.strip().strip(fence[0]) == "":
            yield 0, block, tag in SHELL_TAGS
            fence, tag = None, ""
        else:
            block.append(line)


def rst_blocks(text):
    lines, i = text.split("\n"), 0
    while i < len(lines):
        line = lines[i]
        if i and re.match(r"^[=\-~^\"'#*]{4,}\s*$", line) and lines[i - 1].strip():
            yield 1 if line[0] in "=#*" else 2, [], False
        mark = re.match(r"^(\s*)\.\.\s+(?:code-block|code|sourcecode|prompt|console|tab)::\s*(\S*)", line)
        if mark or line.rstrip().endswith("::") and not line.strip().startswith(".."):
            indent = len(line) - len(line.lstrip())
            block, i = [], i + 1
            while i < len(lines) and (not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip()) > indent):
                if not re.match(r"^\s*:\w+:", lines[i]):
                    block.append(lines[i].strip())
                i += 1
            yield 0, block, bool(mark) and mark.group(2).lower() in SHELL_TAGS
            continue
        i += 1


def sequence(repo, blocks, home):
    """Steps of one document; `home` is the directory its commands start in."""
    steps, cwd, number = [], home, 0
    for level, lines, labelled in blocks:
        if level:
            cwd = home if level <= 2 else cwd
            continue
        for cmd in commands(lines, labelled):
            steps.append(step(repo, cwd, cmd, number))
            cwd = moved(repo, cwd, cmd)
        number += 1
    return steps


def step(repo, cwd, cmd, block):
    row = {"cwd": cwd, "cmd": cmd, "b": block}
    if cwd is not None:
        found = arguments(repo, cwd, cmd)
        if found:
            row["args"] = found
    if PLACEHOLDER.search(cmd):
        row["ph"] = True
    return row


def moved(repo, cwd, cmd):
    last = re.split(r"&&|;", cmd)[-1].strip() if "cd " in cmd else ""
    words = words_of(last)
    if len(words) != 2 or words[0] not in ("cd", "pushd"):
        return cwd
    if cwd is not None:
        path = repo.exists(cwd, words[1])
        if path in repo.children:
            return path
    return "." if words[1].rstrip("/").split("/")[-1].lower() == repo.name.split("/")[1].lower() else None


def best_home(repo, file, blocks):
    """Document's directory or the root: where more of the named files exist."""
    here = os.path.dirname(file) or "."
    cmds = [c for level, lines, labelled in blocks if not level for c in commands(lines, labelled)][:60]
    root, local = (sum(len(arguments(repo, d, c)) for c in cmds) for d in (".", here))
    if here != "." and (local > root or local == root and os.path.basename(file).lower().startswith("readme")):
        return here
    return "."


def ci_blocks(text):
    lines, i = text.split("\n"), 0
    while i < len(lines):
        mark = re.match(r"^(\s*)-?\s*run:\s*(\|?>?-?)\s*(.*)$", lines[i])
        if mark and mark.group(3) and not mark.group(2):
            yield 0, [mark.group(3)], True
        elif mark:
            indent, block = len(mark.group(1)), []
            while i + 1 < len(lines) and (not lines[i + 1].strip() or len(lines[i + 1]) - len(lines[i + 1].lstrip()) > indent):
                i += 1
                block.append(lines[i].strip())
            yield 0, block, True
        i += 1


def docker_blocks(text):
    for line in logical_lines(text.split("\n")):
        if line.startswith("RUN "):
            yield 0, [c.strip() for c in re.split(r"&&|;", re.sub(r"--mount=\S+", "", line[4:]))], True


def script_blocks(text):
    yield 0, [x.strip() for x in text.split("\n") if x.strip() and "$" not in x and not x.startswith((" ", "\t", "#"))], True


USAGE = re.compile(r"^[\s#/*>%;\"'-]*(?:\$ )?((?:python3?|bash|sh|node|torchrun|accelerate|deepspeed|cargo|go run|go test|pytest|make|ruby|php|perl|java|\./)[ \w./].*)$")


def usage_blocks(text):
    for line in logical_lines(text.split("\n")[:120]):
        match = USAGE.match(line)
        if match and len(match.group(1)) < 200:
            yield 0, [match.group(1).rstrip("'\"` ")], True


def extract(path, name):
    """(licence, sequences, tree row) of a repository; None when it may not or cannot be used."""
    repo = Archive(path, name) if ".tar." in path else Repository(path, name)
    licence = repo.licence()
    if not repo.sizes or licence is None:
        return None
    small = [f for f, size in repo.sizes.items() if size < BIGGEST and not re.search(r"(^|/)(node_modules|vendor|third_party)/", f)]
    docs = sorted((f for f in small if DOCS.search(f)),
                  key=lambda f: (not re.search(r"(?i)readme|contributing|install|getting|quick|start|tutorial|guide", f), f.count("/"), f))
    sources = [
        ("doc", docs[:DOCS_PER_REPO]),
        ("ci", [f for f in small if f.startswith(".github/workflows/")][:30]),
        ("dockerfile", [f for f in small if "Dockerfile" in os.path.basename(f)][:40]),
        ("script", [f for f in small if f.endswith(SCRIPTS)][:150]),
        ("usage", [f for f in small if f.endswith(SOURCES)][:2500]),
    ]
    rows, seen, total = [], set(), 0
    for kind, files in sources:
        for file, text in repo.read(files):
            ext = os.path.splitext(file)[1].lower()
            blocks = list({"doc": lambda: fenced(text, ext), "ci": lambda: ci_blocks(text), "dockerfile": lambda: docker_blocks(text),
                           "script": lambda: script_blocks(text), "usage": lambda: usage_blocks(text)}[kind]())
            if not blocks:
                continue
            home = "." if kind == "ci" else best_home(repo, file, blocks)
            steps = sequence(repo, blocks, home)
            if kind in ("usage", "script"):
                steps = [s for s in steps if s.get("args")]
            key = tuple(s["cmd"] for s in steps)
            if not steps or key in seen or total > ROWS_PER_REPO:
                continue
            seen.add(key)
            total += len(steps)
            rows.append({"repo": name, "license": licence, "kind": kind, "doc": file, "in_repo": any(s.get("args") for s in steps),
                         "steps": steps})
    return licence, rows, tree_row(repo, rows, licence)


def tree_row(repo, rows, licence):
    """The directories in which commands name something, whole, then the rest up to the cap."""
    wanted = {"."}
    for row in rows:
        for s in row["steps"]:
            if s["cwd"] is None:
                continue
            wanted.add(s["cwd"])
            for arg in s.get("args", ()):
                path = repo.exists(s["cwd"], arg)
                wanted.add(os.path.dirname(path) or ".")
                if path in repo.children:
                    wanted.add(path)
    order = sorted(wanted) + sorted((d for d in repo.children if d not in wanted), key=lambda d: (d.count("/"), d))
    paths = []
    for directory in order:
        if len(paths) > PATHS_PER_REPO:
            break
        paths += [n if directory == "." else f"{directory}/{n}" for n in sorted(repo.children.get(directory, ()))[:1000]]
    return {"repo": repo.name, "license": licence, "total": len(repo.sizes), "truncated": len(paths) > PATHS_PER_REPO, "paths": paths}


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for spec in sys.argv[2:]:
        path, name = spec.rsplit(":", 1)
        file = out / (name.replace("/", "+") + ".json.gz")
        if file.exists():
            continue
        result = extract(path, name)
        if result is None:
            print(f"{name}: no usable licence or tree", file=sys.stderr)
            continue
        licence, rows, tree = result
        with gzip.open(file, "wt") as f:
            json.dump({"seqs": rows, "tree": tree}, f, ensure_ascii=False)
        steps = [s for r in rows for s in r["steps"]]
        print(f"{name} {licence} sequences {len(rows)} steps {len(steps)} with files {sum('args' in s for s in steps)}", flush=True)


if __name__ == "__main__":
    main()
