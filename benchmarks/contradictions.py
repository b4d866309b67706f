"""Measure how many planted contradictions the rules find, by kind, and how many they report where none was planted.

``python -m benchmarks.contradictions --half tuned|unseen`` plants statements of ``benchmarks/data/contradictions.json``
into real documents (below HUB_TEST_DATA): two that contradict each other, two that say the same in other notations, and
two under different conditions; and it restates a document's own sentences with other amounts. A plant is found if one
finding quotes both its statements. Documents and wordings are halved by a hash of their names: rules are made on the
tuned half only. ``--unplanted`` lists what is reported in the documents as they are, to be judged by a reader.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from knowledge.parsers import ParseLimits
from knowledge.parsers.markdown import markdown_blocks
from knowledge.parsers.registry import parse_file
from knowledge.text.outline import contents_ids, is_history
from knowledge.text.structure import build_sections
from knowledge.types.documents import Block, Section
from review.rules import RuleCrash, run_rule
from review.types import FindingDraft, RelatedDocument, RuleInput

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
WORDINGS = REPOSITORY / "benchmarks" / "data" / "contradictions.json"
RULES = (
    "consistency.conflicting_value",
    "consistency.total_mismatch",
    "consistency.name_mismatch",
    "traceability.duplicate_definition",
)
HALVES = ("tuned", "unseen")
SUFFIXES = (".md", ".docx", ".xlsx", ".pdf", ".pptx")
SHORTEST = 1500
_AMOUNT = re.compile(
    r"(?<![0-9.,\-A-Za-z第年月])([0-9]{1,3}|[3-9][0-9]{3,4})(\s*(?:秒|分|時間|日|か月|年|件|回|%|％|人|名|MB|GB|文字|世代|営業日|台))(?!前|後|目|度|[0-9]|に?最新)"
)
_SENTENCE = re.compile(r"[^。\n|#>`*]{16,120}。")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """One planted pair: what it is, the texts, and whether the second stands in a related document."""

    kind: str
    name: str
    texts: tuple[str, str]
    expected: bool


def half_of(name: str) -> str:
    """Return the half that a document or a wording is in; editions of one document are in the same."""
    stem = re.match(r"[0-9]{3}(?:-[0-9]+)*|[^.]*", name)
    digest = hashlib.sha256((stem[0] if stem else name).encode()).digest()
    return HALVES[digest[0] % 2]


@cache
def wordings() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(WORDINGS.read_text(encoding="utf-8"))
    return found


def documents(half: str) -> Iterator[tuple[str, str]]:
    """Yield the documents of a half with their Markdown."""
    for path in sorted([*(DATA / "documents").iterdir(), *(DATA / "review" / "documents").iterdir()]):
        if path.suffix in SUFFIXES and half_of(path.name) == half:
            text = _markdown(path)
            if len(text) >= SHORTEST:
                yield path.name, text


def _markdown(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return parse_file(path, filename=path.name, limits=ParseLimits()).markdown


def plants(half: str, chance: random.Random) -> Iterator[Plant]:
    """Yield one contradiction of each kind, one pair of equal statements of each, and one of other conditions."""
    for kind, facts in wordings()["facts"].items():
        chosen = [fact for fact in facts if half_of(fact["name"]) == half]
        if not chosen:
            continue
        first, *others = chance.sample(chosen, min(2, len(chosen)))
        yield _pair(kind, first, chance, contradicts=True)
        if others:
            yield _pair(kind, others[0], chance, contradicts=False)
    pairs = [pair for pair in wordings()["conditions"] if half_of(pair[0]) == half]
    one, other = chance.choice(pairs)
    yield Plant(kind="condition", name=one, texts=(one, other), expected=False)


def _pair(kind: str, fact: dict[str, Any], chance: random.Random, *, contradicts: bool) -> Plant:
    forms = chance.sample(fact["forms"], 2)
    if contradicts:
        values = [chance.choice(group) for group in chance.sample(fact["values"], 2)]
    else:
        group = chance.choice([group for group in fact["values"] if len(group) > 1] or fact["values"])
        values = chance.sample([*group, *group[:1]], 2)
    one, other = (_written(form, value) for form, value in zip(forms, values, strict=True))
    return Plant(kind=kind, name=fact["name"], texts=(one, other), expected=contradicts)


def _written(form: str, value: str) -> str:
    steps = value.split("、")
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return form.replace("{v}", value).replace("{a}", "→".join(steps)).replace("{l}", listed)


def restated(text: str, chance: random.Random) -> tuple[tuple[int, int], Plant] | None:
    """Return where a sentence of the document gives an amount, and the sentence again with another one."""
    found = [match for match in _SENTENCE.finditer(text) if _AMOUNT.search(match[0]) and "例" not in match[0]]
    if not found:
        return None
    sentence = chance.choice(found)
    amount = chance.choice(list(_AMOUNT.finditer(sentence[0])))
    number = int(amount[1])
    changed = chance.choice([number + max(1, number // 2), number * 2, max(1, number // 2) if number > 1 else 3])
    said = sentence[0][: amount.start()].lstrip() + f"{changed}{amount[2]}" + sentence[0][amount.end() :]
    said = chance.choice(["", "なお、", "前述のとおり、", "- "]) + said
    plant = Plant(kind="restated", name=sentence[0].strip(), texts=(sentence[0], said), expected=True)
    return sentence.span(), plant


def places(text: str) -> list[int]:
    """Return where a paragraph may be put: behind the own text of sections."""
    blocks = markdown_blocks(text)
    sections = build_sections(text, blocks)
    contents = contents_ids(text, sections)
    return [each.body_end for each in sections if each.id not in contents and not is_history(each)] or [len(text)]


def put(text: str, pieces: list[tuple[int, str]]) -> tuple[str, list[tuple[int, int]]]:
    """Insert pieces at places of a text; return the text and where each stands, in the order given."""
    spans: dict[int, tuple[int, int]] = {}
    parts: list[str] = []
    at = written = 0
    for index, (place, piece) in sorted(enumerate(pieces), key=lambda each: each[1][0]):
        parts += [text[at:place], "\n\n"]
        written += place - at + 2
        spans[index] = (written, written + len(piece))
        parts += [piece, "\n\n"]
        written += len(piece) + 2
        at = place
    parts.append(text[at:])
    return "".join(parts), [spans[index] for index in range(len(pieces))]


def target_of(text: str, *, related: str = "") -> RuleInput:
    blocks, sections = _read(text)
    others: tuple[RelatedDocument, ...] = ()
    if related:
        blocks_there, sections_there = _read(related)
        others = (
            RelatedDocument(
                document_id="other",
                title="要件定義書",
                document_type="requirements",
                text=related,
                sections=sections_there,
                blocks=blocks_there,
            ),
        )
    return RuleInput(
        text=text, title="", document_type="basic_design", sections=sections, blocks=blocks, related=others
    )


def _read(text: str) -> tuple[tuple[Block, ...], tuple[Section, ...]]:
    blocks = markdown_blocks(text)
    return blocks, build_sections(text, blocks)


def findings(target: RuleInput) -> Iterator[FindingDraft]:
    for rule in RULES:
        outcome = run_rule(rule, target)
        if isinstance(outcome, RuleCrash):
            raise SystemExit(outcome.message.en)
        yield from outcome.findings


def quotes_both(found: FindingDraft, one: tuple[int, int], other: tuple[int, int], *, across: bool) -> bool:
    def holds(span: tuple[int, int], document: str) -> bool:
        return any(each.start < span[1] and each.end > span[0] and each.document == document for each in found.evidence)

    return holds(one, "") and holds(other, "other" if across else "")


def measure(half: str, *, seeds: int, verbose: bool) -> None:
    """Print by kind how many contradictions are found, and how many pairs that agree are reported."""
    planted, found_there, agreed, reported = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for name, text in documents(half):
        for seed in range(seeds):
            chance = random.Random(f"{name}:{seed}")
            across = seed % 4 == 3
            chosen = list(plants(half, chance))
            own = None if across else restated(text, chance)
            possible = places(text)
            other_text = "# 要件定義書\n\n" + "\n\n".join(
                f"## {number}. {title}\n" for number, title in enumerate(("目的", "要件", "運用", "移行"), 1)
            )
            there = places(other_text)
            pieces_here: list[tuple[int, str]] = []
            pieces_there: list[tuple[int, str]] = []
            for plant in chosen:
                spots = sorted(chance.sample(possible, 2)) if len(possible) > 1 else [possible[0], len(text)]
                pieces_here.append((spots[0], plant.texts[0]))
                (pieces_there if across else pieces_here).append(
                    (chance.choice(there) if across else spots[1], plant.texts[1])
                )
            if own:
                pieces_here.append((chance.choice(possible), own[1].texts[1]))
            made, spans = put(text, pieces_here)
            made_there, spans_there = put(other_text, pieces_there)
            every = list(findings(target_of(made, related=made_there if across else "")))
            pairs = (
                list(zip(spans, spans_there, strict=True))
                if across
                else list(zip(spans[::2], spans[1::2], strict=False))
            )
            for plant, (one, other) in zip(chosen, pairs, strict=False):
                hit = any(quotes_both(each, one, other, across=across) for each in every)
                (planted if plant.expected else agreed)[plant.kind] += 1
                if hit:
                    (found_there if plant.expected else reported)[plant.kind] += 1
                if verbose and hit != plant.expected:
                    print("MISSED" if plant.expected else "FALSE", name, "across" if across else "", plant)
            if own:
                planted["restated"] += 1
                was = next((at for at in _where(made, own[1].texts[0])), None)
                if was and any(quotes_both(each, was, spans[-1], across=False) for each in every):
                    found_there["restated"] += 1
                elif verbose:
                    print("MISSED", name, own[1])
    for kind in sorted(planted | agreed):
        print(
            f"{kind:15} found {found_there[kind]:4} of {planted[kind]:4}   "
            f"reported {reported[kind]:3} of {agreed[kind]:4} that agree"
        )
    every_found, every_false = found_there.total(), reported.total()
    print(
        f"recall {every_found / planted.total():.3f} ({every_found} of {planted.total()}), "
        f"of {every_found + every_false} reported pairs {every_false} agree"
    )


def _where(text: str, sentence: str) -> Iterator[tuple[int, int]]:
    at = text.find(sentence)
    if at >= 0:
        yield at, at + len(sentence)


def unplanted(half: str) -> None:
    """Print what is reported in the documents as they are."""
    count, begun, characters = 0, time.process_time(), 0
    for name, text in documents(half):
        characters += len(text)
        for found in findings(target_of(text)):
            count += 1
            print(name, found.rule_id, dict(found.data))
            for span in found.evidence[:4]:
                line = text[text.rfind("\n", 0, span.start) + 1 : span.end + 40].replace("\n", "⏎")
                print("    ", span.start, line[:220])
    print(f"{count} findings in {characters} characters, {time.process_time() - begun:.1f} s")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, default="tuned")
    parser.add_argument("--seeds", type=int, default=4, help="copies of each document with plants")
    parser.add_argument("--unplanted", action="store_true", help="list what is reported without any plant")
    parser.add_argument("--verbose", action="store_true", help="print each plant that is judged wrongly")
    given = parser.parse_args(arguments)
    if given.unplanted:
        unplanted(given.half)
    else:
        measure(given.half, seeds=given.seeds, verbose=given.verbose)


if __name__ == "__main__":
    main(sys.argv[1:])
