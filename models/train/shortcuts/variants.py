"""Other ways in which the same phrase reaches the model: typos, small words around it, dropped words, no spaces."""

AROUND = {
    "en": (("please ", "can you ", "could you ", "hey ", "i want to ", "i need to ", "pls ", "ok ", "now ", "just ", "quick, ", "um ", "let's "),
           (" please", " now", " for me", " thanks", " pls", " asap", "!", "?", " quickly", " again", " real quick", ".")),
    "zh": (("请", "帮我", "麻烦", "给我", "快", "我想", "能不能", "可以", "来，", "那个", "请帮我", "赶紧"), ("吧", "一下", "谢谢", "！", "？", "呗", "啊", "好吗", "。", "哈", "呢", "行不")),
    "de": (("bitte ", "kannst du ", "mal ", "ich will ", "jetzt "), (" bitte", " jetzt", " mal", "!", " danke")),
    "fr": (("s'il te plaît ", "peux-tu ", "stp ", "je veux ", "allez "), (" stp", " maintenant", " svp", "!", " merci")),
    "es": (("por favor ", "puedes ", "quiero ", "oye ", "venga "), (" por favor", " ahora", " porfa", "!", " gracias")),
    "ja": (("ちょっと", "すみません", "今すぐ", "早く"), ("お願い", "してください", "ください", "！", "ね", "して")),
}
NEAR = {a: b for a, b in zip("qwertyuiopasdfghjklzxcvbnm", "wertyuiopqsdfghjkladxcvbnmz")}


def typo(text, rng):
    """One slip of the fingers."""
    places = [i for i, c in enumerate(text) if c.isalpha()]
    if len(places) < 4:
        return text
    i = rng.choice(places[1:] if rng.random() < 0.8 else places)
    kind = rng.random()
    if kind < 0.3:
        return text[:i] + text[i + 1:]
    if kind < 0.6 and i + 1 < len(text):
        return text[:i] + text[i + 1] + text[i] + text[i + 2:]
    if kind < 0.8:
        return text[:i] + text[i] + text[i:]
    return text[:i] + NEAR.get(text[i].lower(), text[i]) + text[i + 1:]


def variant(text, lang, rng):
    """`text`, changed a little more often than not; `lang` says which small words fit."""
    roll, joined = rng.random(), lang in ("zh", "ja")
    if rng.random() < 0.22:
        before, after = AROUND[lang]
        text = rng.choice(before) + text if rng.random() < 0.5 else text + rng.choice(after)
    if roll < 0.22:
        text = typo(text, rng)
        if len(text) > 18 and rng.random() < 0.4:
            text = typo(text, rng)
    elif roll < 0.30 and not joined:
        words = text.split(" ")
        if len(words) > 4:
            words.pop(rng.randrange(len(words)))
        text = " ".join(words)
    elif roll < 0.34:
        text = text.replace(" ", "", 1) if not joined else text.rstrip("。！？")
    elif roll < 0.40:
        text = text.rstrip(".!?。！？") + rng.choice(("", ".", "!", "?", "..."))
    return text
