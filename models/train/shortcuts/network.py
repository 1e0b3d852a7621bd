"""The network: a BERT encoder that reads every text alone, and a head that compares a phrase with options.

Shapes: B texts of T tokens, N options. Parameter names are those of the checkpoint (layout `separate`, see crates/model).
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(str(Path(__file__).parents[1]))
from model import Head  # noqa: E402

PAD = 1


@dataclass
class Config:
    vocab_size: int = 22000
    hidden_size: int = 384
    intermediate_size: int = 1536
    num_hidden_layers: int = 6
    num_attention_heads: int = 12
    max_position_embeddings: int = 64
    head_layers: int = 2
    dropout: float = 0.1
    layer_norm_eps: float = 1e-12
    from_layers: list = field(default_factory=lambda: [0, 2, 4, 6, 8, 11])

    def encoder_json(self):
        names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "layer_norm_eps",
                 "max_position_embeddings")
        return {"model_type": "bert", "hidden_act": "gelu", "type_vocab_size": 1} | {n: getattr(self, n) for n in names}


class SelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.num_attention_heads
        self.query, self.key, self.value = (nn.Linear(c.hidden_size, c.hidden_size) for _ in range(3))

    def forward(self, x, seen):
        q, k, v = (f(x).view(*x.shape[:2], self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(2)


class Output(nn.Module):
    """A projection back to the residual stream and the norm behind it."""

    def __init__(self, width, c):
        super().__init__()
        self.dense = nn.Linear(width, c.hidden_size)
        self.LayerNorm = nn.LayerNorm(c.hidden_size, eps=c.layer_norm_eps)
        self.drop = nn.Dropout(c.dropout)

    def forward(self, y, x):
        return self.LayerNorm(x + self.drop(self.dense(y)))


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self, self.output = SelfAttention(c), Output(c.hidden_size, c)


class Intermediate(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.dense = nn.Linear(c.hidden_size, c.intermediate_size)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.attention, self.intermediate, self.output = Attention(c), Intermediate(c), Output(c.intermediate_size, c)

    def forward(self, x, seen):
        x = self.attention.output(self.attention.self(x, seen), x)
        return self.output(F.gelu(self.intermediate.dense(x)), x)


class Embeddings(nn.Module):
    def __init__(self, c, types):
        super().__init__()
        self.word_embeddings = nn.Embedding(c.vocab_size, c.hidden_size)
        self.position_embeddings = nn.Embedding(c.max_position_embeddings, c.hidden_size)
        self.token_type_embeddings = nn.Embedding(types, c.hidden_size)
        self.LayerNorm = nn.LayerNorm(c.hidden_size, eps=c.layer_norm_eps)
        self.drop = nn.Dropout(c.dropout)

    def forward(self, ids):
        at = torch.arange(ids.shape[1], device=ids.device)
        x = self.word_embeddings(ids) + self.position_embeddings(at) + self.token_type_embeddings.weight[0]
        return self.drop(self.LayerNorm(x))


class Layers(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.layer = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))


class Encoder(nn.Module):
    def __init__(self, c, types=1):
        super().__init__()
        self.embeddings, self.encoder = Embeddings(c, types), Layers(c)

    def forward(self, ids):
        """Hidden states [B,T,d] and vectors [B,d] of length sqrt(d)."""
        real = ids != PAD
        x = self.embeddings(ids)
        for layer in self.encoder.layer:
            x = layer(x, real[:, None, None])
        x = x.float()
        mean = (x * real[:, :, None]).sum(1) / real.sum(1, keepdim=True)
        return x, F.normalize(mean, dim=1) * x.shape[2] ** 0.5


class ShortcutModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c.hidden_size
        self.config, self.encoder, self.head = c, Encoder(c), Head(c)
        self.type_emb = nn.Embedding(3, d)
        self.scorer = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, 1))
        self.act_head = nn.Sequential(nn.Linear(d + 4, 256), nn.GELU(), nn.Linear(256, 2))
        for part in (self.head, self.scorer):
            for m in part.modules():
                if isinstance(m, nn.Linear):
                    nn.init.normal_(m.weight, 0, 0.7 / m.weight.shape[1] ** 0.5)
                    nn.init.zeros_(m.bias)
        nn.init.normal_(self.type_emb.weight, 0, 0.02)
        for p in self.act_head.parameters():  # kept for the format; this model does not use it
            nn.init.zeros_(p)
            p.requires_grad_(False)

    def compare(self, hidden, ids, options):
        """Logits [B,N] of `options` [B,N,d] for phrases with hidden states [B,T,d] and tokens [B,T]."""
        x = torch.cat((hidden + self.type_emb.weight[0], options + self.type_emb.weight[1]), 1)
        real = torch.cat((ids != PAD, torch.ones(options.shape[:2], dtype=torch.bool, device=ids.device)), 1)
        for layer in self.head.layers:
            x = layer(x, real[:, None, None])
        with torch.autocast(x.device.type, enabled=False):  # bf16 scores tie: the last layers are f32
            return self.scorer(x[:, hidden.shape[1]:].float()).squeeze(-1)
