"""English words that a question is asked with, and that say nothing of what it asks for."""

from __future__ import annotations

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
