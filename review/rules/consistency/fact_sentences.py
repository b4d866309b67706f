"""Facts of sentences: what is before は, the value, and the verb behind it; and sentences said again with others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from knowledge.text.folding import fold_compact
from knowledge.types.documents import BlockKind
from review.rules.base import shipped
from review.rules.consistency.fact_making import GRADE, Fact, Facts, Statement
from review.rules.consistency.fact_names import EXAMPLE, OF_A_KIND, choice_of, folded_name, quantity_name
from review.rules.consistency.fact_tokens import Token

_NOUN = (
    r"[一-龯々〆ァ-ヴーA-Za-z0-9/_.\-]|(?<=[一-龯])(?:り|い|け|み|し|わせ|れ|き|げ|さ)(?=[一-龯はのをがにで、:は\s]|$)"
)
# A noun begins where no other goes on: behind 重い of 重い重い… too, each beginning would read to the end of the text.
_START = r"(?<![一-龯々〆ァ-ヴーA-Za-z0-9/_.\-])(?<![一-龯][りいけみしれきげさ])(?<![一-龯]わせ)"
_REMARK = r"(?:\([^()]{1,12}\))?+"
_JOINT = r"(?:における|に関する|に係る|からの|への|の|・)(?=[一-龯ァ-ヴA-Za-z0-9])"
NOUNS = rf"{_START}{OF_A_KIND}(?:{_NOUN})++{_REMARK}(?:{_JOINT}(?:{_NOUN})++{_REMARK}){{0,3}}+"
_TOPICS = re.compile(rf"(?P<name>{NOUNS})(?:には|では|は)(?![一-龯]?ない)")
_BESIDE = re.compile(
    rf"(?P<name>{NOUNS})[:はをがに、 (]?(?:約|最大|最小|平均|おおむね|概ね|合計|全|毎日|計|全国|税込)?[、 ]?$"
)
_CASE = re.compile(r"\s?(?:以上|以下|以内|未満|を超え[るた]|に満たない|より[多少]い)?の?(?:場合|とき|際|ケース)|ずつ")
_LABELLED = re.compile(r"[^:。、|()]{0,28}[^:。、|()0-9]:")
_CLAUSE = re.compile(r"(?:場合|とき|際|時点)$")
_STARTED = re.compile(
    r"(?:に|から|より|までに|まで|以降)?[、 ]?"
    r"(?P<name>(?:[一-龯ァ-ヴーA-Za-z]{2,12}(?:の[一-龯ァ-ヴー]{2,8})?)(?:を|が)?)?"
    r"(?P<verb>[一-龯]{2,4}(?=する|し|され|す|予定|$))?"
)
_PHASES = {"開始": "開始", "着手": "開始", "稼働": "", "完了": "完了", "終了": "完了"}
_EXCEEDING = re.compile(rf"^\s?(?:を超える|より大きい|を超えた|以上の)(?P<name>(?:{_NOUN})++)は")
_NUMBERING = re.compile(r"[0-9]+(?:[.\-][0-9]+)+|[0-9]+\s")
_KINDS = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.CAPTION, BlockKind.HEADING)
_LEADING = re.compile(
    r"^(?:なお|また|ただし|前述のとおり|前記のとおり|さらに|加えて|そのため|したがって|具体的には|このため)、?|^[-・*+]\s*"
)
_TRAILING = re.compile(r"(?:とする|である|です|とします|とすること|であること|する|します|すること)?[。 ]*$")
_LONGEST = 400
_SHORTEST_SENTENCE = 14


def facts_of_sentences(facts: Facts) -> Iterator[Fact]:
    for segment in facts.prose.segments:
        if segment.kind not in _KINDS or facts.is_skipped(segment.start):
            continue
        if not 6 <= segment.end - segment.start <= _LONGEST:
            continue
        sentence = facts.plain[segment.start : segment.end]
        if EXAMPLE.search(sentence) or _LABELLED.match(sentence):
            continue
        tokens = [
            token
            for token in facts.tokens.within(segment.start, segment.end)
            if not _is_numbering(token, sentence[: token.start - segment.start], facts, segment.kind)
        ]
        for token in tokens:
            yield from _of_sentence(facts, segment.start, segment.end, sentence, token, tokens)
        if tokens:
            yield from _restated(facts, segment.start, segment.end, sentence, tokens)
        yield from _words(facts, segment.start, segment.end, sentence)


def _is_numbering(token: Token, before: str, facts: Facts, kind: BlockKind) -> bool:
    """Whether what looks like an amount is the number of a heading before its words: 3.1 文字, 2 システム構成."""
    if token.kind != "number":
        return False
    if kind is BlockKind.HEADING:
        return "(" not in before
    return not before.strip("#*　 ") and _NUMBERING.match(facts.plain, token.start, token.end) is not None


def _of_sentence(
    facts: Facts, start: int, end: int, sentence: str, token: Token, tokens: list[Token]
) -> Iterator[Fact]:
    before = facts.plain[start : token.start]
    behind = facts.plain[token.end : min(end, token.end + 24)]
    clause = before[before.rfind("。") + 1 :]
    if _CASE.match(behind):
        return
    same = [each for each in tokens if (each.kind, each.dimension) == (token.kind, token.dimension)]
    if len(same) > 1:
        if token is same[0]:
            yield from _sum(facts, start, end, sentence, same)
        return
    topics = list(_TOPICS.finditer(clause))
    topic = topics[-1]["name"] if topics else ""
    topic = "" if _CLAUSE.search(topic) else topic
    beside = _BESIDE.search(clause[-60:])
    statement = Statement(name=topic, start=start, end=end, around=sentence, quoted_from=start, is_sentence=True)
    if token.kind == "number":
        if exceeding := _EXCEEDING.match(facts.plain[token.end : min(end, token.end + 40)]):
            yield from facts.number(statement, token._replace(bound="max"), exceeding["name"], "")
            return
        name = _quantity_name(topic, clause, beside["name"] if beside else "", behind, token.dimension)
        yield from facts.number(statement, token, name, behind)
    elif token.kind == "date":
        for name in _event_names(topic, behind)[:1]:
            yield from facts.date(statement, token, name)
    else:
        name = topic or (beside["name"] if beside else "")
        verb = next(
            (verb for verb in ("開始", "起動", "取得", "終了", "受け付け", "受付", "対応") if verb in behind), ""
        )
        yield from facts.clock(statement, token, name, f"{name}{verb}")


def _sum(facts: Facts, start: int, end: int, sentence: str, parts: list[Token]) -> Iterator[Fact]:
    """What the parts of one thing come to: 利用者は、本庁の担当者9名及び支所の担当者5名とする."""
    first = parts[0]
    topics = [each for each in _TOPICS.finditer(sentence) if start + each.end() <= first.start]
    between = [facts.plain[one.end : other.start] for one, other in pairwise(parts)]
    is_sum = first.dimension in _ADDED and all(_AND.match(words) and _PART.search(words) for words in between)
    if not topics or not is_sum or any(each.bound or "~" in each.value for each in parts) or _SHARE.search(sentence):
        return
    value = str(sum((Decimal(each.value) for each in parts), Decimal(0)).normalize())
    statement = Statement(topics[-1]["name"], start, end, sentence, quoted_from=start, is_sentence=True)
    yield from facts.number(statement, first._replace(value=value), topics[-1]["name"], "")


_ADDED = frozenset({"people", "machines", "bases", "screens", "facilities", "kinds"})
_AND = re.compile(r"(?:程度)?(?:[、,]\s*)?(?:及び|および|並びに|ならびに|と|[、,])")
_PART = re.compile(r"[一-龯ァ-ヴA-Za-z]{2}")
_SHARE = re.compile(r"うち|内訳|最大|最小|から|または|又は|ごと|1[人件回日]")


def _restated(facts: Facts, start: int, end: int, sentence: str, tokens: list[Token]) -> Iterator[Fact]:
    """The sentence itself with its values taken out: said again with others it contradicts itself."""
    if len(sentence) < _SHORTEST_SENTENCE:
        return
    parts, at = [], start
    for token in tokens:
        parts += [facts.plain[at : token.start], f"<{token.dimension}>"]
        at = token.end
    parts.append(facts.plain[at:end])
    shape = fold_compact(_TRAILING.sub("", _LEADING.sub("", "".join(parts).strip())))
    words = re.sub(r"<[a-z]+>", "", shape)
    if len(words) < _SHORTEST_SENTENCE - 2:
        return
    statement = Statement(name="", start=start, end=end, around="", quoted_from=start, is_sentence=True)
    value = "/".join(f"{token.bound}{token.value}" for token in tokens)
    yield facts.made("restated", ("restated", shape), statement, sentence.strip()[:60], value)


def _words(facts: Facts, start: int, end: int, sentence: str) -> Iterator[Fact]:
    statement = Statement(name="", start=start, end=end, around=sentence, quoted_from=start, is_sentence=True)
    yield from _roles(facts, statement, sentence)
    for bare in _BARE_SAID.finditer(sentence):
        token = Token(
            start + bare.start("n"), start + bare.end("n"), "number", "count", str(Decimal(bare["n"]).normalize()), ""
        )
        yield from facts.number(statement, token, bare["name"], "")
    for said in _choices_said().finditer(sentence):
        before = list(_TOPICS.finditer(sentence[: said.start()]))
        if before:
            attribute = _choice_codes()[said.lastgroup or ""]
            name = before[-1]["name"]
            full = name if choice_of(name) else f"{name}の{attribute}"
            yield from facts.named(statement, full, said[0])
    for topic in _TOPICS.finditer(sentence):
        rest = sentence[topic.end() :].lstrip("、 ")
        for pattern in (_STATED_VALUE, _USED_VALUE):
            if found := pattern.match(rest):
                yield from facts.named(statement, topic["name"], found["value"])
                yield from facts.level(statement, topic["name"], found["value"])
        if level := _LEVEL_SAID.search(rest):
            yield from facts.level(statement, f"{topic['name']}の{level['scale']}", level["value"])
    for level in _LEVEL_OF_ID.finditer(sentence):
        yield from facts.level(statement, f"{level['name']}の{level['scale']}", level["value"])
    for grade in GRADE.finditer(sentence):
        topic_there = _TOPICS.search(sentence[: grade.start()])
        name = topic_there["name"] if topic_there else ""
        yield from facts.graded(statement, name, grade)


def _roles(facts: Facts, statement: Statement, sentence: str) -> Iterator[Fact]:
    for match in _DUTY.finditer(sentence):
        role = next(
            (role for verbs, role in shipped("facts")["roles"]["verbs"].items() if re.search(verbs, match["verb"])),
            "",
        )
        if role:
            yield from facts.role(statement, f"{match['name']}の{role}", match["who"])
    for match in _MADE.finditer(sentence):
        yield from facts.role(statement, match["name"], match["who"])


_WHO = r"[一-龯々ァ-ヴーA-Za-z・()]{1,20}?"


@lru_cache(maxsize=1)
def _who() -> str:
    return rf"{_WHO}(?:{shipped('facts')['roles']['ends']})"


_STATED_VALUE = re.compile(r"(?P<value>「?[^、。「」はがをに]{1,24}」?)(?:とする|である|です|とします|に置く)")
_USED_VALUE = re.compile(r"(?P<value>[^、。はがを]{2,24})(?:を(?:用い|採用|使用|利用)|で出力)")
_BARE_SAID = re.compile(
    rf"(?P<name>{NOUNS}(?<=数))は(?:全|約|計)?(?P<n>[0-9]{{1,6}})(?=である|とする|です|とします|。|$)"
)


@lru_cache(maxsize=1)
def _choice_codes() -> dict[str, str]:
    return {f"v{at}": name for at, name in enumerate(shipped("facts")["choices"]["said"])}


@lru_cache(maxsize=1)
def _choices_said() -> re.Pattern[str]:
    said = shipped("facts")["choices"]["said"].values()
    spaced = "|".join(f"(?P<v{at}>{values})" for at, values in enumerate(said))
    return re.compile(
        rf"(?<![A-Za-z0-9])(?:{spaced})(?=で出力|で入力|で作成|を用い|を採用|を使用|とする|とします|である)",
        re.IGNORECASE,
    )


_LEVEL_SAID = re.compile(
    r"(?P<scale>重要度|優先度|難易度|緊急度|影響度)「?(?P<value>最?[高低]|中|[SABC](?![A-Za-z]))」?(?:に|と|で)"
)
_LEVEL_OF_ID = re.compile(
    r"(?<![A-Za-z0-9\-])(?P<name>[A-Z]{1,6}(?:-[A-Z]{1,6}){0,3}-?[0-9]{1,4})\s?[(（](?P<scale>優先度|重要度)[:：]?\s?(?P<value>最?[高低]|中|[SABC])[)）]"
)
_DUTY = re.compile(
    rf"(?P<name>{NOUNS})(?:は|を)、?(?P<who>{_who()})が(?P<verb>行|実施|担当|承認|対応)(?:う|する|し|い|を行)"
)
_MADE = re.compile(rf"(?P<who>{_who()})を(?P<name>{NOUNS})とする")


def _quantity_name(topic: str, clause: str, beside: str, behind: str, dimension: str) -> str:
    """Return what a number is likeliest about: its topic, if that names a quantity, joined to what stands beside it."""
    is_near = beside and clause.rstrip("、 ").endswith((beside, *(beside + mark for mark in "はをがにで:(")))
    near = beside if is_near else ""
    if topic and folded_name(topic):
        joins = near and topic != near and not near.endswith(topic) and not topic.endswith(near)
        return f"{topic}の{near}" if joins and not quantity_name(topic, "", dimension).code else topic
    if near:
        return near
    after = _NAMED_AFTER.match(behind)
    return after["name"] if after else topic


_NAMED_AFTER = re.compile(
    rf"(?:以内|以上|以下|未満)?(?!以内|以上|以下|未満)(?:の|で|間隔で|ごとに|おきに|毎に)?(?!間隔|ごと|おき|毎)(?P<name>(?:{_NOUN}){{2,12}}+)(?![すしさせ])"
)


def _event_names(topic: str, behind: str) -> list[str]:
    """Return the event that a date is of: 中間報告会は…に開催する, …に契約を締結した, …から本番稼働する."""
    said = _STARTED.match(behind)
    what = (said["name"] or "") + (said["verb"] or "") if said else ""
    what = re.sub(r"[をが]", "", what)
    what = re.sub(r"(?<=.{2})(?:開催|実施|予定|予)$", "", what)
    if topic and folded_name(topic):
        phase = next((phase for verb, phase in _PHASES.items() if verb in what), "")
        return [f"{topic}{phase}"]
    return [what] if what else []
