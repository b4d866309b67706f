"""Pages to read with OCR: rendered by Chromium from texts of this repository, clean and as a bad scan of them.

The text layer of the rendered PDF is what should be read. The reader was changed while looking at pages of another
seed; those of this one were read once.
"""

from __future__ import annotations

import html
import io
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium_c
from PIL import Image, ImageDraw, ImageFilter

from benchmarks import ocr_contents

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES = (
    "docs/user-guide.ja.md",
    "tests/held_out/documents/*.md",
    "tests/gold/review/documents/*.md",
    "review/data/checklists/*.md",
)
ENGLISH = ("docs/security.md", "docs/search.md", "docs/operations.md")
FONTS = ("Noto Sans CJK JP", "Noto Serif CJK JP", "IPAMincho", "IPAGothic")
KINDS = {"text": 20, "table": 14, "two columns": 10, "vertical": 12, "English": 6, "contents": 8}
DPI = 200
SEED = 2026

TrueCharacter = tuple[str, float, float]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TruePage:
    """A page's picture, and in its pixels the middle of each character's place, and the boxes of figures."""

    name: str
    kind: str
    image: Image.Image
    characters: tuple[TrueCharacter, ...]
    figures: tuple[Box, ...] = ()

    def is_in_figure(self, x: float, y: float) -> bool:
        return any(left <= x < right and top <= y < bottom for left, top, right, bottom in self.figures)


def rendered_pages(seed: int = SEED) -> list[TruePage]:
    """Render all pages, clean, at `DPI`; another seed gives pages of other texts."""
    kinds = [kind for kind, count in KINDS.items() for _number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        pdf = _printed(_document(kinds, seed), Path(folder))
        document = pypdfium2.PdfDocument(pdf)
        if len(document) != len(kinds):
            raise RuntimeError(f"{len(document)} pages were printed instead of {len(kinds)}")
        return [_page(document[at], f"{at + 1:02d}", kind) for at, kind in enumerate(kinds)]


def _page(page: pypdfium2.PdfPage, name: str, kind: str) -> TruePage:
    scale = DPI / 72
    image = page.render(scale=scale, grayscale=True).to_pil().convert("L")
    text, height = page.get_textpage(), page.get_size()[1]
    characters = []
    for index in range(text.count_chars()):
        char = chr(pdfium_c.FPDFText_GetUnicode(text, index))
        if not char.isspace() and char.isprintable():
            left, bottom, right, top = text.get_charbox(index)
            x, y = (left + right) / 2 * scale, (height - (top + bottom) / 2) * scale
            if 0 <= x < image.width and 0 <= y < image.height:
                characters.append((char, x, y))
    return TruePage(name=name, kind=kind, image=image, characters=tuple(characters))


def degraded(page: TruePage, seed: int = SEED) -> TruePage:
    """Make of a page what a bad scan is: turned a little, blurred, pale, noisy, stamped and compressed."""
    chance = random.Random(f"{seed} {page.name}")
    noise = np.random.default_rng(chance.getrandbits(32))
    angle = chance.choice((-1, 1)) * chance.uniform(0.4, 1.0)
    image = page.image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=255)
    image = image.filter(ImageFilter.GaussianBlur(chance.uniform(0.6, 1.0)))
    draw = ImageDraw.Draw(image)
    x, y = image.width * chance.uniform(0.5, 0.8), image.height * chance.uniform(0.05, 0.8)
    draw.ellipse((x, y, x + 220, y + 220), outline=170, width=8)
    pixels = np.asarray(image, np.float32) * chance.uniform(0.62, 0.75) + 60
    pixels += noise.normal(0, 9, pixels.shape)
    specks = noise.random(pixels.shape)
    pixels[specks < 0.0008], pixels[specks > 0.9992] = 0, 255
    stored = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(stored, "JPEG", quality=60)
    cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    middle_x, middle_y = page.image.width / 2, page.image.height / 2

    def moved(x: float, y: float) -> tuple[float, float]:
        x, y = x - middle_x, y - middle_y
        return float(cosine * x + sine * y + middle_x), float(cosine * y - sine * x + middle_y)

    characters = tuple((char, *moved(x, y)) for char, x, y in page.characters)
    return TruePage(
        name=page.name, kind=page.kind, image=Image.open(io.BytesIO(stored.getvalue())), characters=characters
    )


