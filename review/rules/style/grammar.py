"""Grammar that readers take for careless: ら抜き, い抜き, さ入れ, double negation, fillers, the same particle twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sudachipy import SplitMode

from knowledge.text.morphology import tokenizer
from knowledge.text.sentences import CLOSING, OPENING
from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.reading import Sentence, Token, Unit

_NOT = (
    r"(?:無い|無く|無かっ|ない|なく|なかっ|なかろ|なけれ|ありませ|あるまい|ございませ"
    r"|言えな|いえな|限らな|かぎらな|言い切れな|いいきれな)"
)
_DOUBLE_NEGATIVE = re.compile(
    r"(?:ない|無い|なかった|ぬ)(?:"
    rf"(?:こと|事)(?:は|も|が){_NOT}"
    rf"|(?:わけ|訳)(?:で|に)(?:は|も){_NOT}"
    rf"|(?:もの|物|ん)で(?:は|も){_NOT}"
    rf"|で(?:は|も){_NOT}"
    r"|と(?:は|も)(?:言え|いえ|限ら|かぎら|言い切れ|いいきれ)(?:ない|ません)"
    rf")|(?:なく|無く)(?:は|も){_NOT}"
)
_QUESTION = re.compile(r"(?:い|せん)(?:でしょう|だろう)?か")
_OUTSPOKEN_NO = re.compile(r"ないで(?:は|も)ない")
_FILLERS = frozenset(
    {
        "えーと",
        "ええと",
        "えっと",
        "ええっと",
        "えーっと",
        "あのー",
        "あのう",
        "まあ",
        "まぁ",
        "うーん",
        "そのー",
        "なんか",
    }
)
_FILLER_TEXT = re.compile(
    r"(?:え[えーぇ]{0,30}っ?と|あの[ーう]+|その[ーう]+|うーん+|ま[あぁ](?=[、，,]))(?=[、，,。…\s]|$)|あの(?=[、，,…])"
)
_COMMAS = frozenset("、，,")


@unit_rule("style.ra_dropping")
def ra_dropping(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark potential forms of one-row verbs and 来る that lack ら."""
    tokens = unit.tokens
    for index, token in enumerate(tokens):
        if token.pos[0] == "動詞" and token.lemma.endswith("れる") and _drops_ra(token):
            at = token.start + token.surface.rfind("れ")
            corrected = f"{unit.plain[token.start : at]}ら{unit.plain[at : token.end]}"
            yield Mark(token.start, token.end, corrected if "れ" in token.surface else None)
        elif index and token.lemma == "れる" and token.is_a("助動詞") and _is_one_row(tokens[index - 1]):
            yield Mark(tokens[index - 1].start, token.end, f"{tokens[index - 1].surface}ら{token.surface}")
        elif index and token.lemma == "ます" and _is_read_as_conditional(tokens[index - 1]):
            before = tokens[index - 1]
            yield Mark(before.start, before.end, f"{before.surface.removesuffix('れ')}られ")


