"""End to end on the CPU: own small data in, a checkpoint that loads and ranks out."""

import gzip
import json
import random
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import corpus

try:
    import numpy  # noqa: F401
    import safetensors  # noqa: F401
    import tokenizers  # noqa: F401
    import torch
    MISSING = ""
except ImportError as error:
    MISSING = f"skipped: {error.name} is not installed"

if not MISSING:
    import average
    import batches
    import data
    import decisions
    import evaluate
    import export
    import state
    import synthetic
    import train
    import model as model_module
    from model import Config, DecisionModel

TREE = {"garden": decisions.index(["src/main.py", "src/tools.py", "docs/plan.md", "Makefile", "run.sh", "seeds/list.txt", "seeds/old.txt"])} if not MISSING else {}


def written(folder):
    """A training pack made of invented decisions alone."""
    lines = ["make", "git add run.sh", "python src/main.py", "git commit -m wip", "ls"]
    inventor = synthetic.Inventor({f"own/{k}": v for k, v in TREE.items()}, lines, 5)
    made = [inventor.path_case() for _ in range(300)] + [inventor.line_case() for _ in range(20)]
    tokenizer = state.train_tokenizer([f"> {c}\n" for d in made for c, _ in d["recent"]] + [" " + n for d in made for n in d["candidates"]])
    tokenizer.save(str(folder / "tokenizer.json"))
    encoder = state.Encoder(tokenizer)
    packer = data.Packer(encoder)
    for d in made:
        packer.add({**d, "kind": "made-" + d["kind"]}, 0)
    texts = [encoder.ids(f"> {line}\n") for line in lines]
    starts = numpy.cumsum([0] + [len(t) for t in texts]).astype(numpy.int32)
    numpy.savez_compressed(folder / "pack.npz", **packer.arrays({}), text_start=starts, text_ids=numpy.array(sum(texts, []), numpy.uint16))
    (folder / "frame.json").write_text(json.dumps({"frame": encoder.frame, "none": encoder.option(state.NONE), "kinds": data.KINDS, "repos": 1}))
    return encoder


def tiny(layers=2):
    torch.manual_seed(3)
    return DecisionModel(Config(hidden_size=64, intermediate_size=96, num_hidden_layers=layers, num_attention_heads=2, dropout=0.0)).eval()


