"""Averages the weights of trained models that began with the same weights.

    average.py OUT.pt MODEL16.pt MODEL16.pt ...

Models trained on from one start lie close enough for their mean to be a model, often better than each
(Wortsman et al. 2022, "Model soups"; arXiv 2203.05482).
"""

import sys

import torch


def main():
    out, *paths = sys.argv[1:]
    kept = [torch.load(path, map_location="cpu") for path in paths]
    weights = {k: sum(m["weights"][k].float() for m in kept).div(len(kept)).half() for k in kept[0]["weights"]}
    torch.save({"config": kept[0]["config"], "weights": weights}, out)


if __name__ == "__main__":
    main()
