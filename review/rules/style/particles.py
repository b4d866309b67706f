"""助詞の連続: the same particle twice at a short distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.text.sentences import CLOSING, OPENING
from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.reading import Sentence, Token, Unit

_COMMAS = frozenset("、，,")


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
