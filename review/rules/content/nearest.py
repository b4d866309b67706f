"""How well the ontology knows a document's headings, and the lines nearest to a topic that no name shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from knowledge.ontology.coverage import TopicJudgement
from knowledge.ontology.titles import names_topic
from knowledge.text.folding import narrow
from knowledge.text.outline import apparatus, contents_ids, inside, is_history
from knowledge.text.structure import line_span
from knowledge.types.requirements import Topic
from review.rules.base import shipped
from review.rules.prose import read_prose
from review.types import RuleInput, Span

_LEAST_HEADINGS = 0.2
_LEAST_TOPICS = 0.3
_WORD = re.compile(r"[一-龯々]{2,}|[ァ-ヴー]{3,}|[A-Za-z]{3,}")
_MOST_SHOWN = 3
_FEWEST_WORDS = 2
_MOST_MATCHES = 2000


def is_hardly_known(target: RuleInput, judged: Sequence[TopicJudgement]) -> bool:
    """Whether few of the headings name a topic and few topics have a heading: then names decide little."""
    return _known_share(target) < _LEAST_HEADINGS and sum(each.by_heading for each in judged) < _LEAST_TOPICS * len(
        judged
    )


def _known_share(target: RuleInput) -> float:
    contents = contents_ids(target.text, target.sections)
    titles = [each.title for each in target.sections if each.id not in contents and not is_history(each)]
    known = sum(any(names_topic(title, topic) for topic in target.topics) for title in titles)
    return known / len(titles) if titles else 0.0


def nearest_lines(target: RuleInput, topic: Topic) -> tuple[Span, ...]:
    """Return the lines that hold most words of what a treatment of the topic is made of, in the text's order."""
    words = _words(topic)
    if not words:
        return ()
    skipped = apparatus(target.text, target.sections)
    plain = narrow(read_prose(target.text, target.blocks).masked)
    held: dict[int, set[str]] = {}
    spans: dict[int, tuple[int, int]] = {}
    for count, match in enumerate(re.finditer("|".join(map(re.escape, words)), plain)):
        if count > _MOST_MATCHES:
            break
        start, end = line_span(plain, match.start(), match.end())
        held.setdefault(start, set()).add(match[0])
        spans[start] = (start, end)
    near = [start for start, found in held.items() if len(found) >= _FEWEST_WORDS and not inside(skipped, start)]
    best = sorted(sorted(near, key=lambda start: -len(held[start]))[:_MOST_SHOWN])
    return tuple(Span(start=spans[start][0], end=spans[start][1]) for start in best)


@lru_cache(maxsize=256)
def _words(topic: Topic) -> tuple[str, ...]:
    said = " ".join((topic.label_ja, *topic.synonyms, *topic.elements_ja))
    found = set(_WORD.findall(said)) - set(shipped("nearest")["common"])
    return tuple(sorted(found, key=lambda word: (-len(word), word)))
