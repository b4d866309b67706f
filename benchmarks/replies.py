"""Measure whether what people answer in annotated copies comes back whole, with its finding.

``python -m benchmarks.replies FILE…`` makes annotated copies of documents as reports do, has other programs answer in
them (python-docx, openpyxl, pypdf: replies, replies to these, resolved notes, changed words), saves Office files once
more by LibreOffice, and reads both as the hub does. Right are the findings that say exactly what was answered, and
those nothing was answered to that propose nothing. A copy with a forged line must be read without that finding, and
any copy be refused as that of another review.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# First, since it gives Django its settings.
from benchmarks.annotated import LIMITS, annotate, quotes  # isort: skip
from benchmarks.reply_writers import CHANGED, WRITERS, lines_of
from hub.core.errors import InvalidInput
from knowledge.originals.annotated import READ_TASK, TASKS
from knowledge.parsers.annotated.notes import Note
from knowledge.parsers.errors import ParseError
from knowledge.parsers.process.isolation import parse_isolated, run_isolated
from knowledge.types.documents import ParsedDocument
from review.report.annotated.references import reference_line
from review.report.annotated.returned import Quoted, read_returned, without_known, words_by_note
from review.types import Span

REVIEW = "rev_0123456789abcdef"
MOST = 20
Read = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the row of a finding is to have; ``text`` None: no answer."""

    text: str | None = None
    is_fixed: bool = False

    def is_met(self, values: Mapping[str, Any]) -> bool:
        is_fixed = values.get("triage") == "fixed"
        if self.text == CHANGED:
            return is_fixed and CHANGED in values.get("text", "")
        return is_fixed == self.is_fixed and values.get("text") == self.text


def line_of(number: int) -> str:
    return reference_line(REVIEW, f"fnd_{number:012d}", 1)


def notes_of(spans: Sequence[Span]) -> list[Note]:
    texts = [f"【指摘 {number}】重大 / 章の構成\n決まっていません。\n{line_of(number)}" for number in range(len(spans))]
    head = f"【レビュー】\n{reference_line(REVIEW, REVIEW, 0)}"
    about = Note(text=head, author="Hub", start=0, end=1, is_quote=False)
    return [
        about,
        *(
            Note(text=text, author="Hub", start=span.start, end=span.end, is_quote=True)
            for text, span in zip(texts, spans, strict=True)
        ),
    ]


def read(path: Path) -> Read:
    return run_isolated(
        READ_TASK, path, lambda result, _folder: list(result["notes"]), filename=path.name, limits=LIMITS
    )


def alone(notes: Read) -> set[str]:
    """The lines of the notes that one finding has to itself; others are answered all at once."""
    return {lines[0] for note in notes if len(lines := list(lines_of(note["text"]))) == 1}


def answered(copy: Any, kind: str, count: int, own: set[str], shared: set[str]) -> dict[int, Expected]:
    """Answer in a copy, and return what is to come back; words that several findings quote are left alone."""
    expected: dict[int, Expected] = {}
    for number in range(count):
        line, turn = line_of(number), number % 5
        expected[number] = Expected()
        if line not in own and kind != "xlsx":  # the list at the end, or beside another finding
            continue
        if turn == 0:
            copy.reply(line, "髙橋 﨑子", f"第{number}章に書きました。\n𠮷野の確認も済みです。")
            expected[number] = Expected(text=f"第{number}章に書きました。\n𠮷野の確認も済みです。")
        elif turn == 1:
            first = copy.reply(line, "山田 太郎", f"検討します（{number}）。")
            copy.reply(line, "佐藤 花子", f"確認しました（{number}）。", to=first)
            two = ("山田 太郎: ", "佐藤 花子: ") if kind != "xlsx" else ("", "")
            expected[number] = Expected(text=f"{two[0]}検討します（{number}）。\n{two[1]}確認しました（{number}）。")
        elif turn == 2 and "resolve" in copy.CAN:
            copy.resolve(line)
            expected[number] = Expected(is_fixed=True)
        elif turn == 3 and "change" in copy.CAN and line in own and line not in shared and copy.change(line):
            expected[number] = Expected(text=CHANGED, is_fixed=True)
    return expected


