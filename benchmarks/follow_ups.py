"""How many questions that go on from another are made whole: ``python -m benchmarks.follow_ups [--show]``.

The rows are in tests/gold/follow_ups: a conversation, its next question, and words that the whole question must have;
``same`` are new questions, which must be left as they are. ``--show`` prints every row with what became of it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.text.follow_ups import FollowUp, resolve_follow_up

ROWS = Path(__file__).resolve().parent.parent / "tests" / "gold" / "follow_ups"


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (ROWS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def resolved(row: dict[str, Any]) -> FollowUp:
    """Go through the conversation, each question made whole before the next."""
    before = ""
    for question in row["before"]:
        before = resolve_follow_up(question, before).text
    return resolve_follow_up(row["question"], before)


def is_right(row: dict[str, Any], found: FollowUp) -> bool:
    if row["same"]:
        return not found.carried and found.text == row["question"]
    return bool(found.carried) and all(word in found.text for word in row["must"])


def main() -> None:
    """Print the shares, for each set."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--show", action="store_true")
    show = arguments.parse_args().show
    for name in ("first", "second"):
        done = [(row, found, is_right(row, found)) for row in rows(name) for found in [resolved(row)]]
        for row, found, right in done:
            if show or not right:
                print("right" if right else "WRONG", row["before"], row["question"], "->", found.text)
        count = sum(one[2] for one in done)
        print(f"{name}: {count} of {len(done)} ({count / len(done):.1%})")


if __name__ == "__main__":
    main()
