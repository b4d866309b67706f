"""The unigram tokenizer of multilingual-e5, in plain Python.

The `tokenizers` package gives the same tokens (a test compares them) but takes three times the memory and twice the
time (docs/adr/0019-hand-written.md). Special tokens such as ``</s>`` are not in this vocabulary: typed in a text they
are ordinary characters.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from knowledge.embedders.bundled.weights import Vocabulary

SPACE = "\u2581"
SPACES = re.compile(" {2,}")
MASK = "<mask>"
# Source: sentencepiece unigram_model.cc, kUnkPenalty.
UNKNOWN_PENALTY = 10.0
LONGEST_STRETCH = 20_000
LONGEST_CACHED_STRETCH = 256
# Pairs of characters share 2 MiB of slots; of the 45,000 pairs inside pieces each takes one.
_SLOTS = 2**21
_SPREAD = np.uint32(2_654_435_761)  # Source: Knuth, The Art of Computer Programming 3, 6.4 (odd, near 2**32 / phi).


class Tokenizer:
    """Split text into the most probable pieces of a unigram vocabulary.

    The text is cut first where no piece can reach across, into stretches of two characters on average that come again
    and again: the best pieces of each, kept, are the best of the whole. Stretches of more than 20,000 characters are
    cut there too, so that memory stays bounded; only around such a cut may the tokens differ from the model's own.
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
        self._is_inside = _pairs_inside(self._ids)
        self._cached_pieces = lru_cache(maxsize=16_384)(self._best_pieces)

    def encode(self, text: str, *, max_tokens: int | None = None) -> list[int]:
        """Return token ids between begin and end tokens; beyond `max_tokens` the pieces are cut off."""
        pieces = self._pieces(text)
        if max_tokens is not None:
            pieces = pieces[: max_tokens - 2]
        return [self._bos, *pieces, self._eos]

    def count(self, text: str) -> int:
        return len(self._pieces(text)) + 2

    def _pieces(self, text: str) -> list[int]:
        """Return the pieces of a text; neighbouring unknowns are one."""
        stretches = self._stretches(text)
        is_long = max(map(len, stretches)) > LONGEST_CACHED_STRETCH
        pieces_of = self._pieces_of_long_stretch if is_long else self._cached_pieces
        pieces = list(chain.from_iterable(map(pieces_of, stretches)))
        if self._unknown not in pieces:
            return pieces
        before = [None, *pieces]
        return [piece for piece, last in zip(pieces, before, strict=False) if piece != self._unknown or last != piece]

    def _stretches(self, text: str) -> list[str]:
        """Cut a text before each space, and between characters that no piece has beside each other."""
        text = SPACES.sub(" ", text.translate(self._replacements)).replace(" ", SPACE)
        if text and not text.startswith(SPACE):
            text = SPACE + text
        codes = _code_points(text)
        joined = self._is_inside[_slots(codes[:-1], codes[1:])] & (codes[1:] != ord(SPACE))
        cuts = (np.flatnonzero(~joined) + 1).tolist()
        return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def _pieces_of_long_stretch(self, stretch: str) -> list[int]:
        if len(stretch) <= LONGEST_CACHED_STRETCH:
            return self._cached_pieces(stretch)
        starts = range(0, len(stretch), LONGEST_STRETCH)
        parts = (self._best_pieces(stretch[start : start + LONGEST_STRETCH]) for start in starts)
        return list(chain.from_iterable(parts))

    def _best_pieces(self, word: str) -> list[int]:
        """Find the pieces with the greatest sum of scores (Viterbi); neighbouring unknowns become one."""
        if len(word) == 1:
            return [self._ids.get(word, self._unknown)]
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


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _slots(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Number pairs of characters. Two pairs may share a number: then a text is cut in fewer places, never in more."""
    slots: NDArray[np.uint32] = (first * _SPREAD + second) % np.uint32(_SLOTS)
    return slots


def _pairs_inside(pieces: Iterable[str]) -> NDArray[np.bool_]:
    """Mark the slots of the pairs of neighbouring characters in any piece."""
    codes = _code_points("\0".join(pieces))
    first, second = codes[:-1], codes[1:]
    within = (first != 0) & (second != 0)
    is_inside = np.zeros(_SLOTS, np.bool_)
    is_inside[_slots(first[within], second[within])] = True
    return is_inside


def _lengths_by_beginning(pieces: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return by two characters the lengths of the pieces that begin with them, in order; few pairs begin a piece."""
    found: dict[str, set[int]] = {}
    for piece in pieces:
        if len(piece) > 1:
            found.setdefault(piece[:2], set()).add(len(piece))
    kept: dict[tuple[int, ...], tuple[int, ...]] = {}  # most pairs have the same few lengths
    ordered = ((beginning, tuple(sorted(lengths))) for beginning, lengths in found.items())
    return {beginning: kept.setdefault(lengths, lengths) for beginning, lengths in ordered}
