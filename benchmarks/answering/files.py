"""Documents as a question set: parsed and cut as ingestion does it, with questions about their fields made by rule.

A field is a row's column, what stands under a short heading, and what a sentence says of its topic. Each is asked for
in the short forms that people use; and as many questions ask of a thing in a document what is nowhere in it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.answering.halves import SEED, Half, half_of
from benchmarks.retrieval.question_sets import Paragraph, Question, QuestionSet, passage_id
from knowledge.answering.sentences import PlacedSentence, sentences_of
from knowledge.chunkers.registry import chunk_document
from knowledge.index.active_embedder import get_embedder
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.text.folding import fold_terms
from knowledge.text.outline import unnumbered_title
from knowledge.text.structure import build_sections
from knowledge.text.tables import cells_of
from knowledge.types.chunks import ChunkOptions
from knowledge.types.search import Hit

MOST_PASSAGES = 60
"""Of one document; a long table has the same kinds of rows over and over."""
_NAME = re.compile(r"[^|。、\n]{2,24}")
_COLUMN = re.compile(r"[^|。、\n\d<>]{2,16}")
_COUNTED = re.compile(r"\d\s*(?P<unit>文字|か月|時間|[日年月分秒回件人名台円桁個]|バイト)")
_TOPIC = re.compile(r"(?P<topic>[^。、は\n|]{3,30})(?<![にとでへもがを])は、?(?P<said>[^。\n]{6,160})。")
_ASK_CELL = (
    "{row}の{column}は？",
    "{row}の{column}は何ですか",
    "{row}の{column}を教えて",
    "{row}の{column}",
    "{column}は{row}ではどうなっていますか",
)
_ASK_FIELD = (
    "{name}は？",
    "{name}は何ですか",
    "{name}を教えてください",
    "{name}",
    "{title}の{name}は？",
    "{name}はどうなっていますか",
)
# What people ask of a design or a guideline, and what many don't say.
_NOT_SAID = """
開発費 契約金額 納期 担当者 承認者 復旧目標時間 RTO RPO 稼働率 バックアップの世代数 応答時間 保存期間 同時接続数
開発言語 監視間隔 罰則 利用料金 電話番号 問合せ先 パスワードの有効期限 暗号化方式 ログの保管期間 再委託の条件
保守の時間帯 移行の日程 研修の回数 利用者数 画面数 帳票の数 責任者 著作権の帰属 サーバの台数 データセンターの所在地
障害時の連絡先 検収の条件 瑕疵担保の期間 会議の頻度 品質目標 試験の合格基準 OSの種類
"""
_ATTRIBUTES = tuple(_NOT_SAID.split())


def read_files(folder: Path, half: Half) -> QuestionSet:
    """Parse a folder's documents of one half, by name, as a set without questions; what can't be read is left out."""
    corpus = []
    for path in sorted(folder.iterdir()):
        if half_of(re.sub(r"[\d_-]+|\.\w+\Z", "", path.name)) is not half or path.suffix == ".jsonl":
            continue
        try:
            passages = passages_of(path)
        except ParseError:
            continue
        kept = random.Random(SEED).sample(range(len(passages)), min(len(passages), MOST_PASSAGES))
        corpus += [passages[number] for number in sorted(kept)]
    return QuestionSet(name=f"{folder.name}-{half.value}", corpus=corpus, questions=[])


def passages_of(path: Path) -> list[Paragraph]:
    """Parse a document and cut it as ingestion does. Raises ParseError."""
    parsed = parse_file(path, filename=path.name, limits=ParseLimits())
    sections = build_sections(parsed.markdown, parsed.blocks)
    spans = chunk_document(parsed.markdown, parsed.blocks, sections, ChunkOptions(), get_embedder().count_tokens)
    return [
        Paragraph(
            id=passage_id(path.name, span.index),
            title=parsed.title or path.stem,
            text=parsed.markdown[span.start : span.end],
            section_path=span.section_path,
            context_prefix=span.context_prefix,
        )
        for span in spans
    ]


def as_hit(paragraph: Paragraph) -> Hit:
    return Hit(
        chunk_id=paragraph.id, document_id=paragraph.title, document_path=paragraph.title, title=paragraph.title,
        content=paragraph.text, score=None, chunk_index=0, section_path=paragraph.section_path, page=None, cell=None,
        start_offset=0, end_offset=len(paragraph.text), context_prefix=paragraph.context_prefix,
    )  # fmt: skip


def fields_asked(question_set: QuestionSet, count: int) -> tuple[list[Question], list[Question]]:
    """Make questions that a set's fields answer, and others of the same things that nothing in it answers."""
    chance = random.Random(SEED)
    rows = Counter(_row_name(one.text) for paragraph in question_set.corpus for one in sentences_of(as_hit(paragraph)))
    asked: list[Question] = []
    things: list[tuple[str, str]] = []
    for paragraph in question_set.corpus:
        for number, (text, answers, thing) in enumerate(_fields(paragraph, chance, rows)):
            asked.append(
                Question(id=f"{paragraph.id}-{number}", text=text, gold=frozenset({paragraph.id}), answers=answers)
            )
            things.append((thing, paragraph.title))
    chosen = chance.sample(asked, min(count, len(asked)))
    everything: dict[str, str] = {}
    for paragraph in question_set.corpus:
        everything[paragraph.title] = everything.get(paragraph.title, "") + fold_terms(paragraph.text)
    foreign: list[Question] = []
    for thing, title in chance.sample(things, min(count, len(things))):
        name = chance.choice(_ATTRIBUTES)
        if any(part in everything[title] for part in [fold_terms(name), fold_terms(name.rpartition("の")[2])]):
            continue
        text = chance.choice(
            ("{thing}の{name}は？", "{thing}の{name}はいくつですか", "{title}の{name}は何ですか", "{thing}の{name}")
        )
        foreign.append(
            Question(
                id=f"foreign-{len(foreign)}", text=text.format(thing=thing, title=title, name=name), gold=frozenset()
            )
        )
    return chosen, foreign


