"""Every rule and every reader of texts does work that grows with a text's length, not with its square.

The rules come from the registry and the readers from the modules (public functions whose first parameter is a text), so
that a new one is tried by itself. Work is processor time of this process with the collector of cycles off: other work
on the machine does not lengthen it. Something counts as slow only where a text of LONG characters, and one of LONGEST,
takes more than JUDGED_S and more than three times what half of it takes (linear: two, quadratic: four), each the best
of three tries, or isn't read within seconds that linear work needs hundredths of.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import pkgutil
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from hub.core.patterns import PatternTooSlow, patterns_within
from hub.core.processes import TimeOver, limit_cpu
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.documents import BlockKind
from review.rules import list_rules
from review.rules.consistency.facts import facts_of
from review.rules.consistency.mention_pairs import mentioned_otherwise
from review.rules.consistency.mentions import read_mentions
from review.rules.style import read_plain, style_rules
from review.types import RelatedDocument, RuleInput
from tests.shipped_topics import load_topics

# Sudachi takes up to 12,287 characters at a time, and the square of that.
SHORT, LONG, LONGEST = 1_000, 12_000, 60_000
NOTICED_S, JUDGED_S, ENDLESS_S, TRIES = 0.003, 0.2, 10.0, 3
READERS = (
    "knowledge.text",
    "knowledge.answering",
    "knowledge.graph",
    "knowledge.ontology",
    "knowledge.chunkers",
    "review.rules",
)
# The graph's engine takes nearly all static memory of threads: who loads it here takes it from tests that come later.
PROGRAMS = ("knowledge.graph.cypher.child",)
MODULES = (
    "knowledge.index.analysis",
    "knowledge.parsers.concealed",
    "knowledge.index.segments",
    "knowledge.parsers.markdown",
    "knowledge.search.highlights",
    "knowledge.search.phrases",
    "hub.core.masking",
    "hub.llm.tokens",
    "hub.llm.json_answers",
    "hub.admin_site.marked_markdown",
)
# What is repeated: a few that showed something before in each run, all of them in the long one.
FEW = ("a.", "3.3.", "1-", "(", "「", "`", "|a|a|\n|-|-|\n", "# a\n", "FR-001、", "<!--", "の仕様書", "[a](")
MANY = (
    "@",
    "a@",
    "（",
    "((a",
    "「」",
    "『",
    '"',
    '`"a" `',
    "'",
    "``a",
    "a",
    "A",
    "あ",
    "ア",
    "一",
    "1",
    "１",
    "０.",
    " ",
    "　",
    "\n",
    "\n\n",
    "\t",
    "|",
    "| a |\n",
    "|-",
    "#",
    "# ",
    "-",
    "---\n",
    "- a\n",
    "=",
    "FR-1",
    "FR-1 ",
    "FR-1〜",
    "http://",
    "https://a.b/",
    "第1章",
    "第",
    "令和",
    "令和1年",
    "表1",
    "図1 ",
    "1.1.",
    "1.1 ",
    "<a ",
    "<a>",
    "<",
    "<!-- -->",
    "&amp;",
    "](",
    "[",
    "![",
    "[[",
    "](#",
    "e\u0301",
    "\u0301",
    "\u200b",
    "Ａ１",
    "ｱ",
    "ー",
    "、",
    "。",
    "a,",
    "1,000",
    "％",
    "_",
    "**",
    "**a",
    "*a",
    "~",
    "~~~\n",
    "```\n",
    "> ",
    "+a",
    "a/",
    "\\",
    "{#",
    "A-",
    "12:",
    "2024/1/",
    "2024年",
    "か",
    "です。",
    "する",
    "のの",
    "がが",
    "ことができる",
    "FR-1〜FR-",
    "（例",
    "項目：",
    "変更履歴\n",
    "目次\n",
    "付録A",
    "<b>a</b>",
    "<span style=",
    "\u2500",
    "┌─",
    "+--",
    "→",
    "…",
    "！",
    "ID:",
    "①",
    "🙂",
    "AQ==",
    "1a",
    "\r\n",
    "一\n",
    "あ。",
    "あ い",
    "(1)",
    "1. a\n",
    "a b\n---\n",
    "ですが、",
    "現状の",
    "NFR-A-1",
    "TC-001-",
    "v1.",
)


def modules() -> Iterator[Any]:
    for name in READERS:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if found.name not in PROGRAMS:
                yield importlib.import_module(found.name)
    yield from map(importlib.import_module, MODULES)


class Text:
    """A text, read as far as rules and readers need it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks = markdown_blocks(text)
        self.sections = build_sections(text, self.blocks)
        given: Any = {"text": text, "title": "文書", "sections": self.sections, "blocks": self.blocks}
        related = RelatedDocument(document_id="r", document_type="requirements", **given)
        self.target = RuleInput(
            document_type="basic_design", topics=load_topics("basic_design"), related=(related,), **given
        )


