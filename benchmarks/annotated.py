"""Measure whether each finding's note stands on exactly the quoted words of the original.

``python -m benchmarks.annotated`` reads the Word files, workbooks and PDFs of HUB_TEST_DATA, has all rules look for
findings in them, writes annotated copies as reports do, and lets other readers (lxml over the parts, openpyxl,
pdfplumber) say which words each note is on. Right are the notes on exactly those words of the quote that the file has:
bullets and the marks of tables are the hub's writing, and so are numbers that Word counts, which are counted apart
where a quote has nothing else. Markdown files have marks behind the words. Words of a workbook's shapes and
of sheets' names are in no cell, and pictures have no words; they are counted apart. With LibreOffice (``soffice``) each
Office copy is opened and its notes are counted again.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import django

# Needs settings, and neither a database nor anything of a hub that is there.
os.environ |= {"HUB_DATA_DIR": tempfile.mkdtemp(prefix="hub-benchmark-"), "DJANGO_SETTINGS_MODULE": "hub.settings"}
django.setup()

import openpyxl  # noqa: E402
import pdfplumber  # noqa: E402
from lxml import etree  # noqa: E402
from pdfplumber.page import Page  # noqa: E402

from knowledge.originals.annotated import TASKS, page_parts  # noqa: E402
from knowledge.parsers.annotated.notes import Markup, Note  # noqa: E402
from knowledge.parsers.errors import ParseError  # noqa: E402
from knowledge.parsers.limits import ParseLimits  # noqa: E402
from knowledge.parsers.pdf.page import with_whole_kanji  # noqa: E402
from knowledge.parsers.pictures import PictureIntake  # noqa: E402
from knowledge.parsers.process.isolation import parse_isolated, run_isolated  # noqa: E402
from knowledge.parsers.xlsx.reader import WorkbookReader  # noqa: E402
from knowledge.text.structure import build_sections  # noqa: E402
from knowledge.types.documents import Block, BlockKind, ParsedDocument  # noqa: E402
from review.report.annotated.marked_text import mark_text  # noqa: E402
from review.rules import RuleCrash, list_rules, run_rule  # noqa: E402
from review.rules.style import read_markdown, style_rules  # noqa: E402
from review.types import RuleInput, Span  # noqa: E402

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
LIMITS = ParseLimits()
AUTHORS = ("山田 太郎", "Hub（言語モデル）", "髙橋 﨑子", "𠮷野 家")
LONG = "検索の条件が決まっておらず、誰が・いつ・何を判断するのかが読み手に伝わりません。" * 12
WRITTEN = datetime.datetime(2026, 4, 1, tzinfo=datetime.UTC)
_NUMBER = re.compile(r"【指摘 (\d+)】")
_MARK = re.compile(r"\[\^hub-(\d+)\]")


def compact(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", with_whole_kanji(text)).split())


def quotes(parsed: ParsedDocument, most: int) -> list[Span]:
    """What the findings of all rules quote of a document, some of each rule's, in the order of the text."""
    text, sections = parsed.markdown, build_sections(parsed.markdown, parsed.blocks)
    target = RuleInput(text=text, title=parsed.title or "", document_type="", sections=sections, blocks=parsed.blocks)
    by_rule: dict[str, list[Span]] = {}
    for found in list_rules():
        outcome = run_rule(found.id, target)
        if not isinstance(outcome, RuleCrash):
            by_rule[found.id] = [span for draft in outcome.findings for span in draft.evidence if not span.document]
    style = read_markdown(text, parsed.blocks)
    for rule_id, rule in style_rules().items():
        by_rule[rule_id] = [Span(start=place.start, end=place.end) for place in rule.places(style, {})]
    drawn = random.Random(20261125)
    chosen: list[Span] = []
    for spans in by_rule.values():
        known = [span for span in dict.fromkeys(spans) if 0 <= span.start < span.end <= len(text)]
        chosen += drawn.sample(known, min(most, len(known)))
    return sorted(set(chosen), key=lambda span: (span.start, span.end))


def written_words(parsed: ParsedDocument, span: Span) -> str:
    """The words of a span that the file has: without what the Markdown marks them with."""
    text = parsed.markdown[span.start : span.end]
    kinds = {block.kind for block in parsed.blocks if block.start < span.end and span.start < block.end}
    if BlockKind.HEADING in kinds:
        text = re.sub(r"(?m)^#{1,6} ", "", text)
    if BlockKind.TABLE not in kinds:  # bars that are no table's are the file's
        return text
    text = re.sub(r"(?m)^\|?[ |:-]*-{3}[ |:-]*$", "", text)
    return re.sub(r"<br>|\\(?=[|\\])|(?<!\\)\|", "", text)


