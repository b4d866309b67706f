"""Backup and restore of a large hub: how long they take, and whether the restored hub answers as the first one did.

``python -m benchmarks.restore --folder /tmp/restore`` starts a hub, fills it with office files that are made of the
texts of real ones, each with other passages, a title and a photograph of its own (1,100 files, 2 GB), reviews 300 of
them, backs it up while it runs, restores it by ``restore PATH`` into an empty folder, and starts that. Both hubs are
asked the same 200 questions over REST, and for each review with its findings. Printed as JSON: sizes, seconds, what
``doctor`` said, and how many answers were equal, to the last digit of a score. ``--data`` is a folder of docx, xlsx and
pdf files (HUB_TEST_DATA names it otherwise). The folder must be empty; it takes three times the size, and stays.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pypdf
from openpyxl.drawing.image import Image as SheetPicture
from PIL import Image

from benchmarks.scratch import REPOSITORY
from tests.flows.hub_process import HubProcess, start_hub

PHOTOGRAPH = (1500, 1100)
PARAGRAPHS = 24
REVIEW_DONE = {"completed", "failed", "cancelled"}
STALLED_S = 600
KINDS = ("docx", "docx", "docx", "xlsx", "pdf")


class Originals:
    """Real documents, and files made of their texts."""

    def __init__(self, folder: Path) -> None:
        files = sorted(path for path in folder.iterdir() if not path.name.startswith("~"))
        self._texts = [texts for path in files if path.suffix == ".docx" if (texts := _paragraphs(path))]
        self._tables = [rows for path in files if path.suffix == ".xlsx" if (rows := _rows(path))]
        self._pages = [page for path in files if path.suffix == ".pdf" for page in pypdf.PdfReader(path).pages]
        if not (self._texts and self._tables and self._pages):
            sys.exit(f"no docx, xlsx and pdf files in {folder}: give --data or set HUB_TEST_DATA")

    def passages(self) -> list[str]:
        """The paragraphs that are long enough to be asked about, each once."""
        return sorted({text for texts in self._texts for text in texts if 20 <= len(text) <= 120})

    def make(self, number: int) -> tuple[str, bytes]:
        """A file that is like no other: its name and its bytes."""
        chance = random.Random(number)
        kind = KINDS[number % len(KINDS)]
        title = f"{chance.choice(('基本設計書', '運用手順書', '要領', '仕様書'))} {number:05}"
        made = {"docx": self._docx, "xlsx": self._xlsx, "pdf": self._pdf}[kind](title, chance)
        return f"{title}.{kind}", made

    def _docx(self, title: str, chance: random.Random) -> bytes:
        texts = chance.choice(self._texts)
        start = chance.randrange(max(len(texts) - PARAGRAPHS, 1))
        document = docx.Document()
        document.add_heading(title, 1)
        for text in texts[start : start + PARAGRAPHS]:
            document.add_paragraph(f"{title}: {text}" if chance.random() < 0.2 else text)
        document.add_picture(io.BytesIO(_photograph(chance)))
        return _saved(document)

    def _xlsx(self, title: str, chance: random.Random) -> bytes:
        rows = chance.choice(self._tables)
        start = chance.randrange(max(len(rows) - PARAGRAPHS, 1))
        book = openpyxl.Workbook()
        sheet = book.worksheets[0]
        sheet.append([title])
        for row in rows[start : start + PARAGRAPHS]:
            sheet.append(row)
        sheet.add_image(SheetPicture(io.BytesIO(_photograph(chance))), "H2")
        return _saved(book)

    def _pdf(self, title: str, chance: random.Random) -> bytes:
        beneath = io.BytesIO()
        Image.open(io.BytesIO(_photograph(chance))).save(beneath, "PDF")
        writer = pypdf.PdfWriter()
        start = chance.randrange(max(len(self._pages) - 2, 1))
        for page in self._pages[start : start + 2]:
            writer.add_page(page)
        first: Any = writer.pages[0]
        first.merge_page(pypdf.PdfReader(beneath).pages[0], over=False)
        writer.add_metadata({"/Title": title})
        made = io.BytesIO()
        writer.write(made)
        return made.getvalue()


def _saved(made: Any) -> bytes:
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def _paragraphs(path: Path) -> list[str]:
    return [one.text.strip() for one in docx.Document(str(path)).paragraphs if one.text.strip()]


def _rows(path: Path) -> list[list[str]]:
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    rows = itertools.chain.from_iterable(sheet.iter_rows(values_only=True) for sheet in book.worksheets)
    said = ([str(cell) for cell in row if cell is not None][:8] for row in itertools.islice(rows, 2_000))
    return [row for row in said if row]


def _photograph(chance: random.Random) -> bytes:
    """A JPEG that can't be compressed further: 2 MB."""
    width, height = PHOTOGRAPH
    file = io.BytesIO()
    Image.frombytes("RGB", PHOTOGRAPH, chance.randbytes(3 * width * height)).save(file, "JPEG", quality=80)
    return file.getvalue()