Work = Callable[[Text], object]


def works() -> dict[str, Work]:
    """What is tried: each rule, each style rule over plain text, each reader, and reading itself."""
    found: dict[str, Work] = {"knowledge: a document's blocks and sections": lambda text: Text(text.text)}
    for rule in list_rules():
        found[rule.id] = lambda text, rule=rule: rule.check(replace(text.target, params=dict(rule.defaults)))  # type: ignore[misc]
    for style in style_rules().values():
        found[f"{style.id} (plain)"] = lambda text, style=style: list(style.places(read_plain(text.text), {}))  # type: ignore[misc]
    for module in modules():
        for name, function in vars(module).items():
            if (call := _reader(module, name, function)) is not None:
                found[f"{module.__name__}.{name}"] = call
    return found


def _reader(module: Any, name: str, function: Any) -> Work | None:
    plain = inspect.unwrap(function) if callable(function) else None
    if name.startswith("_") or not inspect.isfunction(plain) or plain.__module__ != module.__name__:
        return None
    parameters = list(inspect.signature(plain).parameters.values())
    if not parameters or parameters[0].annotation != "str" or parameters[0].name in SHORT_TEXTS:
        return None
    needed = [each for each in parameters[1:] if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    if any(each.name not in GIVEN for each in needed):
        return None

    def call(text: Text) -> object:
        given = {each.name: GIVEN[each.name](text) for each in needed}
        made = function(text.text, **given)
        return list(made) if inspect.isgenerator(made) else made

    return call


GIVEN: dict[str, Callable[[Text], object]] = {
    "sections": lambda text: text.sections,
    "blocks": lambda text: text.blocks,
    "start": lambda _text: 0,
    "end": lambda text: len(text.text),
}
# First parameters that are names, not texts.
SHORT_TEXTS = frozenset({"code", "domain", "iri", "name", "path", "filename", "rule_id", "language", "document_type"})


def needed(work: Work, text: Text, tries: int = 1) -> float:
    """Processor seconds, the best of several tries; ENDLESS_S where it isn't done by then. Nothing is remembered."""
    best = ENDLESS_S
    for _ in range(tries):
        forget_texts()
        gc.disable()
        begun = time.process_time()
        try:
            with limit_cpu(ENDLESS_S), patterns_within(0.0):
                work(text)
        except TimeOver:
            return ENDLESS_S
        except PatternTooSlow:
            return 0.0  # stored patterns have a limit of their own: hub.core.patterns
        except Exception:  # noqa: BLE001, S110 (what refuses such a text has read it)
            pass
        finally:
            gc.enable()
        best = min(best, time.process_time() - begun)
    return best


@functools.cache
def _remembering() -> tuple[Any, ...]:
    held = [each for each in gc.get_objects() if type(each) is functools._lru_cache_wrapper]
    small = [each for each in held if (each.cache_parameters()["maxsize"] or 0) in range(2, 3000)]
    return tuple(each for each in small if str(each.__module__).startswith(("knowledge.", "review.")))


def forget_texts() -> None:
    """What was read before of the same text would be read in no time."""
    for cached in _remembering():
        cached.cache_clear()


def slow_works(unit: str) -> Iterator[str]:
    """Name what is slow over a text of many ``unit``, and by how much."""

    @functools.cache
    def text(length: int) -> Text:
        return Text("# 見出し\n\n" + unit * (length // len(unit)))

    for name, work in works().items():
        if needed(work, text(SHORT)) < NOTICED_S or needed(work, text(SHORT)) < NOTICED_S:
            continue
        if grows_too_fast(work, text, LONG) and grows_too_fast(work, text, LONGEST):
            yield f"{name} over {LONGEST} characters of many {unit!r}"


def grows_too_fast(work: Work, text: Callable[[int], Text], length: int) -> bool:
    longer = needed(work, text(length))
    if longer < JUDGED_S or (longer := min(longer, needed(work, text(length), TRIES - 1))) < JUDGED_S:
        return False
    return longer >= ENDLESS_S or longer > 3 * needed(work, text(length // 2), TRIES)


@pytest.mark.parametrize(
    "unit", [*FEW, *(pytest.param(unit, marks=[pytest.mark.long, pytest.mark.timeout(1800)]) for unit in MANY)]
)
def test_no_rule_and_no_reader_does_more_than_linear_work(unit: str) -> None:
    assert list(slow_works(unit)) == []


def _rows(heads: str, rows: str) -> str:
    return f"{heads}\n{'|-' * (heads.count('|') - 1)}|\n{rows}\n"


# What made rules do quadratic work whose parts grow together: a text of about that many characters for each rule.
GROWING_TOGETHER: dict[str, tuple[str, Callable[[int], str]]] = {
    "contents and lines that begin alike": (
        "structure.toc_mismatch",
        lambda n: (
            "# 目次\n\n"
            + "".join(f"- 1.1 項目{k}\n" for k in range(n // 20))
            + "\n# 本文\n\n"
            + "".join(f"1.1 行の文{k}\n" for k in range(n // 20))
        ),
    ),
    "contents and paragraphs": (
        "coverage.missing_topic",
        lambda n: (
            "# 目次\n\n"
            + "".join(f"1.{k % 90} 項目{_letters(k)}\n" for k in range(n // 20))
            + "\n# 本文\n\n"
            + "".join(f"1.1 行の文{_letters(k)}\n\n" for k in range(n // 20))
        ),
    ),
    "decisions in one sentence": (
        "consistency.conflicting_value",
        lambda n: "現行は" + "ステートレス" * (n // 6) + "とHttpSession。\n",
    ),
    "decisions in one line": (
        "consistency.conflicting_value",
        lambda n: "現行はステートレス。" * (n // 10) + "HttpSessionを使う。\n",
    ),
    "a line of asterisks over a list": ("wording.ambiguous", lambda n: f"a{'*' * n}x\n\n- 適切に扱う。\n"),
    "quotations and exclamations": ("style.exclamation_question", lambda n: "あ" + "「い」！" * (n // 4) + "\n"),
    "what is filled in, and called wrong": (
        "consistency.conflicting_value",
        lambda n: _rows(
            "| 確認項目 | 手順 | 期待結果 |",
            f"| 名 | {'、いろはにほに正しく' * (n // 20)} | {'「ZZWが間違' * (n // 14)} |",
        ),
    ),
    "a group of many words": (
        "consistency.conflicting_value",
        lambda n: _rows(
            "| 区分 | 手順 | 期待結果 |",
            "\n".join(
                f"| {group}{'、'.join(map(_letters, range(n // 15)))} | {'申請者を選ぶ操作をする' * (n // 30)} | 可 |"
                for group in ("受付", "審査")
            ),
        ),
    ),
    "a long head over values": (
        "consistency.conflicting_value",
        lambda n: _rows(
            f"| 項目 | {_long(n)} |",
            "\n".join(f"| {_kanji(k)} | {10 + k % 90}秒以内 |" for k in range(n // 36)),
        ),
    ),
    "a long heading over values": (
        "consistency.conflicting_value",
        lambda n: (
            f"## {_long(n // 2)}\n\n" + "".join(f"{_kanji(k)}は{10 + k % 90}秒以内とする。\n\n" for k in range(n // 36))
        ),
    ),
    "rows of one name, listed often": (
        "consistency.conflicting_value",
        lambda n: (
            _rows("| 機能 | R1 | R2 | R3 |", "\n".join(["| 受付 | ○ | | |"] * (n // 30)))
            + "\n"
            + _rows("| 要件 | 機能 |", "\n".join(["| R1 | 受付、受付 |"] * (n // 30)))
        ),
    ),
}


def _letters(number: int) -> str:
    """A number in letters, since a digit ends an entry of a table of contents."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


@pytest.mark.parametrize("name", GROWING_TOGETHER)
def test_parts_that_grow_together_make_linear_work(name: str) -> None:
    rule_id, written = GROWING_TOGETHER[name]

    @functools.cache
    def text(length: int) -> Text:
        return Text(written(length))

    work = works()[rule_id]
    assert "|-|" not in text(LONG).text or BlockKind.TABLE in {each.kind for each in text(LONG).blocks}
    assert not (grows_too_fast(work, text, LONG) and grows_too_fast(work, text, LONGEST))


def test_limits_of_like_sections_are_compared_in_linear_time() -> None:
    """Each of nine sections of a chapter limits what the others limit, too, so that 36 pairs are near."""

    @functools.cache
    def text(length: int) -> Text:
        heads = (f"\n## {number + 1}. 章\n" for number in range(length // 490))
        limits = (
            [
                f"\n### {each}\n\n{_kanji(number)}は{_kanji(number)}担当{10 + each % 2}名以内で進める。\n"
                for each in range(9)
            ]
            for number in range(length // 490)
        )
        return Text("# 文書\n" + "".join(head + "".join(nine) for head, nine in zip(heads, limits, strict=True)))

    assert not grows_too_fast(lambda text: list(mentioned_otherwise(text.target)), text, 3 * LONGEST)


@pytest.mark.parametrize("name", ["a long head over values", "a long heading over values"])
def test_what_names_many_values_is_kept_once(name: str) -> None:
    """Half of the memory is what half of the text takes; a copy of the head or heading for each value is a quarter."""

    def peak(length: int) -> int:
        text = Text(GROWING_TOGETHER[name][1](length))
        forget_texts()
        facts = facts_of(text.text, text.sections, text.blocks)
        tracemalloc.start()
        try:
            read_mentions(facts)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(SHORT)
    assert peak(2 * LONG) < 3 * peak(LONG)


def _long(length: int) -> str:
    """Words of that many characters together."""
    return "の".join(_kanji(number) for number in range(length // 6))


def _kanji(number: int) -> str:
    """A word of five characters for a number, told apart from those of others by each of them."""
    return "".join("申請受付窓口会計徴"[int(digit) % 9] for digit in f"{number:05o}")


@pytest.mark.parametrize("unit", ["()", "(", ")(", "書", "_", "資料（"])
def test_a_title_is_read_in_linear_time(unit: str) -> None:
    work = works()["coverage.missing_topic"]

    def text(length: int) -> Text:
        read = Text("# 表題\n\n本文である。\n")
        read.target = replace(read.target, title=unit * (length // len(unit)) + "x")
        return read

    assert not grows_too_fast(work, text, LONG)


def test_all_rules_and_the_readers_of_texts_are_tried() -> None:
    tried = works()
    assert {rule.id for rule in list_rules()} <= set(tried)
    assert {
        "knowledge.text.identifiers.read_families",
        "knowledge.index.analysis.analyse_query",
        "knowledge.text.sentences.sentence_spans",
        "knowledge.text.dates.find_dates",
        "knowledge.search.phrases.find_phrases",
        "hub.core.masking.mask",
        "hub.admin_site.marked_markdown.render_marked",
    } <= set(tried)