@unit_rule("style.i_dropping")
def i_dropping(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark てる and でる in place of ている and でいる."""
    for index, token in enumerate(unit.tokens):
        # A row of the kana table (て / テ) has none.
        if token.normal == "てる" and token.is_a("助動詞") and token.surface[0] in "てで" and index:
            yield Mark(token.start, token.end, f"{token.surface[0]}い{token.surface[1:]}")
        elif token.lemma in ("ない", "無い") and index and unit.tokens[index - 1].is_a("助詞", "接続助詞"):
            particle = unit.tokens[index - 1]
            if particle.surface in ("て", "で") and particle.end == token.start:
                yield Mark(particle.start, token.end, f"{particle.surface}い{token.surface}")


@unit_rule("style.sa_insertion")
def sa_insertion(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark させる after the imperfective form of a five-row verb."""
    for before, token in zip(unit.tokens, unit.tokens[1:], strict=False):
        is_five_row = before.pos[0] == "動詞" and before.pos[4].startswith("五段") and "未然形" in before.pos[5]
        if is_five_row and token.lemma == "させる" and token.is_a("助動詞") and before.end == token.start:
            yield Mark(before.start, token.end, before.surface + token.surface.removeprefix("さ"))


@unit_rule("style.double_negative")
def double_negative(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark negations of negations; the rhetorical 〜ではないか is none."""
    for match in _DOUBLE_NEGATIVE.finditer(unit.plain):
        rhetorical = "では" in match[0] and _QUESTION.match(unit.plain, match.end() - 1)
        if not (rhetorical and _OUTSPOKEN_NO.match(match[0]) is None):
            yield Mark(*match.span())


@unit_rule("style.filler")
def filler(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark interjections that only fill a pause; a stray あ in the middle of a word is seen as one, too."""
    found = {match.span() for match in _FILLER_TEXT.finditer(unit.plain)}
    tokens = unit.tokens
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.is_a("感動詞", "フィラー") or (token.pos[0] in ("感動詞", "副詞") and token.surface in _FILLERS):
            found.add((token.start, token.end))
        elif (
            token.surface == "なん" and following is not None and following.surface == "か" and _is_free(tokens, index)
        ):
            found.add((token.start, following.end))
    last_end = -1
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= last_end:
            last_end = end
            yield Mark(start, end)


def _is_free(tokens: tuple[Token, ...], index: int) -> bool:
    """なんか after a noun is a particle (など), and なんか月 asks for a number."""
    after = tokens[index + 2] if index + 2 < len(tokens) else None
    return not (index and tokens[index - 1].pos[0] in ("名詞", "代名詞")) and not (
        after is not None and after.surface in ("月", "所", "国", "年")
    )


def _is_one_row(token: Token) -> bool:
    return token.pos[0] == "動詞" and token.pos[4].startswith(("上一段", "下一段"))


def _is_read_as_conditional(token: Token) -> bool:
    """Before ます the analyser takes 覚えれ for the 覚えれ of 覚えれば; no conditional stands there."""
    return _is_one_row(token) and token.pos[5].startswith("仮定形")


@lru_cache(maxsize=4096)
def _conjugation(verb: str) -> str:
    found = tokenizer().tokenize(verb, SplitMode.C)
    return str(found[0].part_of_speech()[4]) if len(found) == 1 else ""


def _drops_ra(token: Token) -> bool:
    # 取れる belongs to 取る (five rows) and is right, 見れる to 見る (one row) and is not.
    base = token.lemma.removesuffix("れる") + "る"
    # くれる and いれる (呉れる, 入れる) are whole verbs, written in kana.
    return not token.normal.endswith("れる") and _conjugation(base).startswith(("上一段", "下一段", "カ行変格"))


@dataclass(frozen=True, slots=True)
class _Particle:
    """One particle, or several in a row (には, かも), and where it stands among the particles of its clause."""

    surface: str
    kind: str
    position: int
    start: int
    end: int


@unit_rule(
    "style.doubled_particle",
    defaults={
        "min_interval": 1,
        "strict": False,
        "allow": ("にも", "でも", "とも", "からも"),
        "commas": tuple(sorted(_COMMAS)),
    },
)
def doubled_particle(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a particle that comes back within ``min_interval`` particles; a comma counts as one.

    Params: ``strict`` (の, を, て and listing particles too), ``allow`` (particles that may repeat), ``commas``.
    """
    for sentence in unit.sentences:
        for clause in _clauses(sentence, frozenset(params["commas"])):
            yield from _repeated(clause, params)


def _repeated(clause: list[_Particle], params: Params) -> Iterator[Mark]:
    last: dict[tuple[str, str], int] = {}
    for particle in clause:
        key = (particle.surface, particle.kind)
        previous = last.get(key)
        last[key] = particle.position
        if previous is None or particle.position - previous > params["min_interval"]:
            continue
        if particle.surface in params["allow"] or (not params["strict"] and _may_repeat(particle)):
            continue
        yield Mark(particle.start, particle.end)


def _may_repeat(particle: _Particle) -> bool:
    if particle.surface in ("の", "を", "や", "とか", "だの", "やら", "か", "たり", "だり", "ば", "も"):
        return particle.surface != "も" or particle.kind == "係助詞"
    return particle.surface in ("て", "で") and particle.kind == "接続助詞"


def _clauses(sentence: Sentence, commas: frozenset[str]) -> Iterator[list[_Particle]]:
    """Yield the particles of the sentence, and apart from them those of each bracketed part."""
    levels: list[list[_Particle]] = [[]]
    positions = [0]
    for token in sentence.tokens:
        opens = token.surface in OPENING or (token.surface == '"' and len(levels) % 2 == 1)
        if opens:
            levels.append([])
            positions.append(0)
        elif (token.surface in CLOSING or token.surface == '"') and len(levels) > 1:
            yield levels.pop()
            positions.pop()
        elif token.surface in commas:
            positions[-1] += 1
        elif token.pos[0] == "助詞":
            _add(levels[-1], token, positions)
        elif token.surface in "。．！？":
            yield levels[-1]
            levels[-1] = []
    yield from levels


def _add(clause: list[_Particle], token: Token, positions: list[int]) -> None:
    if clause and clause[-1].end == token.start:
        joined = clause.pop()
        surface, kind = joined.surface + token.surface, f"{joined.kind}+{token.pos[1]}"
        clause.append(_Particle(surface, kind, joined.position, joined.start, token.end))
        return
    positions[-1] += 1
    clause.append(_Particle(token.surface, token.pos[1], positions[-1], token.start, token.end))
