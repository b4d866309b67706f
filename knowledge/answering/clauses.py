"""The clauses of a text: what each says is done, and whom and what it names in which role. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sudachipy import SplitMode

from knowledge.index.morphemes import JAPANESE, act_words, passage_words, question_words
from knowledge.text.folding import fold_terms
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer

ACTS, ACTED_ON, TO, AT = "acts", "acted on", "to", "at"
"""Who acts or what is spoken of, what is acted on, to whom, and where or with what."""
_ROLES = {
    "によって": ACTS, "により": ACTS, "が": ACTS, "も": ACTS, ":": ACTS, "は": "",
    "を": ACTED_ON, "に": TO, "へ": TO, "で": AT,
}  # fmt: skip
_PARTICLE = re.compile("|".join(sorted(_ROLES, key=lambda one: -len(one))))
# Verbs that say only that what stands before them is done, and such as only join names: 辰野による設計.
_LIGHT = frozenset({"為る", "行う", "成る", "有る", "居る", "出来る", "下さる", "致す", "言う"})
_JOINING = frozenset({"因る", "よる", "於く", "おく", "関する", "対する", "伴う", "就く", "基づく"})
_PREDICATES = ("動詞", "形容詞", "助動詞")
_NAMES = ("名詞", "接頭辞", "接尾辞", "代名詞", "形状詞")
# What a clause before it modifies, and is no name: 失敗した場合.
_FORMAL = frozenset({"物", "為", "場合", "時", "際", "後", "前", "所", "内", "訳", "程", "上", "中", "間", "こと"})
# 承認は部長が行う: what is done is what it is said of.
_ENDS_LIGHTLY = re.compile(r"行[いうわえっ]|(?:する|した|し、|します|しました|される|された)[^\w]*\Z")
_SENTENCE_END = re.compile(r"[。！？!?;\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Somebody or something that a clause names in a role, by its words."""

    role: str
    words: frozenset[str]


@dataclass(slots=True, kw_only=True)
class Clause:
    """A clause as it is written; ``acts`` are the words for what is done.

    ``lent`` and ``shared`` are parties and words that it takes over from its neighbours, ``beside`` the words of names
    without a role, which may have one elsewhere.
    """

    text: str
    parties: tuple[Party, ...]
    topics: tuple[frozenset[str], ...] = ()
    beside: tuple[frozenset[str], ...] = ()
    acts: frozenset[str] = frozenset()
    lent: list[Party] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)

    @property
    def ends_in_comma(self) -> bool:
        return self.text.rstrip()[-1:] in ("、", ",")

    @property
    def words(self) -> frozenset[str]:
        return words_in(self.text) | self.taken_over

    @property
    def taken_over(self) -> frozenset[str]:
        return frozenset(self.shared).union(*(party.words for party in self.lent))


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text that say something.

    >>> sorted(words_in("設計を行った者は")), sorted(words_in("It was signed by the owner"))
    (['者', '設計'], ['オーナー', 'サイン'])
    """
    read = passage_words if JAPANESE.search(text) else question_words
    return frozenset(read(fold_terms(text))) - _LIGHT - _JOINING


def japanese_clauses(text: str) -> list[Clause]:
    """Return the clauses of a folded Japanese text, each with what it takes over from its neighbours.

    >>> [one.text for one in japanese_clauses("課長が承認し、部長が決裁する")]
    ['課長が承認し、', '部長が決裁する']
    """
    found: list[Clause] = []
    begin = 0
    for stop in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        if text[begin:stop].strip():
            found += _lent([_clause(run) for run in _runs(text[begin:stop][:MAX_INPUT_CHARACTERS])])
        begin = stop
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    surface: str
    form: str
    kind: tuple[str, ...]

    @property
    def is_comma(self) -> bool:
        return self.surface in ("、", ",")

    @property
    def is_name(self) -> bool:
        return self.kind[0] in _NAMES and self.kind[2] != "助動詞語幹"

    @property
    def is_predicate(self) -> bool:
        return self.kind[0] in _PREDICATES and self.form not in _JOINING


def _runs(sentence: str) -> Iterator[list[_Word]]:
    """Part a sentence behind what ends a clause: a verb before a comma or before a name, a name without a verb."""
    words = [
        _Word(surface=one.surface(), form=one.normalized_form(), kind=one.part_of_speech())
        for one in tokenizer().tokenize(sentence, SplitMode.A)
    ]
    run: list[_Word] = []
    for one, following in zip(words, [*words[1:], None], strict=True):
        run.append(one)
        modifies = following is not None and following.is_name and following.form not in _FORMAL
        if (one.is_comma and _is_whole(run[:-1])) or (one.is_predicate and modifies):
            yield run
            run = []
    if run:
        yield run


def _is_whole(run: Sequence[_Word]) -> bool:
    """Return whether words say something of something: with a verb at their end, or a name behind a particle."""
    if not run:
        return False
    if run[-1].is_predicate or run[-1].kind[:2] == ("助詞", "接続助詞"):
        return True
    return run[-1].is_name and any(one.kind[0] == "助詞" or one.surface == ":" for one in run)


def _clause(run: Sequence[_Word]) -> Clause:
    text = "".join(one.surface for one in run)
    marked = list(_marked(run))
    if any(one.kind[0] == "助動詞" and one.form in ("れる", "られる") for one in run):
        roles = _ROLES | dict.fromkeys(("は", "が", "も"), ACTED_ON) | {"に": ""}
    else:
        acts = any(_ROLES[mark] == ACTS for mark, _words in marked)
        roles = _ROLES | {"は": "" if acts else ACTS}
    parties = tuple(Party(role=roles[mark], words=words) for mark, words in marked if roles[mark])
    topics = tuple(words for mark, words in marked if mark == "は")
    return Clause(text=text, parties=parties, topics=topics, acts=frozenset(act_words(text)) - _LIGHT)


def _marked(run: Sequence[_Word]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each particle behind a name, with the words of the name; mere numbers and dates are none."""
    name: list[_Word] = []
    for place, one in enumerate(run):
        if one.is_name:
            name.append(one)
            continue
        behind = "".join(word.surface for word in run[place : place + 3])
        mark = _PARTICLE.match(behind) if one.kind[0] == "助詞" or one.surface == ":" else None
        if mark and _names_something(name):
            yield mark[0], words_in("".join(word.surface for word in name))
        name = []