def words_of_notes(path: Path, kind: str) -> dict[int, list[str]]:
    """The words under each note by its number, as another reader sees them."""
    found: dict[int, list[str]] = {}
    for text, words in {"docx": _word, "xlsx": _workbook, "pdf": _pdf}[kind](path):
        for number in _NUMBER.findall(text):
            found.setdefault(int(number), []).append(words)
    return found


def _word(path: Path) -> Iterator[tuple[str, str]]:
    archive = zipfile.ZipFile(path)
    words: dict[str, str] = {}
    for name in archive.namelist():
        if re.fullmatch(r"word/(document|footnotes|endnotes)\d*\.xml", name):
            words |= _ranges(etree.fromstring(archive.read(name)))
    comments = next(name for name in archive.namelist() if re.fullmatch(r"word/comments\d*\.xml", name))
    for comment in etree.fromstring(archive.read(comments)):
        yield "".join(one.text or "" for one in comment.iter(f"{W}t")), words.get(comment.get(f"{W}id"), "")


def _ranges(root: Any) -> dict[str, str]:
    begun: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for element in root.iter("*"):
        number = element.get(f"{W}id")
        if element.tag == f"{W}commentRangeStart":
            begun[number] = []
        elif element.tag == f"{W}commentRangeEnd":
            found[number] = "".join(begun.pop(number, []))
        elif element.tag in (f"{W}t", MATH_TEXT, f"{W}noBreakHyphen"):
            is_unseen = any(one.tag.endswith(("}Fallback", "}rt")) for one in element.iterancestors())
            for words in () if is_unseen else begun.values():
                words.append("-" if element.tag == f"{W}noBreakHyphen" else element.text or "")
    return found


def _workbook(path: Path) -> Iterator[tuple[str, str]]:
    shown = openpyxl.load_workbook(path, data_only=True)
    for sheet in openpyxl.load_workbook(path).worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.comment:
                    value = shown[sheet.title][cell.coordinate].value
                    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time()
                    yield cell.comment.text, f"{value:%Y/%-m/%-d}" if is_day else str(value or "")


def _pdf(path: Path) -> Iterator[tuple[str, str]]:
    with pdfplumber.open(path) as document:
        for page in document.pages:
            chars = page.dedupe_chars(tolerance=1).chars if page.annots else []
            for note in page.annots:
                corners = [float(value) for value in note["data"].get("QuadPoints", ())]
                shown = [_as_shown(page, *place) for place in zip(corners[::2], corners[1::2], strict=True)]
                words = ""
                for first in range(0, len(shown), 4):
                    across, down = zip(*shown[first : first + 4], strict=True)
                    top, bottom = min(down), max(down)
                    inside = [
                        char
                        for char in chars
                        if min(across) - 0.1 <= (char["x0"] + char["x1"]) / 2 <= max(across) + 0.1
                        and top - 0.1 <= (char["top"] + char["bottom"]) / 2 <= bottom + 0.1
                    ]
                    words += "".join(char["text"] for char in inside)
                yield note["contents"] or "", words