def _printed(document: str, folder: Path) -> Path:
    source, target = folder / "pages.html", folder / "pages.pdf"
    source.write_text(document, encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
    command += ["--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return target


_STYLE = """
@page { size: 210mm 297mm; margin: 0 } body { margin: 0 }
section { width: 174mm; height: 260mm; padding: 18mm; overflow: hidden; break-after: page; line-height: 1.7 }
table { border-collapse: collapse; width: 100%; line-height: 1.4 }
td, th { border: 0.3mm solid black; padding: 1mm 2mm; vertical-align: top; text-align: left }
h2 { font-size: 1.3em } .two { column-count: 2; column-gap: 9mm; column-fill: auto; text-align: justify }
.down { writing-mode: vertical-rl; line-height: 1.9 }
"""


def _document(kinds: Sequence[str], seed: int) -> str:
    chance = random.Random(seed)
    prose = _Supply(_paragraphs(SOURCES, japanese=True), chance)
    english = _Supply(_paragraphs(ENGLISH, japanese=False), chance)
    tables = _Supply(list(_tables(SOURCES)), chance)
    pages = []
    for number, kind in enumerate(kinds):
        size = chance.choice((9.5, 10.5, 11, 12)) if kind != "table" else chance.choice((8.5, 9, 10))
        style = f"font: {size}pt '{FONTS[number % len(FONTS)]}'"
        is_contents = kind == "contents"
        content = (
            ocr_contents.contents(prose.next, chance, size) if is_contents else _content(kind, prose, english, tables)
        )
        pages.append(f'<section style="{style}">{content}</section>')
    style = _STYLE + ocr_contents.STYLE
    return f'<!doctype html><html lang="ja"><meta charset="utf-8"><style>{style}</style>{"".join(pages)}</html>'


def _content(kind: str, prose: _Supply, english: _Supply, tables: _Supply) -> str:
    if kind == "table":
        return "".join(f"<p>{html.escape(prose.next()[:80])}</p>{tables.next()}" for _at in range(2))
    supply, count = (english, 9) if kind == "English" else (prose, 15 if kind == "two columns" else 13)
    body = "".join(f"<p>{html.escape(supply.next())}</p>" for _at in range(count))
    body = f"<h2>{html.escape(supply.next()[:24])}</h2>{body}"
    if kind == "vertical":
        body = body.translate(_FULL_WIDTH)
        for wide, tag in _FULL_WIDTH_MARKUP.items():
            body = body.replace(wide, tag)
    wrapper = {"two columns": "two", "vertical": "down"}.get(kind)
    return f'<div class="{wrapper}" style="height: 255mm">{body}</div>' if wrapper else body


# Vertical text has letters and digits upright, and as wide as kanji.
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F) if chr(code) not in "<>/&;"} | {0x20: 0x3000}
# Markup stays: it is one letter, and put back.
_FULL_WIDTH_MARKUP = {"<ｐ>": "<p>", "</ｐ>": "</p>", "<ｈ２>": "<h2>", "</ｈ２>": "</h2>"}


class _Supply:
    """Texts one after the other in an order of chance, from the start again when they are used up."""

    def __init__(self, texts: list[str], chance: random.Random) -> None:
        self._texts, self._at = texts, 0
        chance.shuffle(self._texts)

    def next(self) -> str:
        self._at += 1
        return self._texts[(self._at - 1) % len(self._texts)]


def _texts(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        for path in sorted(REPOSITORY.glob(pattern)):
            yield path.read_text(encoding="utf-8")


def _paragraphs(patterns: Sequence[str], *, japanese: bool) -> list[str]:
    lines = (line.strip(" -*#>0123456789.") for text in _texts(patterns) for line in text.split("\n"))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`_]", r"\1", line) for line in lines if "|" not in line)
    if not japanese:
        return [line for line in plain if len(line) > 30 and line.isascii()]
    return [line for line in plain if len(line) > 30 and _is_prose(line)]


def _is_prose(line: str) -> bool:
    """Whether a line is Japanese text, and no tree drawn with characters and no code, which the sources have too."""
    plain = sum(1 for char in line if char.isascii())
    return re.search(r"[\u2500-\u257f{}\\]", line) is None and 5 * plain <= len(line)


def _tables(patterns: Sequence[str]) -> Iterator[str]:
    for text in _texts(patterns):
        for block in re.findall(r"(?:^\|.*\|\n){3,}", text, re.M):
            rows = [line.strip("|").split("|") for line in block.strip().split("\n") if not re.match(r"\|\s*-", line)]
            shown = ["".join(map(_cell, row)) for row in rows[:14]]
            yield "<table>" + "".join(f"<tr>{row}</tr>" for row in shown) + "</table>"


def _cell(text: str) -> str:
    return f"<td>{html.escape(re.sub(r'[*`]|<br>', ' ', text).strip())}</td>"
