"""What a training step asks: our phrases, phrases of public sets, and texts that mean the same."""

from dataclasses import dataclass

import torch

WEIGHT = {"en": 1.6, "zh": 1.6, "de": 0.6, "fr": 0.6, "es": 0.6, "ja": 0.6}  # how often a language is asked


@dataclass
class Group:
    """Phrases [B,T], options [N,T], for each phrase the right option or -1, options [B,N] that must not count as wrong."""

    name: str
    phrases: torch.Tensor
    options: torch.Tensor
    target: torch.Tensor
    drop: float
    clash: torch.Tensor | None = None


class Tasks:
    def __init__(self, pack, table, device, seed, size=1.0):
        self.size, self.device, self.rng = size, device, torch.Generator().manual_seed(seed)
        self.text = {name: torch.tensor(pack[name].astype("int32"), device=device) for name in pack.files}
        self.plain, self.plain_teacher, self.none = (self.text[n] for n in ("plain", "plain_teacher", "none"))
        self.lengths = (self.plain != 1).sum(1).cpu()
        self.none = self.none.long()
        self.names = table["names"]
        self.labels = torch.tensor([label for label, _, _ in table["phrases"]])
        self.languages = [lang for _, lang, _ in table["phrases"]]
        known = self.labels >= 0
        self.sets(known, ~known)
        self.judged = {split: [k for k, row in enumerate(table["judged"]) if row[0] == split] for split in ("choose", "test")}
        self.judged_labels = torch.tensor([label for _, label, _ in table["judged"]])
        self.judged_languages = [lang for _, _, lang in table["judged"]]
        self.option_ids = torch.tensor([i for i, _ in table["options"]])
        self.option_languages = [lang for _, lang in table["options"]]
        self.by_shortcut = [[k for k, i in enumerate(self.option_ids.tolist()) if i == n] for n in range(len(self.names))]
        self.english = [next(k for k in rows if self.option_languages[k] == "en") for rows in self.by_shortcut]
        self.group_start = torch.tensor([0, *table["groups"]]).cumsum(0)
        self.intents(table["sets"])

    def sets(self, known, none):
        """How likely each phrase is drawn: rare shortcuts and languages more often than their number says."""
        weight = torch.tensor([WEIGHT[lang] for lang in self.languages])
        pairs = {}
        for place in known.nonzero()[:, 0].tolist():
            pairs.setdefault((int(self.labels[place]), self.languages[place]), []).append(place)
        self.known_weight = torch.zeros(len(self.labels))
        for places in pairs.values():
            self.known_weight[places] = weight[places[0]] * len(places) ** -0.4
        self.none_weight = weight * none

    def intents(self, sets):
        self.intent_of, at = {}, 0
        for number, (source, count) in enumerate(sets):
            self.intent_of.setdefault(source, []).append((number, at, count))
            at += count
        self.sources = [s for s, found in self.intent_of.items() if len(found) >= 6]

    def pick(self, high, count):
        return torch.randint(high, (count,), generator=self.rng)

    def draw(self, weight, count):
        return torch.multinomial(weight, count, replacement=True, generator=self.rng)

    def plain_rows(self, batch):
        """Numbers of plain texts of about the same length."""
        rows = self.pick(len(self.plain), batch * 8)
        rows = rows[self.lengths[rows].argsort()]
        part = int(self.pick(8, 1)) * batch
        return rows[part:part + batch].to(self.device)

    def step(self):
        known, none, outside, alike, public = (max(2, int(n * self.size)) for n in (384, 160, 96, 256, 160))
        return [self.ours(known, none, outside), self.alike(alike), self.public(public)]

    def ours(self, known, none, outside):
        variants = self.text["phrases"].shape[1]
        rows = torch.cat((self.draw(self.known_weight, known), self.draw(self.none_weight, none)))
        own = self.text["phrases"][rows.to(self.device), self.pick(variants, len(rows)).to(self.device)]
        other = self.text["outside"][self.pick(len(self.text["outside"]), outside).to(self.device)]
        target = torch.cat((self.labels[rows], torch.full((outside,), -1)))
        options = [rows[int(self.pick(len(rows), 1))] if float(torch.rand(1, generator=self.rng)) < 0.4 else english
                   for rows, english in zip(self.by_shortcut, self.english)]
        return Group("ours", torch.cat((own, other)).long(), self.text["options"][options].long(), target.to(self.device), 0.08)

    def alike(self, count):
        groups = self.pick(len(self.group_start) - 1, count).unique()
        first, size = self.group_start[groups], self.group_start[groups + 1] - self.group_start[groups]
        a = (torch.rand(len(groups), generator=self.rng) * size).long()
        b = (a + 1 + (torch.rand(len(groups), generator=self.rng) * (size - 1)).long()) % size
        same = self.text["same"]
        options = same[(first + b).to(self.device)].long()
        target = torch.arange(len(groups), device=self.device)
        clash = (options[:, None] == options[None]).all(2)
        clash.fill_diagonal_(False)
        return Group("alike", same[(first + a).to(self.device)].long(), options, target, 0.15, clash)

    def public(self, count):
        source = self.sources[int(self.pick(len(self.sources), 1))]
        found = self.intent_of[source]
        chosen = [found[i] for i in torch.randperm(len(found), generator=self.rng)[:40]]
        which = self.pick(len(chosen), count)
        rows = torch.tensor([chosen[i][1] + int(self.pick(chosen[i][2], 1)) for i in which])
        names = torch.tensor([number for number, _, _ in chosen])
        return Group("public", self.text["intent_texts"][rows.to(self.device)].long(), self.text["intent_names"][names.to(self.device)].long(),
                     which.to(self.device), 0.15)