def _as_shown(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a place of a note is from the top left of its page, which may be shown turned."""
    width, height = (page.height, page.width) if page.rotation in (90, 270) else (page.width, page.height)
    return {0: (x, height - y), 90: (y, x), 180: (width - x, y), 270: (height - y, width - x)}[page.rotation]


def is_right(quote: str, words: Sequence[str], kind: str) -> bool:
    """Whether the words under a note are those of its quote; for a cell, whether it has them."""
    wanted, found = compact(quote), compact("".join(words))
    if kind == "xlsx":  # a quote of several cells is on the first of them
        return bool(found) and (wanted in found or wanted.startswith(found))
    if kind == "pdf":
        return Counter(found) == Counter(wanted)
    # Word counts numbers and draws bullets; the text has "[^1]" and "…" for marks and tabs.
    return found == wanted or (bool(found) and compact(re.sub(r"\[\^e?\d+\]|…", "", quote)).endswith(compact(found)))


def is_apart(parsed: ParsedDocument, span: Span, shapes: str) -> bool:
    """Whether a span has no words that a note can be on exactly; ``shapes`` are the words of a workbook's shapes."""
    block = next((one for one in parsed.blocks if one.start <= span.start < one.end), None)
    quote = written_words(parsed, span)
    if block is None or block.kind is BlockKind.FIGURE or not any(map(str.isalnum, quote)):
        return True
    if parsed.format == "docx" and (is_counted(parsed, block, span) or is_below_the_text(parsed, block)):
        return True
    if parsed.format != "xlsx" or block.kind is BlockKind.TABLE:
        return False
    whole = compact(parsed.markdown[block.start : block.end])
    return block.cell is None or (":" not in block.cell and whole in shapes)


def is_counted(parsed: ParsedDocument, block: Block, span: Span) -> bool:
    """Whether a span is the number of a heading or of a list's line alone, which Word counts and the file lacks."""
    line = parsed.markdown[parsed.markdown.rfind("\n", 0, span.start) + 1 : span.start]
    is_first = re.fullmatch(r"(#{1,6} |\s*(- )?)[0-9０-９.．]*", line) is not None
    is_number = re.fullmatch(r"[(（]?[0-9０-９]+([.．][0-9０-９]+)*[.．)）]?", written_words(parsed, span).strip())
    return is_first and is_number is not None and block.kind in (BlockKind.HEADING, BlockKind.LIST)


def is_below_the_text(parsed: ParsedDocument, block: Block) -> bool:
    """Whether a block is a footnote or an endnote, whose note stands at its mark: LibreOffice opens it only there."""
    return re.match(r"\[\^e?\d+\]: ", parsed.markdown[block.start : block.end]) is not None


def words_of_shapes(path: Path) -> str:
    reader = WorkbookReader(path, PictureIntake(LIMITS), max_cells=LIMITS.max_cells)
    return "\n".join(compact(shape.text) for sheet in reader.sheets() for shape in sheet.shapes)


def plain_notes(spans: Sequence[Span]) -> list[Note]:
    return [
        Note(
            text=f"【指摘 {number}】重大 / 章の構成\n{LONG if number % 5 == 0 else '決まっていません。'}",
            author=AUTHORS[number % len(AUTHORS)],
            start=span.start,
            end=span.end,
            is_quote=True,
        )
        for number, span in enumerate(spans)
    ]


def annotate(path: Path, parsed: ParsedDocument, notes: Sequence[Note], target: Path) -> tuple[list[str], float]:
    """Write a copy with notes as reports do; return how each was placed, and the seconds that it took."""
    words = [list(page_parts(parsed.markdown, parsed.blocks, note.start, note.end)) for note in notes]
    begun = time.perf_counter()

    def load(result: dict[str, Any], folder: Path) -> list[str]:
        shutil.copy(folder / Path(result["file"]).name, target)
        return list(result["placed"])

    placed = run_isolated(
        TASKS[parsed.format],
        path,
        load,
        filename=path.name,
        limits=LIMITS,
        arguments={
            "markdown": parsed.markdown,
            "notes": [asdict(note) for note in notes],
            "written": WRITTEN.isoformat(),
            "list_title": "場所を示せなかった指摘",
            **({"words": words} if parsed.format == "pdf" else {}),
        },
    )
    return placed, time.perf_counter() - begun


def other_parts(before: Path, after: Path, kind: str) -> list[str]:
    """The parts that are changed and should not be; of a PDF, whether its bytes are not those it begins with."""
    if kind == "pdf":
        return [] if after.read_bytes().startswith(before.read_bytes()) else ["its own bytes"]
    old, new = zipfile.ZipFile(before), zipfile.ZipFile(after)
    allowed = re.compile(
        r"\[Content_Types\]\.xml|word/(document|footnotes|endnotes|comments\w*)\d*\.xml|.*\.rels"
        r"|xl/worksheets/[^/]+\.xml|xl/comments\d*\.xml|xl/drawings/vmlDrawing\d*\.vml"
    )
    return [name for name in old.namelist() if old.read(name) != new.read(name) and not allowed.fullmatch(name)]


def notes_in_libreoffice(path: Path, kind: str) -> int | None:
    """How many notes LibreOffice shows of a copy; None when it does not open it."""
    suffix = {"docx": "odt", "xlsx": "ods"}[kind]
    with tempfile.TemporaryDirectory() as folder:
        home = f"-env:UserInstallation=file://{folder}/home"
        command = ["soffice", home, "--headless", "--convert-to", suffix, "--outdir", folder, str(path)]
        subprocess.run(command, capture_output=True, timeout=300, check=False)
        made = Path(folder, f"{path.stem}.{suffix}")
        return zipfile.ZipFile(made).read("content.xml").count(b"<office:annotation ") if made.exists() else None


def notes_in_parts(path: Path) -> int:
    archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if re.fullmatch(r"(word|xl)/comments\d*\.xml", name)]
    return sum(len(re.findall(rb"<(?:\w+:)?comment[ >]", archive.read(name))) for name in names)


