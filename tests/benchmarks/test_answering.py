"""The halves and gaps that answers are measured with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import answers
from benchmarks.answering.boosting import Settings, fit_trees
from benchmarks.answering.files import as_hit, without_answers
from benchmarks.answering.halves import Half, gaps, half_of, questions_of, with_answers
from benchmarks.retrieval.question_sets import Paragraph, Question, QuestionSet
from knowledge.answering.chance import trees_from


def _set(articles: int = 20, passages: int = 3) -> QuestionSet:
    corpus = [
        Paragraph(id=f"p{article}-{number}", title=f"article {article}", text=f"passage {number}")
        for article in range(articles)
        for number in range(passages)
    ]
    questions = [Question(id=f"q-{one.id}", text=f"what about {one.id}?", gold=frozenset({one.id})) for one in corpus]
    return QuestionSet(name="made", corpus=corpus, questions=questions)


def test_no_article_has_questions_in_both_halves() -> None:
    made = _set()
    titles = {one.id: one.title for one in made.corpus}

    build, held = ({titles[name] for q in questions_of(made, half, 100) for name in q.gold} for half in Half)

    assert build
    assert held
    assert not build & held
    assert build | held == set(titles.values())


def test_a_question_whose_passages_are_in_both_halves_belongs_to_none() -> None:
    made = _set()
    one = next(p.id for p in made.corpus if half_of(p.title) is Half.BUILD)
    other = next(p.id for p in made.corpus if half_of(p.title) is Half.HELD)
    torn = QuestionSet(
        name="made", corpus=made.corpus, questions=[Question(id="q", text="?", gold=frozenset({one, other}))]
    )

    assert [questions_of(torn, half, 10) for half in Half] == [[], []]


def test_the_same_questions_are_drawn_each_time() -> None:
    assert questions_of(_set(), Half.BUILD, 5) == questions_of(_set(), Half.BUILD, 5)


def test_a_draw_that_is_unlike_others_has_none_of_their_questions() -> None:
    made = _set(articles=60)
    before = {one.id for number in range(1, 31) for one in questions_of(made, Half.HELD, number)}
    new = questions_of(made, Half.HELD, 10, unlike=[30])
    newer = questions_of(made, Half.HELD, 10, unlike=[30, 10])

    assert len(new) == len(newer) == 10
    assert before.isdisjoint(one.id for one in [*new, *newer])
    assert {one.id for one in new}.isdisjoint(one.id for one in newer)


def test_a_gap_lacks_one_passage_of_each_article_and_no_more() -> None:
    made = _set(articles=4)
    found = list(gaps(made, made.questions))

    assert len(found) == 3  # as many as an article has questions
    assert sorted(q.id for gap in found for q in gap.questions) == sorted(q.id for q in made.questions)
    for gap in found:
        kept = {one.id for one in gap.corpus.corpus}
        assert len(kept) == len(made.corpus) - 4
        assert all(q.gold.isdisjoint(kept) for q in gap.questions)


def test_answers_come_from_files_with_the_same_questions(tmp_path: Path) -> None:
    asked = {"question": "what about p0-0?", "answers": [{"text": "nothing"}, {"text": "all"}]}
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "one.json").write_text(json.dumps({"data": [{"paragraphs": [{"qas": [asked]}]}]}))

    first, second, *_rest = with_answers(_set(), tmp_path).questions

    assert first.answers == {"nothing", "all"}
    assert not second.answers


def test_trees_learn_what_tells_answers_apart_and_read_back_the_same() -> None:
    random = np.random.default_rng(1)
    rows = random.random((2000, 3))
    rows[:200, 2] = np.nan
    labels = ((rows[:, 0] > 0.6) & (rows[:, 1] < 0.5)).astype(float)

    trees = fit_trees(("a", "b", "c"), rows, labels, np.ones(len(rows)), Settings(trees=60))
    again = trees_from(json.loads(json.dumps(trees.as_dict())))

    assert np.mean((trees.odds(rows) > 0) == (labels > 0)) > 0.97
    assert np.allclose(again.odds(rows), trees.odds(rows), atol=1e-2)


def test_the_sentence_with_the_answer_is_taken_out_of_the_right_passage_alone() -> None:
    text = "稼働率は99.5%とする。保守は夜間に行う。"
    passages = [Paragraph(id=name, title="設計書", text=text) for name in ("right", "other")]
    question = Question(id="q", text="稼働率は？", gold=frozenset({"right"}), answers=frozenset({"99.5%"}))

    right, other = without_answers([as_hit(one) for one in passages], question)

    assert right.content == "保守は夜間に行う。"
    assert other.content == text


def test_nothing_that_is_reported_is_fitted_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["answers", "--fit", "--data", str(tmp_path)])

    with pytest.raises(SystemExit):
        answers.parse_arguments()

    assert "--fit needs --squad" in capsys.readouterr().err