def overlapping(spans: Sequence[Span]) -> set[str]:
    return {
        line_of(number)
        for number, one in enumerate(spans)
        for other in spans
        if other is not one and other.start < one.end and one.start < other.end
    }


def judged(notes: Read, before: Read, quoted: Mapping[str, str], expected: Mapping[int, Expected]) -> Counter[str]:
    words = words_by_note(before)
    originals = {key: Quoted(words=text, quote=quoted[key[0]]) for key, text in words.items() if key[0] in quoted}
    file = read_returned(REVIEW, without_known(notes, before), originals)
    rows = {row.finding_id: row.values for row in file.rows} if file else {}
    counts: Counter[str] = Counter(findings=len(expected), refused=len(file.errors) if file else 0)
    for number, wanted in expected.items():
        found = rows.get(f"fnd_{number:012d}")
        is_right = found is not None and wanted.is_met(found)
        counts["right"] += is_right
        if not is_right:
            print(f"    {number}: {wanted} -> {found}")
    return counts


def resaved(path: Path, folder: Path) -> Path | None:
    """What LibreOffice makes of a copy when somebody saves it there."""
    home = f"-env:UserInstallation=file://{folder}/home"
    command = ["soffice", home, "--headless", "--convert-to", path.suffix[1:], "--outdir", str(folder / "again")]
    subprocess.run([*command, str(path)], capture_output=True, timeout=300, check=False)
    made = folder / "again" / path.name
    return made if made.exists() else None


def is_refused(notes: Read, count: int) -> bool:
    """Whether a copy with one forged line of so many is read without it, or refused where it has no other."""
    try:
        file = read_returned(REVIEW, notes, {})
    except InvalidInput:
        return count == 1
    return file is not None and len(file.errors) == 1 and len(file.rows) == count - 1


def refuses(act: Callable[[], object]) -> bool:
    try:
        return act() is None
    except InvalidInput:
        return True


def measure(path: Path, folder: Path, totals: dict[str, Counter[str]]) -> None:
    try:
        parsed: ParsedDocument = parse_isolated(path, filename=path.name, limits=LIMITS)
    except ParseError as error:
        print(f"refused {path.name}: {error.code}", flush=True)
        return
    spans = quotes(parsed, 3)[:MOST]
    if parsed.format not in TASKS or not spans:
        return
    copy, returned, forged = (folder / f"{name}.{parsed.format}" for name in ("copy", "returned", "forged"))
    annotate(path, parsed, notes_of(spans), copy)
    before = read(copy)
    quoted = {f"fnd_{number:012d}": parsed.markdown[span.start : span.end] for number, span in enumerate(spans)}
    writer = WRITERS[parsed.format](copy)
    expected = answered(writer, parsed.format, len(spans), alone(before), overlapping(spans))
    writer.save(returned)
    of_kind = totals.setdefault(parsed.format, Counter())
    of_kind += (direct := judged(read(returned), before, quoted, expected)) + Counter(files=1)
    print(f"{parsed.format} {path.name}: {dict(direct)}", flush=True)
    if parsed.format != "pdf" and shutil.which("soffice"):
        again = resaved(returned, folder)
        found = judged(read(again), before, quoted, expected) if again else Counter(findings=len(expected))
        totals.setdefault(f"{parsed.format}, saved by LibreOffice", Counter()).update(found + Counter(files=1))
        print(f"  by LibreOffice: {dict(found)}", flush=True)
    writer = WRITERS[parsed.format](copy)
    first = next(iter(sorted(alone(before))), None)
    if first is not None:
        writer.forge(first, first.replace("fnd_0", "fnd_9"))
        writer.save(forged)
        of_kind.update(forged=1, **{"forged and refused": is_refused(read(forged), len(spans))})
        other = refuses(lambda: read_returned("rev_fedcba9876543210", read(returned), {}))
        of_kind.update(**{"refused as another review's": other})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    totals: dict[str, Counter[str]] = {}
    for path in options.files:
        with tempfile.TemporaryDirectory() as folder:
            measure(path, Path(folder), totals)
    for kind, counts in totals.items():
        print(f"{kind}: {counts['right'] / max(counts['findings'], 1):.2%} right; {dict(counts)}")


if __name__ == "__main__":
    main()
