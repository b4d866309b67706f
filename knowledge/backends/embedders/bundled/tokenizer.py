"""The unigram tokenizer of multilingual-e5, in plain Python.

The `tokenizers` package gives the same tokens (a test compares them) but takes 280 MB of memory. Special
tokens such as ``</s>`` are not in this vocabulary: typed in a text they are ordinary characters.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

from knowledge.backends.embedders.bundled.weights import Vocabulary

SPACE = "\u2581"
SPACES = re.compile(" {2,}")
WORD = re.compile(f"{SPACE}?[^{SPACE}]+|{SPACE}")
MASK = "<mask>"
# Source: sentencepiece unigram_model.cc, kUnkPenalty.
UNKNOWN_PENALTY = 10.0
LONGEST_WORD = 20_000
LONGEST_CACHED_WORD = 256


class Tokenizer:
    """Split text into the most probable pieces of a unigram vocabulary.

    Words (runs without white space; a Japanese paragraph is one) of more than 20,000 characters are cut there
    first, so that memory stays bounded; only around such a cut may the tokens differ from the model's own.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        special = {vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unknown}
        self._ids = {piece: i for i, piece in enumerate(vocabulary.pieces) if i not in special and piece != MASK}
        self._scores = vocabulary.scores
        self._replacements = vocabulary.replacements
        self._bos = vocabulary.bos
        self._eos = vocabulary.eos
        self._unknown = vocabulary.unknown
        self._unknown_score = min(vocabulary.scores) - UNKNOWN_PENALTY
        self._lengths_from = _lengths_by_beginning(self._ids)
        self._cached_pieces = lru_cache(maxsize=8192)(self._best_pieces)

    def encode(self, text: str, *, max_tokens: int | None = None) -> list[int]:
        """Return token ids between begin and end tokens; beyond `max_tokens` the pieces are cut off."""
        pieces: Iterator[int] = chain.from_iterable(self._pieces(text))
        if max_tokens is not None:
            pieces = islice(pieces, max_tokens - 2)
        return [self._bos, *pieces, self._eos]

    def count(self, text: str) -> int:
        """Count what `encode` returns."""
        return sum(map(len, self._pieces(text))) + 2

    def _pieces(self, text: str) -> Iterator[list[int]]:
        """Give the pieces of a text, word by word."""
        text = SPACES.sub(" ", text.translate(self._replacements)).replace(" ", SPACE)
        if text and not text.startswith(SPACE):
            text = SPACE + text
        for match in WORD.finditer(text):
            word = match.group()
            if len(word) <= LONGEST_CACHED_WORD:
                yield self._cached_pieces(word)
                continue
            for start in range(0, len(word), LONGEST_WORD):
                yield self._best_pieces(word[start : start + LONGEST_WORD])

    def _best_pieces(self, word: str) -> list[int]:
        """Find the pieces with the greatest sum of scores (Viterbi); neighbouring unknowns become one."""
        starts, ids = self._best_last_pieces(word)
        pieces: list[int] = []
        end = len(word)
        while end:
            piece = ids[end]
            if piece != self._unknown or not pieces or pieces[-1] != piece:
                pieces.append(piece)
            end = starts[end]
        pieces.reverse()
        return pieces

    def _best_last_pieces(self, word: str) -> tuple[list[int], list[int]]:
        """For each end in the word, give start and id of the last piece on the best path to it."""
        length = len(word)
        best = [-1e30] * (length + 1)
        best[0] = 0.0
        starts = [0] * (length + 1)
        ids = [self._unknown] * (length + 1)
        find, scores, lengths_from = self._ids.get, self._scores, self._lengths_from.get
        for start in range(length):
            so_far = best[start]
            alone = find(word[start], self._unknown)
            score = so_far + (self._unknown_score if alone == self._unknown else scores[alone])
            if score > best[start + 1]:
                best[start + 1], starts[start + 1], ids[start + 1] = score, start, alone
            for piece_length in lengths_from(word[start : start + 2], ()):
                end = start + piece_length
                if end > length:
                    break
                piece = find(word[start:end])
                if piece is None:
                    continue
                score = so_far + scores[piece]
                if score > best[end]:
                    best[end], starts[end], ids[end] = score, start, piece
        return starts, ids


def _lengths_by_beginning(pieces: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Give by two characters the lengths of the pieces that begin with them, in order; few pairs begin a piece."""
    found: dict[str, set[int]] = {}
    for piece in pieces:
        if len(piece) > 1:
            found.setdefault(piece[:2], set()).add(len(piece))
    kept: dict[tuple[int, ...], tuple[int, ...]] = {}  # most pairs have the same few lengths
    ordered = ((beginning, tuple(sorted(lengths))) for beginning, lengths in found.items())
    return {beginning: kept.setdefault(lengths, lengths) for beginning, lengths in ordered}