def _names_something(name: Sequence[_Word]) -> bool:
    """Return whether words are a name: not none, no mere number or date, and not the 場合 of what stands before it."""
    is_count = any(one.kind[1] == "数詞" for one in name) and all(
        "数詞" in one.kind[1:3] or one.kind[2] == "助数詞可能" or one.kind[0] == "接頭辞" for one in name
    )
    return bool(name) and not is_count and not (len(name) == 1 and name[0].form in _FORMAL)


def _lent(clauses: list[Clause]) -> list[Clause]:
    """Let the clauses of a sentence have what is said once for several.

    The one topic of a sentence is that of all its clauses, and the first of two in one clause that of all behind it.
    Who acts goes on acting, and with another one who acts what is acted on stays. A clause before a name is of that
    name; one without a verb has that of the next.
    """
    topics = [topic for one in clauses for topic in one.topics]
    has_whole = len(topics) == 1 or len(clauses[0].topics) > 1
    carried: dict[str, Party] = {}
    for one, following in zip(clauses, [*clauses[1:], None], strict=True):
        own = {party.role: party for party in reversed(one.parties)}
        lent = [carried[role] for role in (ACTS, ACTED_ON) if role in carried and role not in own]
        one.lent += [party for party in lent if party.role == ACTS or ACTS in own]
        if has_whole and all(topics[0] != party.words for party in [*one.parties, *one.lent]):
            one.lent.append(Party(role=ACTS, words=topics[0]))
        carried |= own
        if following and following.parties and not one.ends_in_comma:
            role = ACTED_ON if ACTS in own else ACTS
            one.lent.append(Party(role=role, words=following.parties[0].words))
    for one, following in zip(reversed(clauses[:-1]), reversed(clauses[1:]), strict=True):
        if not one.acts and one.ends_in_comma:
            one.acts = following.acts
            one.shared |= one.acts
    for one in clauses:
        named = [*one.topics, *(party.words for party in one.parties if party.role in (ACTS, ACTED_ON))]
        if not one.acts and named and _ENDS_LIGHTLY.search(one.text):
            one.acts = named[0]
    return clauses
