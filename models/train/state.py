"""The text of a decision: what the model reads about a moment at the prompt, and about an option.

This is the one place that fixes the template; the Rust worker builds the same bytes
(README.md, "State text"). A state is a list of segments, each encoded on its own:

    @ <last two parts of the working directory>\n
    : <known file names that are there>\n
    > <earlier command>\n        ("! " instead of "> " when it failed), oldest first
    $ <words before the one to complete, and its directory part>      (no line feed, no space at the end)

The characters already typed of the word are not part of the state: they only choose the options.
"""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCAB = 8192
PAD, CLS, SEP, MASK = 0, 1, 2, 3
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
INSTRUCTIONS = {"word": "next word", "line": "next line"}
NONE = "(none)"  # the option "none of these"
STATE_TOKENS = 160  # frame included
COMMAND_CHARS, COMMAND_HEAD = 96, 32  # longer commands keep the first 32 and the last 63 characters, "…" between
OPTION_TOKENS = 24  # [MASK] not counted; longer options lose their end
RECENT = 8
MARKERS_SHOWN = 8
MARKERS = (
    "Cargo.toml package.json pyproject.toml setup.py requirements.txt go.mod Makefile CMakeLists.txt Dockerfile "
    "docker-compose.yml docker-compose.yaml compose.yaml compose.yml pom.xml build.gradle build.gradle.kts gradlew mvnw Gemfile "
    "composer.json mix.exs pnpm-lock.yaml yarn.lock package-lock.json bun.lock uv.lock poetry.lock Pipfile environment.yml "
    "manage.py justfile Taskfile.yml Vagrantfile Chart.yaml kustomization.yaml main.tf Tiltfile skaffold.yaml flake.nix "
    "default.nix meson.build BUILD.bazel MODULE.bazel WORKSPACE configure configure.ac autogen.sh tox.ini noxfile.py "
    "setup.cfg .pre-commit-config.yaml platformio.ini west.yml deno.json tsconfig.json vite.config.ts next.config.js "
    "angular.json lerna.json nx.json turbo.json mkdocs.yml hugo.toml _config.yml Rakefile artisan Procfile .goreleaser.yaml dvc.yaml "
    "ansible.cfg stack.yaml dune-project rebar.config pubspec.yaml Package.swift Podfile project.clj build.sbt index.html "
    "main.py app.py train.py main.go main.rs main.c index.js server.js conf.py book.toml build.zig Project.toml renv.lock "
    "src/ docs/ examples/ scripts/ tests/ tools/ cmd/ charts/ config/ data/"
).split()
ORDER = {name: i for i, name in enumerate(MARKERS)}


def directory_tail(cwd):
    """Last two parts of a directory, "" when it is not known."""
    parts = [p for p in (cwd or "").split("/") if p]
    return "/".join(parts[-2:])


def markers(listing):
    """Known names of a listing, in the table's order."""
    return sorted((n for n in set(listing) if n in ORDER), key=ORDER.get)[:MARKERS_SHOWN]


def segments(cwd, listing, recent, line):
    """State segments as text; `recent` holds (command, exit) pairs, oldest first."""
    tail, shown = directory_tail(cwd), markers(listing)
    head = [f"@ {tail}\n"] if tail else []
    head += [f": {' '.join(shown)}\n"] if shown else []
    return head, [f"{'!' if code else '>'} {shortened(cmd)}\n" for cmd, code in recent[-RECENT:]], f"$ {shortened(line)}".rstrip()


def shortened(command):
    """One line, runs of white space as one space, the middle left out of a long one."""
    line = " ".join(command.split())
    return line if len(line) <= COMMAND_CHARS else line[:COMMAND_HEAD] + "…" + line[len(line) - (COMMAND_CHARS - COMMAND_HEAD - 1):]


class Encoder:
    """Turns segments and options into token ids, as the runtime does."""

    def __init__(self, tokenizer):
        self.tokenizer, self.memo = tokenizer, {}
        self.frame = {k: [CLS, *self.ids(f"choice question: {text}"), SEP] for k, text in INSTRUCTIONS.items()}

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def segment(self, text):
        """Ids of a segment. Segments end with a line feed, so encoding them apart or together is the same."""
        return self.ids(text)

    def option(self, text):
        """Ids of an option: the text with one space in front, cut."""
        if text not in self.memo:
            self.memo[text] = self.ids(" " + text)[:OPTION_TOKENS]
        return self.memo[text]

    def state(self, question, cwd, listing, recent, line):
        """The whole state; the oldest commands go first when it is too long, then the head."""
        head, ran, last = segments(cwd, listing, recent, line)
        return self.assemble(question, [self.segment(s) for s in head], [self.segment(s) for s in ran], self.segment(last))

    def assemble(self, question, head, ran, last):
        room = STATE_TOKENS - len(self.frame[question]) - 1 - len(last)
        head = list(head)
        while head and sum(map(len, head)) > room:
            head.pop()
        room -= sum(map(len, head))
        kept = []
        for ids in reversed(ran):
            if len(ids) > room:
                break
            room -= len(ids)
            kept.insert(0, ids)
        return [*self.frame[question], *(i for part in (*head, *kept, last) for i in part), SEP]


def train_tokenizer(texts):
    """Byte-level BPE, the same pre-tokenizer as the reference checkpoints."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=VOCAB, special_tokens=SPECIAL, min_frequency=3, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    return tok
