"""Weights as a checkpoint stores them.

8-bit: a matrix NAME is stored as NAME.q8 (I8, rows x columns) and NAME.scale (F32, rows x 1): one
symmetric scale a row, whole numbers -127..127. Vectors stay F32.
"""

import torch


def quantised(value):
    scale = value.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
    return torch.round(value / scale).clamp(-127, 127).to(torch.int8), scale


def tensors(model, bits):
    """Names and values to store; `temperature` is the format's buffer."""
    out = {}
    for name, value in model.state_dict().items():
        value = value.float().contiguous()
        if value.ndim == 2 and bits == 8:
            out[name + ".q8"], out[name + ".scale"] = quantised(value)
        else:
            out[name] = value
    out["temperature"] = torch.ones(3)
    return out
