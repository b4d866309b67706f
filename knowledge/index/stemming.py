"""Bring English words to the stem that their forms share: Porter2, as the snowballstemmer package has it. Pure."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word (Porter2).

    >>> [stem(word) for word in ("requirements", "required", "policies", "added", "hopping", "generally")]
    ['requir', 'requir', 'polici', 'add', 'hop', 'general']
    """
    from snowballstemmer.english_stemmer import EnglishStemmer  # 0.05 s: all languages come with it

    return str(EnglishStemmer().stemWord(word))  # one per word, for it keeps the word while it works
