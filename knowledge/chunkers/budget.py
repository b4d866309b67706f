"""How much of a chunk's size a text takes, with as few calls of the tokenizer as possible."""

from __future__ import annotations

from collections.abc import Callable

from knowledge.types.chunks import ChunkOptions, SizeUnit

# An ASCII character is about half as many tokens as a Japanese one in multilingual vocabularies; the estimate only
# saves calls, every chunk is counted.
_ASCII_WEIGHT = 0.45
_FAR_TOO_LONG = 16.0
_FIRST_TOKENS_PER_WEIGHT = 0.65


def weight(text: str) -> float:
    """Return a cheap measure that grows about like the number of tokens."""
    ascii_length = len(text.encode("ascii", "ignore"))
    return len(text) - ascii_length + _ASCII_WEIGHT * ascii_length


class Budget:
    """Measures texts as a share of what a chunk may hold: up to 1 fits.

    Sizes in characters may come with a ``token_limit`` besides, the embedding model's own.
    """

    def __init__(
        self, options: ChunkOptions, count_tokens: Callable[[str], int], *, token_limit: int | None = None
    ) -> None:
        self._count_tokens = count_tokens
        self._characters = options.size if options.unit is SizeUnit.CHARACTERS else None
        self._tokens = token_limit if self._characters is not None else min(options.size, token_limit or options.size)
        self._overlap = options.overlap
        self._rate = _FIRST_TOKENS_PER_WEIGHT
        self._last = ("", 0)

    def tokens(self, text: str) -> int:
        """Count tokens exactly and learn from it for the next estimate."""
        if text == self._last[0]:
            return self._last[1]
        count = self._count_tokens(text)
        self._last = (text, count)
        heavy = weight(text)
        if heavy >= 20:
            self._rate = count / heavy
        return count

    def share(self, text: str) -> float:
        """Measure a text exactly, as a share of the budget."""
        by_characters = len(text) / self._characters if self._characters else 0.0
        by_tokens = self.tokens(text) / self._tokens if self._tokens else 0.0
        return max(by_characters, by_tokens)

    def fits(self, text: str) -> bool:
        """Tell whether a text fits, exactly."""
        if self._characters is not None and len(text) > self._characters:
            return False
        return self._tokens is None or self.tokens(text) <= self._tokens

    def estimate(self, text: str) -> float:
        """Guess a text's share of the budget without counting tokens; texts far too long are not even weighed."""
        if len(text) > _FAR_TOO_LONG * (self._characters or self._tokens or 1):
            return _FAR_TOO_LONG
        by_characters = len(text) / self._characters if self._characters else 0.0
        by_tokens = weight(text) * self._rate / self._tokens if self._tokens else 0.0
        return max(by_characters, by_tokens)

    def likely_end(self, text: str, start: int, end: int) -> int:
        """Guess an end at which ``text[start:…]`` just fills the budget, or return ``end``."""
        length = 64
        while start + length < end and self.estimate(text[start : start + length]) < 1.0:
            length += max(length // 5, 64)
        return min(start + length, end)

    def within_overlap(self, text: str) -> bool:
        """Guess whether a text is short enough to be repeated in the next chunk."""
        size = len(text) if self._characters is not None else weight(text) * self._rate
        return size <= self._overlap
