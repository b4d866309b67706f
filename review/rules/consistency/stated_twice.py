"""What is stated twice and otherwise: methods of endpoints, rows of two tables, shares; copied descriptions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Cell, Table, read_tables
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.consistency.contradictions import Contradiction
from review.rules.consistency.fact_names import folded_name
from review.types import Span

_METHOD = r"(?P<method>GET|POST|PUT|PATCH|DELETE)"
_PATH = r"(?P<path>/[A-Za-z][A-Za-z0-9_\-/{}:.]*)"
_CALL = re.compile(rf"(?<![A-Za-z]){_METHOD}[`*]*\s+[`*]*{_PATH}")
_METHOD_CELL = re.compile(_METHOD)
_PATH_CELL = re.compile(rf"`?{_PATH}`?")
_FEWEST_DEFINED = 2
_THING_HEAD = re.compile(r"^(?:機能|画面|帳票|バッチ|処理|API|メッセージ|コマンド)(?:名称?)?$")
_ROW_TAIL = re.compile(r"(?<=.{2})(?:機能|画面|処理|帳票|バッチ|api)$")
_DESCRIPTION_HEAD = re.compile(r"^(?:機能|画面|処理|帳票)?(?:概要|説明|内容|機能説明)$")
_CASE_HEAD = re.compile(r"期待|結果|手順|確認")
_OPEN_HEAD = re.compile(
    r"型|桁|長さ|必須|null|初期|制約|キー|説明|備考|内容|概要|結果|判定|状態|状況|目的|特徴|詳細|対応|手順|期待|値|数|率|日|時|用途|理由|対策|例"
)
_FEWEST_COLUMNS, _LONGEST_VALUE = 3, 30
_SHORTEST_DESCRIPTION, _PAIR = 12, 2
_FRACTION = re.compile(r"(?<![0-9.])(?P<of>0\.[0-9]{1,5})\s?\((?:約|≒|=)?\s?(?P<share>[0-9]{1,2}(?:\.[0-9]+)?)\s?%\)")


def methods_otherwise(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield each call of a defined endpoint by a method that no definition of its path has.

    Headings and rows with a method and a path define; a document with fewer than two such says nothing for certain.
    """
    defined: dict[str, dict[str, Span]] = defaultdict(dict)
    for method, path, span in _defined(text, sections, blocks):
        defined[_bare(path)].setdefault(method, span)
    if len(defined) < _FEWEST_DEFINED:
        return
    skipped = apparatus(text, sections)
    for match in _CALL.finditer(text):
        known = defined.get(_bare(match["path"]))
        if known and match["method"] not in known and not inside(skipped, match.start()):
            first = next(iter(known.values()))
            places = (first, Span(start=match.start(), end=match.end()))
            written = (text[first.start : first.end].strip("#| `"), match.group().replace("`", ""))
            yield Contradiction(kind="method", name=match["path"], written=written, places=places)


