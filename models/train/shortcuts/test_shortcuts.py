"""End to end on the CPU: an invented teacher and own phrases in, a checkpoint out."""

import json
import random
import tempfile
import unittest
from pathlib import Path
from unittest import mock

try:
    import numpy as np
    import safetensors  # noqa: F401
    import tokenizers  # noqa: F401
    import torch
    MISSING = ""
except ImportError as error:
    MISSING = f"skipped: {error.name} is not installed"

if not MISSING:
    import checkpoint
    import evaluate
    import goldens
    import prepare
    import texts
    import train
    from network import PAD, Config, ShortcutModel

HIDDEN, PIECES = 32, ["<s>", "<pad>", "</s>", "<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz:,.!?", *"大声点小窗口左边"]


class InventedTeacher:
    """A teacher of two layers with random weights."""

    def __init__(self):
        from network import Encoder
        torch.manual_seed(5)
        self.shape = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": len(PIECES),
                      "max_position_embeddings": 64, "type_vocab_size": 1, "layer_norm_eps": 1e-12}
        self.pieces = [(text, -1.0) for text in PIECES]
        config = Config(**{k: v for k, v in self.shape.items() if k != "type_vocab_size"}, dropout=0.0)
        self.weights = {k: v.numpy() for k, v in Encoder(config).state_dict().items()}


def write_pack(folder):
    """What prepare.py writes, of a handful of phrases."""
    teacher, rng = InventedTeacher(), random.Random(1)
    small = prepare.unigram(teacher.pieces, lower=True)
    small.save(str(folder / "tokenizer.json"))
    packer = prepare.Packer(small)
    names = ["louder", "quieter", "left"]
    said = [(0, "en", "louder"), (0, "zh", "大声点"), (1, "en", "less noise"), (1, "zh", "小声点"), (2, "en", "go left"), (2, "zh", "窗口左边"), (-1, "en", "hello"), (-1, "zh", "大")]
    plain = [t for _, _, t in said] * 40
    asked = prepare.ids(prepare.unigram(teacher.pieces, lower=False), plain)
    pieces, back = np.unique(asked, return_inverse=True)
    prepare.save_teacher(folder / "teacher.npz", teacher, pieces, list(range(len(PIECES))))
    sets = [(f"intent {i}", [f"say {c}", f"tell {c}", f"ask {c}"]) for i, c in enumerate("abcdefg")]
    arrays = {"plain": packer.add(plain), "plain_teacher": back.reshape(asked.shape),
              "phrases": np.stack([packer.add([prepare.variant(t, lang, rng) for _, lang, t in said]) for _ in range(2)], 1),
              "outside": packer.add(["what is that", "who are you"]), "options": packer.add(names + ["大", "小", "左"]),
              "same": packer.add(["go left", "窗口左边", "louder", "大声点"]), "intent_names": packer.add([n for n, _ in sets]),
              "intent_texts": packer.add([t for _, found in sets for t in found]), "none": packer.add([texts.NONE]), "judged": packer.add([t for _, _, t in said])}
    np.savez(folder / "pack.npz", **{k: v.astype(np.uint16) for k, v in arrays.items()})
    judged = [[split, label, lang] for split, rows in (("choose", said[:4]), ("test", said[4:])) for label, lang, _ in rows]
    (folder / "texts.json").write_text(json.dumps({
        "names": names, "phrases": said, "options": [[0, "en"], [1, "en"], [2, "en"], [0, "zh"], [1, "zh"], [2, "zh"]], "groups": [2, 2],
        "sets": [["own", 3]] * len(sets), "judged": judged, "shape": teacher.shape, "vocabulary": small.get_vocab_size()}))


@unittest.skipIf(MISSING, MISSING)
class Training(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def test_a_tiny_run_yields_a_checkpoint_in_the_format(self):
        write_pack(self.folder)
        small = {"hidden_size": HIDDEN, "intermediate_size": 64, "num_attention_heads": 2}
        arguments = ["train.py", "--pack", str(self.folder), "--out", str(self.folder / "run"), "--distil", "1", "--tune", "2", "--batch", "24", "--layers", "0,1"]
        with mock.patch("sys.argv", arguments), mock.patch.object(train, "Config", lambda **given: Config(**small | given)):
            train.main()
        lines = [json.loads(line) for line in (self.folder / "run/log.jsonl").read_text().splitlines()]
        self.assertEqual({"distil", "tune"}, {line["stage"] for line in lines if "stage" in line})
        self.assertEqual({"choose", "test"}, set(json.loads((self.folder / "run/result.json").read_text())))
        out = self.folder / "checkpoint"
        with mock.patch("sys.argv", ["checkpoint.py", "--model", str(self.folder / "run/model16.pt"), "--pack", str(self.folder), "--out", str(out)]):
            checkpoint.main()
        shape = json.loads((out / "encoder/config.json").read_text())
        tokenizer = tokenizers.Tokenizer.from_file(str(out / "tokenizer/tokenizer.json"))
        self.assertEqual(shape["vocab_size"], tokenizer.get_vocab_size(with_added_tokens=True))
        self.assertEqual(tokenizer.encode("Go  LEFT").tokens[0], "<s>")
        stored = safetensors.safe_open(out / "model.safetensors", "np")
        self.assertEqual(stored.get_tensor("encoder.embeddings.word_embeddings.weight.q8").shape, (shape["vocab_size"], HIDDEN))
        for row in goldens.expected(out):
            asked, told = row["questions"]["meant"], row["rows"][0]
            self.assertEqual(len(asked["criteria"]), len(told["logits"]))
            self.assertTrue(all(told["ids"][at] == told["ids"][0] for at in told["markers"]))

    def test_padding_and_the_order_of_options_change_nothing(self):
        torch.manual_seed(2)
        model = ShortcutModel(Config(vocab_size=40, hidden_size=HIDDEN, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, dropout=0.0)).eval()
        short, padded = torch.tensor([[0, 9, 2]]), torch.tensor([[0, 9, 2, PAD, PAD]])
        options = torch.randn(1, 5, HIDDEN)
        with torch.no_grad():
            one = model.compare(model.encoder(short)[0], short, options)
            two = model.compare(model.encoder(padded)[0], padded, options.flip(1)).flip(1)
        self.assertLess(float((one - two).abs().max()), 1e-5)


@unittest.skipIf(MISSING, MISSING)
class Report(unittest.TestCase):
    def test_accepted_is_right_and_sure_and_nothing_fits_is_judged_apart(self):
        logits = torch.tensor([[9.0, 0, 0], [9, 0, 0], [1, 0.9, 0], [0, 0, 9], [9, 0, 0]])
        listed = torch.tensor([[3, 4]] * 5)
        found = evaluate.report(logits, listed, torch.tensor([3, 4, 3, -1, -1]), ["en"] * 5, 1.0)
        self.assertEqual(found["false_accepts"], 0.5)
        self.assertEqual(found["en"], {"cases": 3, "top1": round(2 / 3, 4), "accepted": round(1 / 3, 4), "top3": 1.0})


if __name__ == "__main__":
    unittest.main()
