"""The network: a ModernBERT-like encoder in the `cached` layout, a head over the options, one logit each.

Shapes: B states, S state tokens, Q option tokens (all options of a state in a row), N options.
State tokens see the state alone. An option token sees the state and its own option. Every option
starts at the position after the state's last token. Parameter names are those of Laya checkpoints.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    vocab_size: int = 8192
    hidden_size: int = 256
    intermediate_size: int = 512
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    head_layers: int = 1
    rope_theta: float = 10000.0
    norm_eps: float = 1e-5
    dropout: float = 0.1

    def encoder_json(self):
        return {"model_type": "modernbert", "vocab_size": self.vocab_size, "hidden_size": self.hidden_size,
                "intermediate_size": self.intermediate_size, "num_hidden_layers": self.num_hidden_layers,
                "num_attention_heads": self.num_attention_heads, "local_attention": 128, "global_attn_every_n_layers": 1,
                "global_rope_theta": self.rope_theta, "local_rope_theta": self.rope_theta, "max_position_embeddings": 512,
                "norm_eps": self.norm_eps, "hidden_activation": "gelu"}


def rotate(x, cos, sin):
    """RoPE, halves apart (not interleaved); x is [B, heads, T, d], cos and sin [B, 1, T, d/2]."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


def bias(seen):
    """What attention adds to its scores: 0 for what is seen, a large negative number for the rest."""
    kind = torch.get_autocast_dtype(seen.device.type) if torch.is_autocast_enabled(seen.device.type) else torch.float32
    return torch.zeros(seen.shape, dtype=kind, device=seen.device).masked_fill(~seen, -1e4)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.num_attention_heads
        self.Wqkv = nn.Linear(c.hidden_size, 3 * c.hidden_size, bias=False)
        self.Wo = nn.Linear(c.hidden_size, c.hidden_size, bias=False)

    def split(self, x):
        b, t, d = x.shape
        return self.Wqkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)

    def merge(self, y):
        return self.Wo(y.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.Wi = nn.Linear(c.hidden_size, 2 * c.intermediate_size, bias=False)
        self.Wo = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x):
        value, gate = self.Wi(x).chunk(2, -1)
        return self.Wo(F.gelu(value) * gate)


class Layer(nn.Module):
    def __init__(self, c, i):
        super().__init__()
        self.attn_norm = nn.Identity() if i == 0 else nn.LayerNorm(c.hidden_size, eps=c.norm_eps, bias=False)
        self.attn = Attention(c)
        self.mlp_norm = nn.LayerNorm(c.hidden_size, eps=c.norm_eps, bias=False)
        self.mlp = Mlp(c)
        self.drop = nn.Dropout(c.dropout)

    def forward(self, s, o, place):
        """One layer over the state `s` and, when given, the option tokens `o`."""
        q, k, v = self.attn.split(self.attn_norm(s))
        k = rotate(k, *place["state_rope"])
        y = F.scaled_dot_product_attention(rotate(q, *place["state_rope"]), k, v, attn_mask=place["state_mask"])
        s = s + self.drop(self.attn.merge(y))
        s = s + self.drop(self.mlp(self.mlp_norm(s)))
        if o is None:
            return s, None
        q, ko, vo = self.attn.split(self.attn_norm(o))
        ko = rotate(ko, *place["option_rope"])
        y = F.scaled_dot_product_attention(rotate(q, *place["option_rope"]), torch.cat((k, ko), 2), torch.cat((v, vo), 2), attn_mask=place["option_mask"])
        o = o + self.drop(self.attn.merge(y))
        return s, o + self.drop(self.mlp(self.mlp_norm(o)))


class Embeddings(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok_embeddings = nn.Embedding(c.vocab_size, c.hidden_size)
        self.norm = nn.LayerNorm(c.hidden_size, eps=c.norm_eps, bias=False)

    def forward(self, ids):
        return self.norm(self.tok_embeddings(ids))


class Encoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embeddings = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c, i) for i in range(c.num_hidden_layers))
        self.final_norm = nn.LayerNorm(c.hidden_size, eps=c.norm_eps, bias=False)


class HeadAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.heads = max(1, d // 64)
        self.in_proj = nn.Linear(d, 3 * d)
        self.out_proj = nn.Linear(d, d)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.in_proj(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return self.out_proj(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, t, d))


class HeadLayer(nn.Module):
    def __init__(self, d, dropout):
        super().__init__()
        self.self_attn = HeadAttention(d)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.linear1, self.linear2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = x + self.drop(self.self_attn(self.norm1(x), mask))
        return x + self.drop(self.linear2(F.relu(self.linear1(self.norm2(x)))))


class Head(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.layers = nn.ModuleList(HeadLayer(c.hidden_size, c.dropout) for _ in range(c.head_layers))


class DecisionModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c.hidden_size
        self.config, self.encoder, self.head = c, Encoder(c), Head(c)
        self.type_emb = nn.Embedding(3, d)
        self.scorer = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, 1))
        self.act_head = nn.Sequential(nn.Linear(d + 4, 256), nn.GELU(), nn.Linear(256, 2))
        self.drop = nn.Dropout(c.dropout)
        self.apply(self.start)
        for p in self.act_head.parameters():  # kept for the format; this family does not use it
            nn.init.zeros_(p)
            p.requires_grad_(False)

    def start(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, 0, 0.02 if isinstance(m, nn.Embedding) else 1 / math.sqrt(m.weight.shape[1]) * 0.7)
        if isinstance(m, nn.Linear) and m.bias is not None:
            nn.init.zeros_(m.bias)

    def rope(self, positions):
        half = self.config.hidden_size // self.config.num_attention_heads // 2
        speed = self.config.rope_theta ** -(torch.arange(half, device=positions.device, dtype=torch.float32) / half)
        angle = positions[:, None, :, None].float() * speed
        return angle.cos(), angle.sin()

    def encode(self, state, length, option=None, owner=None, position=None):
        """state [B,S] ids, length [B]; option, owner (number of the option, -1 for padding) and position [B,Q]."""
        at = torch.arange(state.shape[1], device=state.device)
        real = at[None] < length[:, None]
        place = {"state_rope": self.rope(at[None]), "state_mask": bias(real[:, None, None])}
        s, o = self.drop(self.encoder.embeddings(state)), None
        if option is not None:
            same = (owner[:, :, None] == owner[:, None, :])
            seen = torch.cat((real[:, None].expand(-1, option.shape[1], -1), same), 2)
            place |= {"option_rope": self.rope(length[:, None] + position), "option_mask": bias(seen[:, None])}
            o = self.drop(self.encoder.embeddings(option))
        for layer in self.encoder.layers:
            s, o = layer(s, o, place)
        return self.encoder.final_norm(s), None if o is None else self.encoder.final_norm(o)

    def forward(self, state, length, option, owner, position, marker, count):
        """Logits [B,N]; marker [B,N] are places in the option tokens, count [B] the real options."""
        s, o = self.encode(state, length, option, owner, position)
        markers = o.gather(1, marker[:, :, None].expand(-1, -1, o.shape[2]))
        x = torch.cat((s[:, :1], markers), 1) + self.type_emb.weight[0]  # the state's [CLS], then the options
        real = torch.arange(marker.shape[1], device=marker.device)[None] < count[:, None]
        seen = torch.cat((real[:, :1], real), 1)[:, None, None]
        for layer in self.head.layers:
            x = layer(x, seen)
        with torch.autocast(x.device.type, enabled=False):  # bf16 scores tie: the last layers are f32
            logits = self.scorer(x[:, 1:].float()).squeeze(-1)
        return logits.masked_fill(~real, -1e4)


def loaded(path, device="cpu"):
    """A trained network from its model16.pt."""
    kept = torch.load(path, map_location=device)
    model = DecisionModel(Config(**kept["config"])).to(device)
    model.load_state_dict({k: v.float() for k, v in kept["weights"].items()})
    return model