def _row_name(text: str) -> str:
    return cells_of(text)[0] if text.startswith("|") else ""


def _fields(
    paragraph: Paragraph, chance: random.Random, names: Counter[str]
) -> Iterator[tuple[str, frozenset[str], str]]:
    """Yield a passage's questions, each with the texts that answer it and the thing that it is about."""
    sentences = list(sentences_of(as_hit(paragraph)))
    # of a name that several rows have, each would answer
    rows = [one for one in sentences if names[_row_name(one.text)] == 1]
    for one in chance.sample(rows, min(len(rows), 3)):
        yield from _of_row(one, chance)
    heading = unnumbered_title(paragraph.section_path[-1]) if paragraph.section_path else ""
    if _NAME.fullmatch(heading) and 0 < len(sentences) <= 3:
        text = chance.choice(_ASK_FIELD).format(name=heading, title=paragraph.title)
        yield text, frozenset(one.text for one in sentences), heading
    topics = [(one, found) for one in sentences if (found := _TOPIC.fullmatch(one.text))]
    for one, found in chance.sample(topics, min(len(topics), 1)):
        text = chance.choice(_ASK_FIELD[:5]).format(name=found["topic"], title=paragraph.title)
        yield text, frozenset({one.text}), found["topic"]


def _of_row(one: PlacedSentence, chance: random.Random) -> Iterator[tuple[str, frozenset[str], str]]:
    name, *values = [re.sub(r"<br ?/?>|\*\*", "", cell) for cell in cells_of(one.text)]
    columns = cells_of(one.header)[1:]
    if not _NAME.fullmatch(name) or name.isdecimal():
        return
    told = [
        (column, value) for column, value in zip(columns, values, strict=False) if value and _COLUMN.fullmatch(column)
    ]
    if told:
        column, value = chance.choice(told)
        counted = _COUNTED.search(value)
        forms = (
            (f"{{row}}の{{column}}は何{counted['unit']}ですか", "{row}は何" + counted["unit"] + "か")
            if counted
            else _ASK_CELL
        )
        yield chance.choice(forms).format(row=name, column=column), frozenset({one.text}), name
    elif not columns and len(values) == 1 and values[0]:
        yield chance.choice(_ASK_FIELD[:4]).format(name=name), frozenset({one.text}), name


def without_answers(hits: Sequence[Hit], question: Question) -> list[Hit]:
    """Take the sentences with an answer out of the right passages; the rest of these passages stays."""
    answers = [fold_terms(answer) for answer in question.answers]
    left = []
    for hit in hits:
        content = hit.content
        for one in reversed(list(sentences_of(hit)) if hit.chunk_id in question.gold else []):
            if any(answer in fold_terms(one.text) for answer in answers):
                content = content[: one.start] + content[one.end :]
        if content.strip():
            left.append(replace(hit, content=content))
    return left
