"""How many tokens a request will take, before anybody is asked.

A first guess goes by script. It was fitted to two vocabularies of 250,000 entries, multilingual-e5's and Gemma 3's,
on Japanese guides and specifications in pieces of 4,000 characters: within ±20 % for five pieces in six of the one and
nine in ten of the other, at worst 34 % too low (tables of empty cells). Vocabularies differ by a third from each other,
so what a provider counts corrects the guess for its model from the first answer on.
"""

from __future__ import annotations

import re

from hub.llm.types import LlmRequest

_WEIGHTS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"[A-Za-z\u00c0-\u024f]+"), 0.75),  # a word, and its letters
    (re.compile(r"[A-Za-z\u00c0-\u024f]"), 0.08),
    (re.compile(r"[0-9０-９]"), 0.6),
    (re.compile(r"[\u3041-\u309f]"), 0.6),
    (re.compile(r"[\u30a0-\u30ff]"), 0.45),
    (re.compile(r"[\uff66-\uff9f]"), 1.0),  # half-width katakana: no vocabulary has words of them
    (re.compile(r"[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"), 0.75),
    (re.compile(r"[\uac00-\ud7a3\u0370-\u1fff]"), 0.6),
    (re.compile(r"([^\w\s]|_)\1*"), 0.8),  # a rule or a frame is one piece, however long
    (re.compile(r"(?<=([^\w\s]))\1"), 0.06),
    (re.compile(r"(?<=\S) {2,16}| {16}"), 0.9),  # what fills up a column; one space belongs to its word
    (re.compile(r"\u3000"), 2.0),  # in the cells of tables; vocabularies write it in bytes
    (re.compile(r"(?<!\s)[^\S\n]*+\n\s*+"), 0.4),
)
# Role names and separators. Source: OpenAI cookbook, "How to count tokens": 3 for each message, 3 for the answer.
PER_MESSAGE = 4
# Source: OpenAI, "Images and vision": 765 tokens for 1024 × 1024 in high detail, 1,105 for 2048 × 4096.
PER_IMAGE = 1000


def estimate_text_tokens(text: str) -> int:
    """Estimate the tokens of a text, for a vocabulary that nobody has met yet.

    >>> estimate_text_tokens("応答時間は3秒以内とする。")
    9
    """
    return round(sum(weight * sum(1 for _match in pattern.finditer(text)) for pattern, weight in _WEIGHTS))


def estimate_request_tokens(request: LlmRequest) -> int:
    """Estimate the input tokens of a request, its pictures included, before the correction for its model."""
    texts = sum(estimate_text_tokens(message.text) + PER_MESSAGE for message in request.messages)
    return texts + PER_IMAGE * sum(len(message.images) for message in request.messages)
