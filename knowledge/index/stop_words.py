"""English words that a question is asked with, and that say nothing of what it asks for."""

from __future__ import annotations

import re

# Source: Snowball's list of English stop words, snowballstem.org/algorithms/english/stop.txt, without short forms.
_SNOWBALL = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being
have has had having do does did doing would should could ought a an the and but if or because as until while of at by
for with about against between into through during before after above below to from up down in out on off over under
again further then once here there when where why how all any both each few more most other some such no nor not only
own same so than too very
"""
# What asks with those: how many, may one, which of whose.
_ALSO_ASKING = "can done how into long many may much must often shall whose will"

ENGLISH_STOP_WORDS = frozenset(f"{_SNOWBALL} {_ALSO_ASKING}".split())

# Of a question in English; two words may be a name or an entry of a menu (Sign in).
LEAST_WORDS = 3
_WORD = re.compile(r"(?<!\S)[a-z']+(?=[?!.,:;]*(?:\s|$))")
JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")


def is_english(question: str) -> bool:
    """Tell whether a question is put in English: without a Japanese letter, and with words that only English asks with.

    >>> is_english("How often is it backed up?"), is_english("AWS Lambda VPC"), is_english("NFR-004 の on-premise 要件")
    (True, False, False)
    """
    words = _WORD.findall(question.casefold())
    return len(words) >= LEAST_WORDS and not ENGLISH_STOP_WORDS.isdisjoint(words) and not JAPANESE.search(question)