def _defined(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[tuple[str, str, Span]]:
    for section in sections:
        if match := _CALL.search(text, section.start, section.body_start):
            yield match["method"], match["path"], Span(start=match.start(), end=match.end())
    for table in read_tables(text, blocks):
        for row in table.rows:
            methods = [match for cell in row.cells if (match := _METHOD_CELL.fullmatch(cell.text.strip("`")))]
            paths = [match for cell in row.cells if (match := _PATH_CELL.fullmatch(cell.text))]
            if len(methods) == 1 and len(paths) == 1:
                yield methods[0]["method"], paths[0]["path"], Span(start=row.start, end=row.end)


def copied_descriptions(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield two rows that describe differently named functions or screens in the very same words: one was copied."""
    described: dict[str, list[tuple[str, Span]]] = defaultdict(list)
    skipped = apparatus(text, sections)
    for table in read_tables(text, blocks):
        name_at, words_at = table.column(_THING_HEAD), table.column(_DESCRIPTION_HEAD)
        if name_at is None or words_at is None or inside(skipped, table.header.start) or table.column(_CASE_HEAD):
            continue
        for row in table.rows:
            if max(name_at, words_at) < len(row.cells) and len(row.cells[words_at].text) >= _SHORTEST_DESCRIPTION:
                span = Span(start=row.start, end=row.end)
                described[row.cells[words_at].text].append((row.cells[name_at].text, span))
    for words, rows in described.items():
        names = {_spelled_alike(name) for name, _ in rows}
        if len(rows) == _PAIR and len(names) == _PAIR and all(names):
            shown = tuple(f"{name}: {words}" for name, _ in rows)
            yield Contradiction(kind="copied", name=rows[1][0], written=shown, places=tuple(span for _, span in rows))


def _spelled_alike(name: str) -> str:
    """Return what a name and others that only spell it otherwise have in common: 札の取り消し and 札取消機能."""
    core = _ROW_TAIL.sub("", folded_name(name) or fold_compact(name))
    return re.sub(r"[ぁ-んー]", "", core) or core


def rows_otherwise(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield a thing that two tables name in one column and give different values of in another.

    The tables must have columns of their own, and agree on at least as many things as they differ on: else they are
    about different things.
    """
    skipped = apparatus(text, sections)
    by_heads: dict[tuple[str, str], list[tuple[Table, dict[str, Cell]]]] = defaultdict(list)
    for table in read_tables(text, blocks):
        heads = [fold_compact(cell.text) for cell in table.header.cells]
        if len(heads) < _FEWEST_COLUMNS or inside(skipped, table.header.start) or not heads[0]:
            continue
        for at, head in enumerate(heads[1:], 1):
            if head and not _OPEN_HEAD.search(head) and (values := _values_by_key(table, at)):
                by_heads[heads[0], head].append((table, values))
    for (_, head), described in by_heads.items():
        for (one, here), (other, there) in pairwise(described):
            shared = here.keys() & there.keys()
            differing = sorted(key for key in shared if not _are_alike(here[key].text, there[key].text))
            if not differing or len(differing) * 2 > len(shared) or _same_heads(one, other):
                continue
            for key in differing:
                places = tuple(Span(start=cell.start, end=cell.end) for cell in (here[key], there[key]))
                written = (here[key].text, there[key].text)
                yield Contradiction(kind="row", name=f"{key}の{head}", written=written, places=places)


def _values_by_key(table: Table, at: int) -> dict[str, Cell]:
    """Return the cells of a column by the things that the first column names, each of them once."""
    named = [row for row in table.rows if at < len(row.cells) and row.cells[0].text]
    counts = Counter(fold_compact(row.cells[0].text) for row in named)
    return {
        key: row.cells[at]
        for row in named
        if counts[key := fold_compact(row.cells[0].text)] == 1
        and re.search(r"[^\W\d_]{2}", key)
        and 1 < len(row.cells[at].text) <= _LONGEST_VALUE
    }


def _are_alike(one: str, other: str) -> bool:
    """Whether one says the other: 審査の記録 and 審査記録 are one."""
    first, second = (fold_compact(each).replace("の", "") for each in (one, other))
    return first in second or second in first


def _same_heads(one: Table, other: Table) -> bool:
    """Whether two tables have the same columns: records of one form, each of another thing."""
    return [cell.text for cell in one.header.cells] == [cell.text for cell in other.header.cells]


def _bare(path: str) -> str:
    return re.sub(r"\{[^{}]*\}|:[A-Za-z_]+", "{}", path).rstrip("/.")


def shares_otherwise(text: str, blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield fractions whose percentage in brackets is not theirs to the digits written: 0.997(約99%)."""
    plain = _narrowed(text)
    code = [(block.start, block.end) for block in blocks if block.kind is BlockKind.CODE]
    for match in _FRACTION.finditer(plain):
        digits = len(match["share"].partition(".")[2])
        if (
            inside(code, match.start())
            or abs(float(match["of"]) * 100 - float(match["share"])) <= 0.5 / 10**digits + 1e-9
        ):
            continue
        places = (
            Span(start=match.start("of"), end=match.end("of")),
            Span(start=match.start("share"), end=match.end("share") + 1),
        )
        yield Contradiction(kind="share", name=match["of"], written=(match["of"], f"{match['share']}%"), places=places)


@lru_cache(maxsize=2)
def _narrowed(text: str) -> str:
    return narrow(text)