def fill(hub: HubProcess, originals: Originals, documents: int, reviews: int) -> Counter[str]:
    """Take all in, wait for it, and have the first word files reviewed; gives how many ended how."""

    def upload(number: int) -> tuple[str, str]:
        name, content = originals.make(number)
        answer = hub.call("POST", "/documents", files={"file": (name, content)})
        assert answer.status_code in {200, 201, 202}, answer.text
        return name, str(answer.json()["document_id"])

    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(upload, range(documents)))
    ended = Counter(one["status"] for one in hub.wait_until_finished(*dict(taken).values(), stalled_after_s=STALLED_S))
    reviewed = [document_id for name, document_id in taken if name.endswith(".docx")][:reviews]
    with ThreadPoolExecutor(4) as pool:
        return ended + Counter(f"review {status}" for status in pool.map(lambda one: _review(hub, one), reviewed))


def _review(hub: HubProcess, document_id: str) -> str:
    asked = {"document_id": document_id, "checklist": "basic-design", "options": {"wait_seconds": 50}}
    answer = hub.call("POST", "/reviews", json=asked)
    assert answer.status_code in {200, 202}, answer.text
    review = answer.json()
    deadline = time.monotonic() + STALLED_S
    while review["status"] not in REVIEW_DONE:
        assert time.monotonic() < deadline, review
        time.sleep(1)
        review = hub.call("GET", f"/reviews/{review['review_id']}").json()
    return str(review["status"])


def answers(hub: HubProcess, questions: Sequence[str]) -> dict[str, list[object]]:
    """What people see: for each question passages with scores and places, for each review its verdict and findings."""
    seen: dict[str, list[object]] = {}
    for question in questions:
        answer = hub.call("POST", "/search", json={"query": question})
        assert answer.status_code == 200, answer.text
        seen[f"search {question}"] = [
            [one["chunk_id"], one["content"], one["score"], one["start_offset"], one["end_offset"]]
            for one in answer.json()["results"]
        ]
    for review_id in _reviews(hub):
        facts = hub.call("GET", f"/reviews/{review_id}").json()
        seen[f"review {review_id}"] = [facts["status"], facts["verdict"], *facts["findings"]]
    return seen


def _reviews(hub: HubProcess) -> Iterator[str]:
    more: dict[str, str] = {}
    while True:
        page = hub.call("GET", "/reviews", params={"limit": "100", **more}).json()
        yield from (str(one["review_id"]) for one in page["items"])
        if not page.get("next_cursor"):
            return
        more = {"cursor": page["next_cursor"]}


def compared(before: dict[str, list[object]], after: dict[str, list[object]]) -> dict[str, int]:
    """How many searches and reviews there were, with how many passages and findings, and how many are equal."""
    facts = {}
    for kind in ("search", "review"):
        names = [name for name in before if name.startswith(f"{kind} ")]
        facts[kind] = len(names)
        facts[f"{kind} answers"] = sum(len(before[name]) for name in names)
        facts[f"{kind} equal"] = sum(before[name] == after.get(name) for name in names)
    facts["reviews afterwards"] = sum(name.startswith("review ") for name in after)
    facts["findings"] = facts.pop("review answers") - 2 * facts["review"]
    return facts


def megabytes(folder: Path) -> int:
    """The bytes of all files below a folder, in millions."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 10**6


def run(given: argparse.Namespace) -> dict[str, Any]:
    """Fill, back up, restore and compare; gives what was measured."""
    first, other, backup = given.folder / "first", given.folder / "restored", given.folder / "backup"
    originals = Originals(given.data)
    questions = random.Random("questions").sample(originals.passages(), given.searches)
    facts: dict[str, Any] = {}
    hub = start_hub(first, "--no-sample", HUB_OCR_ENGINE="none")
    try:
        began = time.monotonic()
        facts |= fill(hub, originals, given.documents, given.reviews)
        facts["fill, s"] = round(time.monotonic() - began)
        facts |= {f"{name}, MB": megabytes(first / name) for name in ("blobs", "postgres")}
        before = answers(hub, questions)
        began = time.monotonic()
        hub.manage("backup", str(backup), "--json", timeout_s=3_600)
        facts["backup, s"] = round(time.monotonic() - began)
    finally:
        hub.stop()
    facts["backup, MB"] = megabytes(backup)
    other.mkdir(mode=0o700)
    shutil.copy(first / "secret_key", other / "secret_key")
    elsewhere = HubProcess(data_dir=other, port=hub.port, process=hub.process, settings=hub.settings)
    began = time.monotonic()
    facts["restore"] = json.loads(elsewhere.manage("restore", str(backup), "--json", timeout_s=3_600).stdout)
    facts["restore, s"] = round(time.monotonic() - began)
    restored = start_hub(other, "--no-sample", HUB_OCR_ENGINE="none")
    try:
        restored.token = hub.token
        facts |= compared(before, answers(restored, questions))
        said = restored.manage("doctor", check=False)
        facts |= {"doctor exit code": said.returncode, "doctor": said.stdout.splitlines()}
    finally:
        restored.stop()
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="an empty one, or one that is not there yet")
    parser.add_argument("--documents", type=int, default=1_100)
    parser.add_argument("--reviews", type=int, default=300)
    parser.add_argument("--searches", type=int, default=200)
    default = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "documents"
    parser.add_argument("--data", type=Path, default=default, help="a folder of real docx, xlsx and pdf files")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if any(given.folder.iterdir()):
        sys.exit(f"{given.folder} is not empty")
    print(json.dumps(run(given), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