def measure(path: Path, most: int, folder: Path, *, with_office: bool, shows: bool) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    try:
        parsed = parse_isolated(path, filename=path.name, limits=LIMITS)
    except ParseError as error:  # then there is nothing to review either
        print(f"refused {path.name}: {error.code}", flush=True)
        return Counter(refused=1)
    kind = parsed.format
    spans = quotes(parsed, most)
    if kind == "md":
        return measure_marks(path, parsed, spans)
    if kind not in TASKS:
        return counts
    target = folder / f"copy.{kind}"
    placed, seconds = annotate(path, parsed, plain_notes(spans), target)
    words = words_of_notes(target, kind) if spans else {}
    shapes = words_of_shapes(path) if kind == "xlsx" else ""
    for number, (span, standing) in enumerate(zip(spans, placed, strict=True)):
        quote = written_words(parsed, span)
        if is_apart(parsed, span, shapes):
            counts["apart"] += 1
            continue
        right = is_right(quote, words.get(number, ()), kind)
        counts["findings"] += 1
        counts["right"] += right
        counts["said exact and wrong"] += standing == "exact" and not right
        if shows and not right:
            print(f"    {standing}: {quote[:60]!r} -> {''.join(words.get(number, ()))[:60]!r}")
    counts["parts changed"] += len(other_parts(path, target, kind))
    if with_office and kind != "pdf" and spans:
        counts["not opened"] += notes_in_libreoffice(target, kind) != notes_in_parts(target)
    print(f"{kind} {path.name}: {dict(counts)} {seconds:.1f} s", flush=True)
    return counts


def measure_marks(path: Path, parsed: ParsedDocument, spans: Sequence[Span]) -> Mapping[str, int]:
    """Whether each mark in the copy of a Markdown file is right behind its quote; code has it behind, apart."""
    markup = Markup(notes=tuple(plain_notes(spans)), markdown=parsed.markdown, written=WRITTEN, list_title="")
    body = mark_text(markup, parsed.blocks).decode().partition("\n[^hub-1]: ")[0]
    before = {int(mark[1]) - 1: _MARK.sub("", body[: mark.start()]) for mark in _MARK.finditer(body)}
    counts = Counter({"parts changed": int(_MARK.sub("", body).rstrip() != parsed.markdown.rstrip())})
    for number, span in enumerate(spans):
        block = next(one for one in parsed.blocks if one.start < span.end <= one.end)
        is_whole = block.kind in (BlockKind.CODE, BlockKind.FRONT_MATTER, BlockKind.FIGURE)
        quote = parsed.markdown[span.start : span.end].rstrip()
        counts["apart" if is_whole else "findings"] += 1
        counts["right"] += int(not is_whole and before.get(number, "").endswith(quote))
    print(f"md {path.name}: {dict(counts)}", flush=True)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="instead of HUB_TEST_DATA's")
    parser.add_argument("--most", type=int, default=6, help="findings of each rule in a document")
    parser.add_argument("--shows", action="store_true", help="print the notes that are not right")
    options = parser.parse_args()
    root = Path(os.environ.get("HUB_TEST_DATA", ""))
    kinds = ("docx", "xlsx", "pdf")
    files = options.files or sorted(path for kind in kinds for path in root.glob(f"documents/*.{kind}"))
    total: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            counts = measure(
                path, options.most, Path(folder), with_office=shutil.which("soffice") is not None, shows=options.shows
            )
            total.setdefault(path.suffix, Counter()).update(counts)
            total[path.suffix]["files"] += 1
    for suffix, counts in total.items():
        share = counts["right"] / max(counts["findings"], 1)
        print(f"{suffix}: {share:.2%} right; {dict(counts)}")


if __name__ == "__main__":
    main()
