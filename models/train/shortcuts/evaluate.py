"""Scores a model on phrases: right and sure, among the first three, wrongly sure, and how well calibrated."""

import torch
import torch.nn.functional as F

THRESHOLD = 0.85
SHORTLIST = 16


def temperature(logits, answer):
    """The temperature (0.5 to 5) at which the answers are likeliest."""
    grid = torch.linspace(0.5, 5.0, 91)
    losses = [F.cross_entropy(logits / t, answer).item() for t in grid]
    return float(grid[min(range(len(losses)), key=losses.__getitem__)])


def calibration_error(sure, right, bins=15):
    """Expected calibration error (Naeini et al. 2015) over bins of equal width."""
    place = (sure * bins).long().clamp(0, bins - 1)
    gap = 0.0
    for k in range(bins):
        inside = place == k
        if inside.any():
            gap += float(inside.float().mean() * (sure[inside].mean() - right[inside].float().mean()).abs())
    return gap


@torch.no_grad()
def decide(model, ids, options, none, autocast):
    """(logits [B, SHORTLIST + 1] with none last, the shortlist [B, SHORTLIST]) for phrases and kept option vectors."""
    with autocast():
        hidden, said = model.encoder(ids)
        near = F.normalize(said, dim=1) @ F.normalize(options, dim=1).T
        listed = near.topk(min(SHORTLIST, near.shape[1]), 1).indices
        chosen = torch.cat((options[listed], none.expand(len(ids), 1, -1)), 1)
        return model.compare(hidden, ids, chosen).float().cpu(), listed.cpu()


def report(logits, listed, labels, languages, heat):
    """Shares by language for labels (-1: nothing fits) at a temperature."""
    p = (logits / heat).softmax(1)
    best = p.argmax(1)
    padded = torch.cat((listed, torch.full((len(listed), 1), -1)), 1)
    answer = padded.gather(1, best[:, None])[:, 0]
    sure = p.max(1).values
    order = p[:, :-1].topk(min(3, listed.shape[1]), 1).indices
    in_three = (listed.gather(1, order) == labels[:, None]).any(1)
    accepted = (answer >= 0) & (sure >= THRESHOLD)
    out = {"temperature": round(heat, 2), "ece": round(calibration_error(sure, answer == labels), 4)}
    known = labels >= 0
    out["false_accepts"] = round(accepted[~known].float().mean().item(), 4)
    for lang in dict.fromkeys(languages):
        mine = torch.tensor([x == lang for x in languages]) & known
        if mine.any():
            hit = (answer == labels)[mine]
            out[lang] = {"cases": int(mine.sum()), "top1": round(hit.float().mean().item(), 4),
                         "accepted": round((hit & accepted[mine]).float().mean().item(), 4), "top3": round(in_three[mine].float().mean().item(), 4)}
    return out


@torch.no_grad()
def judge(model, tasks, autocast):
    """The reports on both judged sets; the temperature is fitted on the one to choose by."""
    model.eval()
    with autocast():
        options = model.encoder(tasks.text["options"][tasks.english].long())[1]
        none = model.encoder(tasks.none)[1]
    out, heat = {}, None
    for split, rows in tasks.judged.items():
        ids, labels = tasks.text["judged"][rows].long(), tasks.judged_labels[rows]
        logits, listed = decide(model, ids, options, none, autocast)
        inside = (labels < 0) | (listed == labels[:, None]).any(1)
        if heat is None:
            answer = torch.where(labels < 0, listed.shape[1], (listed == labels[:, None]).float().argmax(1))
            heat = temperature(logits[inside], answer[inside])
        found = report(logits, listed, labels, [tasks.judged_languages[i] for i in rows], heat)
        out[split] = {"shortlisted": round(inside.float().mean().item(), 4)} | found
    return out
