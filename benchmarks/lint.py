"""Measure the text rules: agreement with examples of textlint's rules by alias, and time.

``python -m benchmarks.lint`` prints for each alias how many of the default-option rows of
``tests/gold/text_quality/examples.jsonl`` (or ``--data``) our rule judges as their authors do, the coverage and the
accuracy over all, and how long 2,000 and 100,000 characters take (texts of more than 5,000 are judged in a child
process, whose processor time is not counted).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from knowledge.parsers.markdown import markdown_blocks
from review.rules.style import ALIASES, read_markdown, style_rules

EXAMPLES = Path(__file__).resolve().parent.parent / "tests" / "gold" / "text_quality" / "examples.jsonl"
_PRESETS = {f"textlint-rule-{name}": f"{name.lower()}/" for name in ("preset-JTF-style", "preset-ja-spacing")}
_PARAGRAPH = """## 受付

申請者は、様式に定める事項を記載した書面を添えて申請します。担当課は、内容を確認し、不備があれば補正を求めます。
利用者が画面から履歴を見れるように、サーバで記録を保存することができます。

- 氏名、住所、電話番号を書く。
- 写しを送る

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Per alias: rows judged alike and rows in all. Rules count when at least one default-option row names them."""

    alike: Counter[str]
    rows: Counter[str]
    uncovered: frozenset[str]

    @property
    def coverage(self) -> float:
        return len(self.rows) / (len(self.rows) + len(self.uncovered))

    @property
    def accuracy(self) -> float:
        return self.alike.total() / self.rows.total()


def measure(path: Path) -> Figures:
    """Judge the default-option rows of ``path`` by the rules that their aliases name."""
    alike: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    uncovered = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        alias = _alias(row)
        if row["options"]:
            continue
        if alias not in ALIASES:
            uncovered.add(alias)
            continue
        rows[alias] += 1
        alike[alias] += row["valid"] is not has_findings(alias, row["text"])
    return Figures(alike=alike, rows=rows, uncovered=frozenset(uncovered))


def has_findings(alias: str, text: str) -> bool:
    """Tell whether the rules behind ``alias`` find anything in a Markdown text."""
    style_text = read_markdown(text, markdown_blocks(text))
    return any(
        next(iter(style_rules()[use.rule_id].places(style_text, use.params)), None) is not None
        for use in ALIASES[alias]
    )


def _alias(row: dict[str, str]) -> str:
    preset = _PRESETS.get(row["source"].rpartition("/")[2], "")
    return f"textlint:{preset}{row['rule'].removeprefix('JTF-')}"


def _seconds(characters: int) -> tuple[float, float]:
    """Return the wall and the CPU seconds that the service takes for a text of this size, with its default rules."""
    from hub.access.principals import local_operator
    from review.lint.texts import lint_text

    text = (_PARAGRAPH * (characters // len(_PARAGRAPH) + 1))[:characters]
    started, used = time.perf_counter(), time.process_time()
    lint_text(principal=local_operator(), text=text)
    return time.perf_counter() - started, time.process_time() - used


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lint", description=__doc__)
    parser.add_argument("--data", type=Path, default=EXAMPLES)
    figures = measure(parser.parse_args().data)
    for alias in sorted(figures.rows):
        print(f"{figures.alike[alias]:>4} of {figures.rows[alias]:>3}  {alias}")
    for alias in sorted(figures.uncovered):
        print(f"   not covered  {alias}")
    rules = len(figures.rows) + len(figures.uncovered)
    print(f"coverage {figures.coverage:.1%} ({len(figures.rows)} of {rules} rules with default-option rows)")
    print(f"accuracy {figures.accuracy:.1%} ({figures.alike.total()} of {figures.rows.total()} rows)")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    import django

    django.setup()
    _seconds(500)
    for characters in (2_000, 100_000):
        wall, cpu = _seconds(characters)
        print(f"{characters:,} characters: {wall * 1000:.0f} ms, {cpu * 1000:.0f} ms of CPU in this process")


if __name__ == "__main__":
    main()
