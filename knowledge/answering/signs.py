"""What tells whether a sentence answers a question, as numbers: one row of signs for each sentence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from knowledge.answering.asked import AskedThing, Wanted, without_asking
from knowledge.answering.marks import marked_cell
from knowledge.answering.named import Named
from knowledge.answering.predicates import read_act
from knowledge.answering.sentences import PlacedSentence, Terms, terms_of
from knowledge.answering.subjects import read_subjects
from knowledge.answering.values import asks_money, has_money_column, value_places, values_of
from knowledge.index.analysis import analyse_query
from knowledge.index.morphemes import act_words, is_english
from knowledge.text.folding import fold_terms
from knowledge.types.search import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A question's terms of one field with what each counts: little where everything found has it."""

    weights: Mapping[str, float]
    others: Mapping[str, tuple[tuple[str, ...], ...]]

    def covered(self, *texts: frozenset[str]) -> float:
        """The share of the weights whose terms, or other names of them, some texts have together."""
        total = sum(self.weights.values())
        return sum(w for term, w in self.weights.items() if self._has(term, texts)) / total if total else 0.0

    def covered_of(self, wanted: Collection[str], *texts: frozenset[str]) -> float:
        """The share of the weights of some of the terms that texts have together; -1 where there is none of them."""
        total = sum(self.weights[term] for term in wanted)
        return sum(self.weights[term] for term in wanted if self._has(term, texts)) / total if total else -1.0

    def heaviest_missing(self, *texts: frozenset[str]) -> float:
        """What the heaviest term counts that the texts lack, as a share of all."""
        total = sum(self.weights.values())
        return max((w for term, w in self.weights.items() if not self._has(term, texts)), default=0.0) / (total or 1.0)

    def _has(self, term: str, texts: Sequence[frozenset[str]]) -> bool:
        return any(term in text for text in texts) or any(
            all(any(one in text for text in texts) for one in other) for other in self.others.get(term, ())
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence with the terms of itself, of what is above it without the title, of its passage, and of the title."""

    one: PlacedSentence
    own: Terms
    above: Terms
    before: Terms
    passage: Terms
    title: Terms


def candidates_of(hits: Sequence[Hit], sentences: Sequence[PlacedSentence]) -> list[Candidate]:
    """Read the terms of sentences once each, and join them for their passages."""
    own = [terms_of(one.text) for one in sentences]
    parts: dict[str, list[Terms]] = {}
    before: list[Terms] = []
    for one, terms in zip(sentences, own, strict=True):
        earlier = parts.setdefault(one.hit.chunk_id, [])
        before.append(earlier[-1] if earlier else (frozenset(), frozenset()))
        earlier.append(terms)
    passages = {
        name: (
            frozenset[str]().union(*(words for words, _ in terms)),
            frozenset[str]().union(*(two for _, two in terms)),
        )
        for name, terms in parts.items()
    }
    titles = {hit.title: terms_of(hit.title) for hit in hits}
    return [
        Candidate(
            one=one,
            own=terms,
            above=terms_of("\n".join([*one.hit.section_path, one.heading, one.header, one.label]))
            if one.heading or one.header or one.label
            else (frozenset(), frozenset()),
            before=previous,
            passage=passages[one.hit.chunk_id],
            title=titles[one.hit.title],
        )
        for one, terms, previous in zip(sentences, own, before, strict=True)
    ]


_TITLE_COUNTS = 0.4
_KANA = re.compile("[\u3041-\u309f\\s、。?？]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A question's words and pairs of characters, weighed, and all that the found passages have."""

    words: Weighed
    bigrams: Weighed
    found: Terms

    def plain_share(self, one: Candidate) -> float:
        """What is told cheaply of a sentence: its words and its passage's, and the passage's score."""
        return (
            self.words.covered(one.own[0], one.above[0])
            + 0.5 * self.bigrams.covered(one.own[1], one.above[1])
            + 0.4 * self.words.covered(one.passage[0], one.above[0])
            + 0.5 * (one.one.hit.score or 0.0)
        )


def read_wording(question: str, candidates: Sequence[Candidate], *, synonyms: Mapping[str, str]) -> Wording:
    """Weigh a question's terms by how few of the found passages have them; what is in their titles counts less.

    So nothing that the caller may not see has a part in it.
    """
    terms = analyse_query(without_asking(question) or question, synonyms=synonyms)
    passages = {one.one.hit.chunk_id: one for one in candidates}
    weighed = []
    for field, (asked, others) in enumerate(((terms.words, terms.other_words), (terms.bigrams, terms.other_bigrams))):
        count = Counter(term for one in passages.values() for term in one.passage[field] if term in asked)
        titled = {term for one in passages.values() for term in one.title[field]}
        weights = {
            term: math.log(1 + (len(passages) + 0.5) / (count[term] + 0.5)) * (_TITLE_COUNTS if term in titled else 1.0)
            for term, weight in asked.items()
            if weight == 1.0
        }
        instead: dict[str, tuple[tuple[str, ...], ...]] = {}
        for other in others:
            for term in other.instead_of:
                instead[term] = (*instead.get(term, ()), other.terms)
        weighed.append(Weighed(weights=weights, others=instead))
    found = tuple(frozenset[str]().union(*(one.passage[field] for one in passages.values())) for field in (0, 1))
    return Wording(words=weighed[0], bigrams=weighed[1], found=(found[0], found[1]))


KINDS = tuple(Wanted)


def signs_without_meaning(
    question: str, asked: AskedThing, named: Named, wording: Wording, candidates: Sequence[Candidate]
) -> tuple[list[str], NDArray[np.float64]]:
    """Give what words tell: names of signs, and a row for each candidate."""
    words, bigrams = wording.words, wording.bigrams
    focus = terms_of(asked.focus) if asked.focus else None
    phrase = terms_of(asked.phrase) if asked.phrase else None
    folded = fold_terms(question)
    stem = without_asking(question)
    english = is_english(question)
    acts = frozenset() if english else frozenset(act_words(folded))
    subjects = read_subjects(question, asked)
    act = read_act(question, asked)
    pairs = pairs_of(stem)
    passages = {one.one.hit.chunk_id: fold_terms(one.one.hit.content) for one in candidates}
    rows = []
    for one in candidates:
        text = fold_terms(one.one.text)
        common = SequenceMatcher(None, stem, text[:400], autojunk=False).find_longest_match()
        values = values_of(one.one.text, question, asked)
        rows.append(
            {
                "own words": words.covered(one.own[0]),
                "own bigrams": bigrams.covered(one.own[1]),
                "words": words.covered(one.own[0], one.above[0]),
                "bigrams": bigrams.covered(one.own[1], one.above[1]),
                "words, two sentences": words.covered(one.own[0], one.above[0], one.before[0]),
                "words of passage": words.covered(one.passage[0], one.above[0]),
                "bigrams of passage": bigrams.covered(one.passage[1], one.above[1]),
                "words with title": words.covered(one.passage[0], one.above[0], one.title[0]),
                "words of title": words.covered(one.title[0]),
                "missing": words.heaviest_missing(one.own[0], one.above[0], one.title[0]),
                "missing in passage": words.heaviest_missing(one.passage[0], one.above[0], one.title[0]),
                "found anywhere": words.covered(wording.found[0]),
                "terms": float(len(words.weights)),
                "focus": _share(focus, one.own),
                "focus above": _share(focus, one.own, one.above),
                "focus in passage": _share(focus, one.passage, one.above, one.title),
                "phrase": _share(phrase, one.own),
                "phrase above": _share(phrase, one.own, one.above),
                "phrase in passage": _share(phrase, one.passage, one.above, one.title),
                "acts": _share_there(acts, one.own[0]),
                "acts in passage": _share_there(acts, one.passage[0]),
                "beside acts": words.covered_of(words.weights.keys() - acts, one.own[0], one.above[0]),
                "around values": _around_values(text, pairs, value_places(text, folded, asked)),
                "common run": common.size / max(len(stem), 1),
                "fits": values.fits,
                "numbers": float(values.numbers),
                "unit": float(values.has_unit),
                "date": float(values.has_date),
                "duration": float(values.has_duration),
                "people": float(values.people),
                "places": float(values.places),
                "names": float(values.names),
                "quoted": float(values.quoted),
                "katakana": float(values.katakana),
                "latin": float(values.latin),
                "kanji": float(values.kanji),
                "reason": float(values.has_reason),
                "way": float(values.has_way),
                "defines": float(values.defines),
                "length": math.log1p(len(text)),
                "question length": math.log1p(len(folded)),
                "is row": float(text.startswith("|")),
                "english": float(english),
                "has unit": float(bool(asked.unit)),
                "has focus": float(bool(asked.focus)),
                "code": float(named.has_code(one.one)),
                "under named heading": float(bool(named.heading_named(one.one))),
                "explains": float(named.is_explained_by(one.one)),
                "unit missing": float(
                    bool(asked.unit) and not values.has_unit and asked.unit not in fold_terms(one.one.header)
                ),
                "says yes or no": float(
                    marked_cell(question, asked, one.one) is not None
                    or (act is not None and act.is_decided_by(one.one))
                ),
                "money missing": float(
                    asks_money(asked) and not (values.has_money or has_money_column(one.one.header))
                ),
                **subjects.signs(one.one, passages[one.one.hit.chunk_id]),
                "score": math.nan if one.one.hit.score is None else one.one.hit.score,
                **{f"asks {kind.value}": float(asked.kind is kind) for kind in KINDS},
            }
        )
    names = list(rows[0]) if rows else []
    return names, np.array([list(row.values()) for row in rows], np.float64)


def _share_there(wanted: frozenset[str], text: frozenset[str]) -> float:
    return len(wanted & text) / len(wanted) if wanted else -1.0


_AROUND = 24


def _around_values(text: str, pairs: frozenset[str], places: Sequence[tuple[int, int]]) -> float:
    """The share of a question's pairs that a text has around one of some places, where most are; -1 without any."""
    if not places or not pairs:
        return -1.0
    near = (pairs_of(text[max(start - _AROUND, 0) : end + _AROUND]) for start, end in places)
    return max(len(pairs & one) for one in near) / len(pairs)


def pairs_of(text: str) -> frozenset[str]:
    """The neighbouring characters of a text that are no kana."""
    return frozenset(text[at : at + 2] for at in range(len(text) - 1) if not _KANA.search(text[at : at + 2]))


def _share(wanted: Terms | None, *texts: Terms) -> float:
    """The share of some terms that texts have together; -1 where nothing is wanted."""
    if wanted is None:
        return -1.0
    shares = [sum(any(t in text[f] for text in texts) for t in own) / len(own) for f, own in enumerate(wanted) if own]
    return max(shares, default=0.0)


def signs_of_meaning(
    nearness: NDArray[np.float64], names: Sequence[str], signs: NDArray[np.float64], passages: Sequence[str]
) -> tuple[list[str], NDArray[np.float64]]:
    """Give what each candidate's nearness in meaning tells, and how it compares with candidates of other passages.

    ``signs`` are those of `signs_without_meaning`. Nearness is NaN where the embedding model does not answer.
    """
    told = {
        "near": nearness,
        "near, beside the nearest": nearness - np.nanmax(nearness) if not np.isnan(nearness).all() else nearness,
        "near, beside other passages": beside_others(nearness, passages),
        "near, in passage": in_group(nearness, passages),
        "own words, in passage": in_group(signs[:, names.index("own words")], passages),
        "fits, in passage": in_group(signs[:, names.index("fits")], passages),
    }
    for name in ("score", "own words", "words", "words of passage", "bigrams of passage"):
        told[f"{name}, beside other passages"] = beside_others(signs[:, names.index(name)], passages)
    return list(told), np.stack(list(told.values()), axis=1)


def in_group(values: NDArray[np.float64], groups: Sequence[str]) -> NDArray[np.float64]:
    """Tell how far each value is below the best one of its own group: 0 for that itself."""
    best: dict[str, float] = {}
    for value, group in zip(values, groups, strict=True):
        best[group] = max(best.get(group, -np.inf), float(value))
    return np.array([value - best[group] for value, group in zip(values, groups, strict=True)])


def beside_others(values: NDArray[np.float64], groups: Sequence[str]) -> NDArray[np.float64]:
    """Tell how far each value is above the best one of other groups."""
    best: dict[str, float] = {}
    for value, group in zip(values, groups, strict=True):
        best[group] = max(best.get(group, -np.inf), float(value))
    ordered = sorted(best.items(), key=lambda pair: -pair[1])
    if len(ordered) < 2:
        return np.full(len(values), 0.5)
    (first, top), (_second, next_best) = ordered[:2]
    return np.array(
        [value - (next_best if group == first else top) for value, group in zip(values, groups, strict=True)]
    )
