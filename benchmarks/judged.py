"""How often what rules say of real documents holds, as people judged it: ``python -m benchmarks.judged``.

``benchmarks/data/judged_findings.jsonl`` has findings that somebody judged at first shot, without knowing rule or
confidence: ``right`` holds and a reviewer would act on it, ``true`` holds and nobody would, ``false`` does not hold.
``is_left`` says whether rules still report it. The documents, in ``benchmarks/data/judged_sources.jsonl``, are not in
this repository; with ``--documents FOLDER`` the rules of their check lists are run over them, and ``--write`` notes
what is left. A finding is the same where its message, its topic or the text of one of its quotes is (kept as digests).
What rules say of guidelines' articles is left as it was noted, since these are only in a hub.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
django.setup()

from benchmarks.first_shot.outputs import read_lines, write_lines  # noqa: E402 (needs the settings)
from benchmarks.first_shot.readings import Source  # noqa: E402
from benchmarks.first_shot.running import run  # noqa: E402
from review.types import FindingDraft  # noqa: E402

DATA = Path(__file__).resolve().parent / "data"
FINDINGS, SOURCES = DATA / "judged_findings.jsonl", DATA / "judged_sources.jsonl"
OF_ARTICLES = "compliance."


def digest(text: str) -> str:
    """Return what a message or a quote is known by here.

    >>> digest("変更履歴がありません。")
    'e9fc49bd67ab'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def counts_by_kind(judged: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int | bool]]:
    """Return for each kind how many findings were judged and how many of them hold, of those that are left.

    ``mended_for`` where one of the kind is not: then its rule was changed on these documents.
    """
    kinds: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in judged:
        kinds[line["kind"]].append(line)
    return {kind: _counts(lines) for kind, lines in sorted(kinds.items()) if any(line["is_left"] for line in lines)}


def _counts(lines: list[Mapping[str, Any]]) -> dict[str, int | bool]:
    left = [line for line in lines if line["is_left"]]
    counted: dict[str, int | bool] = {"right": sum(line["says"] != "false" for line in left), "judged": len(left)}
    return counted | ({"mended_for": True} if len(left) < len(lines) else {})


def mark_left(judged: list[dict[str, Any]], folder: Path) -> None:
    """Note of each judged finding whether the rules still report it."""
    for row in read_lines(SOURCES):
        kind = row.pop("kind", None)
        done = run(Source(round=0, **row), folder)
        if done.crashed:
            raise SystemExit(f"{row['document']} ({kind}): {', '.join(done.crashed)} crashed")
        reported = [_marks(found, done.text) for found in done.findings]
        for line in judged:
            if line["document"] == row["document"] and not line["rule"].startswith(OF_ARTICLES):
                own = {*line["marks"]}
                line["is_left"] = any(rule == line["rule"] and own & marks for rule, marks in reported)


def _marks(found: FindingDraft, text: str) -> tuple[str, set[str]]:
    quotes = [text[span.start : span.end] for span in found.evidence if not span.document]
    topics = [found.data.get("topic")] if found.data.get("topic") else []
    return found.rule_id, {digest(one) for one in (found.message.ja, *quotes, *topics)}


def table(judged: list[dict[str, Any]]) -> str:
    """Write for each rule how many findings were judged, and how many are right, true and false, at first and now."""
    at_first: dict[str, Counter[str]] = defaultdict(Counter)
    now: dict[str, Counter[str]] = defaultdict(Counter)
    for line in judged:
        for rule in (line["rule"], "all"):
            at_first[rule][line["says"]] += 1
            now[rule][line["says"]] += line["is_left"]
    most_first = sorted(at_first.items(), key=lambda item: -item[1].total())
    said = [f"| `{rule}` | {_figures(counts)} | {_figures(now[rule])} |" for rule, counts in most_first]
    return "\n".join(("| rule | right, true, false at first | now |", "|---|---|---|", *said))


def _figures(counts: Mapping[str, int]) -> str:
    return ", ".join(str(counts[each]) for each in SAYS)


SAYS = ("right", "true", "false")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="note in the file what rules still report")
    given = parser.parse_args(arguments)
    judged = read_lines(FINDINGS)
    if given.documents:
        mark_left(judged, given.documents)
    if given.write:
        write_lines(FINDINGS, judged)
    print(table(judged))


if __name__ == "__main__":
    main(sys.argv[1:])