@unittest.skipIf(MISSING, MISSING)
class Training(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def test_a_tiny_model_learns_and_its_checkpoint_ranks_as_it_did(self):
        encoder = written(self.folder)
        pack = batches.Pack(self.folder)
        torch.manual_seed(1)
        model = DecisionModel(Config(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=2, dropout=0.0))
        opt = train.optimizer(model, SimpleNamespace(decay=0.0, lr=2e-3, device="cpu"))
        draws, losses = iter(batches.Decisions(pack, 8, 1)), []
        for step in range(24):
            batch = next(draws)
            target = batch.pop("target")
            loss = torch.nn.functional.cross_entropy(model(**batch), target)
            train.update(model, opt, loss, 2e-3)
            losses.append(float(loss.detach()))
        self.assertLess(sum(losses[-6:]), sum(losses[:6]))
        for bits, near in ((32, 1e-5), (8, 0.5)):
            out = self.folder / f"checkpoint{bits}"
            export.save_checkpoint(model.eval(), self.folder / "tokenizer.json", out, bits, {})
            first, again = export.goldens(model, encoder), export.goldens(export.load_checkpoint(out), encoder)
            for a, b in zip(first, again):
                self.assertLess(max(abs(x - y) for x, y in zip(a["rows"][0]["logits"], b["rows"][0]["logits"])), near)

    def test_the_mean_of_models_lies_between_them(self):
        models = [tiny().half().float(), tiny().half().float()]
        with torch.no_grad():
            models[1].scorer[3].bias += 1
        paths = [str(self.folder / f"{i}.pt") for i in range(2)]
        for model, path in zip(models, paths):
            torch.save({"config": vars(model.config), "weights": {k: v.half() for k, v in model.state_dict().items()}}, path)
        out = str(self.folder / "mean.pt")
        with mock.patch("sys.argv", ["average.py", out, *paths]):
            average.main()
        case = evaluate.tensors([{"state": [1, 9, 2], "options": [[20], [21, 22]]}], "cpu")
        with torch.no_grad():
            first, found = models[0](**case), model_module.loaded(out).eval()(**case)
        self.assertLess(float((found - first - 0.5).abs().max()), 1e-3)

    def test_teachers_give_their_mean_probability_and_none_to_padding(self):
        teachers = [tiny(1), tiny(2)]
        batch = evaluate.tensors([{"state": [1, 9, 2], "options": [[20], [21, 22]]}, {"state": [1, 2], "options": [[20], [21], [22]]}], "cpu")
        soft = train.taught(teachers, batch)
        self.assertLess(float((soft.sum(-1) - 1).abs().max()), 1e-5)
        self.assertEqual(float(soft[0, 2]), 0.0)
        with torch.no_grad():
            alone = [t(**batch).softmax(-1) for t in teachers]
        self.assertGreater(float((alone[0] - alone[1]).abs().max()), 1e-4)
        self.assertLess(float((soft - (alone[0] + alone[1]) / 2).abs().max()), 1e-6)

    def test_the_order_of_options_changes_nothing(self):
        model = tiny()
        case = {"state": [1, 9, 8, 2], "options": [[20], [21, 22], [23]]}
        turned = {**case, "options": case["options"][::-1]}
        with torch.no_grad():
            a, b = (model(**evaluate.tensors([c], "cpu"))[0] for c in (case, turned))
        self.assertLess(float((a - b.flip(0)).abs().max()), 1e-5)

    def test_padding_beside_a_longer_state_changes_nothing(self):
        model = tiny()
        short = {"state": [1, 9, 2], "options": [[20], [21, 22]]}
        long = {"state": [1] + [7] * 30 + [2], "options": [[20, 21, 22, 23], [24], [25, 26]]}
        with torch.no_grad():
            alone = model(**evaluate.tensors([short], "cpu"))[0]
            beside = model(**evaluate.tensors([short, long], "cpu"))[0, :2]
        self.assertLess(float((alone - beside).abs().max()), 1e-5)


class Corpus(unittest.TestCase):
    def test_a_tarball_reads_as_the_repository_it_was_made_of(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        repo = Path(held.name) / "garden"
        files = {"LICENSE": "MIT License\n", "README.md": "# Garden\n\n```sh\nmake\npython src/plant.py --rows 3\n```\n", "Makefile": "all:\n",
                 "src/plant.py": "print('seeds')\n", ".github/workflows/ci.yml": "jobs:\n  - run: make test\n"}
        for name, text in files.items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        git = ["git", "-C", str(repo), "-c", "user.name=me", "-c", "user.email=me@example.org"]
        tarball = repo.parent / "garden.tar.gz"
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"], ["archive", "--prefix", "garden-1.0/", "-o", str(tarball), "HEAD"]):
            subprocess.run([*git, *words], check=True)
        found = corpus.extract(str(tarball), "own/garden")
        self.assertEqual(found, corpus.extract(str(repo), "own/garden"))
        licence, rows, tree = found
        self.assertEqual((licence, tree["total"]), ("MIT", 5))
        self.assertIn(["src/plant.py"], [s.get("args") for row in rows for s in row["steps"]])


@unittest.skipIf(MISSING, MISSING)
class Pieces(unittest.TestCase):
    def test_a_step_gives_a_decision_for_each_word(self):
        steps = [{"cwd": ".", "cmd": "git clone https://example.org/garden"}, {"cwd": ".", "cmd": "git add run.sh"}, {"cwd": ".", "cmd": "cat docs/plan.md"}]
        vocabulary = SimpleNamespace(known={"git", "cat"}, commands=["cat", "git"], subs={"git": ["add", "clone", "push"]},
                                     taken=lambda words, at, answer: [answer], lines_of={"git": [], "cat": []})
        rng = random.Random(1)
        found = [d for i in range(3) for d in decisions.of_step(TREE["garden"], steps, i, "own/garden", vocabulary, rng)]
        self.assertIn(("path", "git add ", "run.sh"), [(d["kind"], d["line"], d["answer"]) for d in found])
        self.assertNotIn("plan.md", [d["answer"] for d in found], "the only entry of docs leaves nothing to choose")
        self.assertEqual([d["answer"] for d in found if d["kind"] == "subcommand"], ["clone", "add"])

    def test_long_commands_lose_their_middle(self):
        line = "x" * 50 + " " + "y" * 80
        self.assertEqual(state.shortened(line), "x" * 32 + "…" + "y" * 63)
        self.assertEqual(state.shortened("a\t b\n c"), "a b c")

    def test_ties_count_against_the_answer(self):
        self.assertEqual(evaluate.rank(numpy.array([1.0, 1.0, 0.5]), 0), 1)
        self.assertEqual(evaluate.rank(numpy.array([2.0, 1.0, 0.5]), 0), 0)

    def test_temperatures_calibrate_what_is_too_sure(self):
        scores = [numpy.array([4.0, 0.0, 0.0])] * 40
        answers = [0] * 24 + [1] * 16
        fitted = evaluate.fit_temperatures(scores, answers)
        self.assertGreater(fitted[evaluate.bucket(3)], 1.5)
        self.assertLess(evaluate.calibration_error(scores, answers, fitted), evaluate.calibration_error(scores, answers, {i: 1.0 for i in range(4)}))

    def test_cases_are_prepared_without_the_typed_characters(self):
        with tempfile.TemporaryDirectory() as folder:
            encoder = written(Path(folder))
        case = {"id": "own-1", "kind": "path", "typed": 1, "cwd": "~/garden", "listing": ["run.sh", "read.me"], "recent": [{"cmd": "vim run.sh", "cwd": "~/garden", "exit": 0}],
                "line": "bash r", "candidates": ["read.me", "run.sh", "rose"], "answer": "run.sh"}
        row = next(evaluate.prepare([case], encoder, evaluate.Counts([{"steps": [{"cmd": "bash x.sh"}]}])))
        self.assertEqual(row["state"], encoder.state("word", "~/garden", [], [("vim run.sh", 0)], "bash"))
        self.assertEqual(row["features"][1][evaluate.FEATURES.index("recent")], 1.0)
        json.loads(gzip.decompress(gzip.compress(json.dumps(row).encode())))


if __name__ == "__main__":
    unittest.main()
