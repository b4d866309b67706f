"""Each topic that an opinion takes out of a finding is proved by itself, by quotes that are shown where they stand."""

from __future__ import annotations

from typing import Any

import pytest

from review.judging.second_opinion.proving import claims_of, proof_request, proven
from review.judging.second_opinion.request import Decision, Doubt, Opinion, Reviewed, read_opinions
from review.judging.types import Passage
from review.types import Severity

TEXT = """# 図書館システム運用設計書

## 2 監視

| 対象 | しきい値 |
|---|---|
| 同じ端末からの認証の失敗 | 1分に10回 |

## 5 品質

### 5.1 単体テストの網羅率の目標

- 第3段階は50%以上とする。
"""
TOPICS = ("セキュリティ", "テスト方針", "移行性")
QUOTES = {"セキュリティ": "同じ端末からの認証の失敗 | 1分に10回", "テスト方針": "- 第3段階は50%以上とする。"}
MESSAGE = "「セキュリティ」、「テスト方針」、「移行性」の記載がありません。"


def opinion(decision: str, quotes: dict[str, str] | None = None) -> Opinion:
    doubt = Doubt(
        pk=1, fingerprint="f", item="BD-B01", rule_id="r", severity=Severity.MINOR, message=MESSAGE, topics=TOPICS
    )
    told = [
        {"passage": "p1", "treats": topic, "quote": quote}
        for topic, quote in (QUOTES if quotes is None else quotes).items()
    ]
    answer = {"opinions": [{"finding": "f1", "reason": "", "quotes": told, "decision": decision}]}
    (read,) = read_opinions(answer, [doubt], Reviewed(text=TEXT), [Passage(chunk_id="", start=0, end=len(TEXT))])
    return read


def proofs(*holds: str) -> dict[str, Any]:
    return {"proofs": [{"finding": f"f{at}", "reason": "", "holds": one} for at, one in enumerate(holds, 1)]}


def test_each_topic_is_asked_about_by_itself_with_its_own_quotes_where_they_stand() -> None:
    read = opinion("overturned")
    assert [claim.text for claim in claims_of([read])] == [f"「{topic}」の記載がありません。" for topic in QUOTES]
    asked = proof_request([read], Reviewed(text=TEXT), prompt="").messages[1].text
    first, second = asked.split("quotes about f2")
    assert "〔2 監視〕\n〔| 対象 | しきい値 |〕\n| 同じ端末からの認証の失敗 | 1分に10回 |" in first
    assert "〔5.1 単体テストの網羅率の目標〕\n- 第3段階は50%以上とする。" in second


@pytest.mark.parametrize(
    ("said", "holds", "decision", "treated"),
    [
        ("overturned", ("yes", "yes"), Decision.NARROWED, ("セキュリティ", "テスト方針")),
        ("overturned", ("yes", "no"), Decision.NARROWED, ("セキュリティ",)),
        ("overturned", ("no", "no"), Decision.CONFIRMED, ()),
        ("confirmed", ("no", "yes"), Decision.NARROWED, ("テスト方針",)),
        ("set_aside", ("no", "yes"), Decision.SET_ASIDE, ("テスト方針",)),
        ("set_aside", ("no", "no"), Decision.SET_ASIDE, ()),
    ],
)
def test_what_is_not_proved_of_a_topic_leaves_the_others_out_of_the_finding(
    said: str, holds: tuple[str, ...], decision: Decision, treated: tuple[str, ...]
) -> None:
    (left,) = proven(proofs(*holds), [opinion(said)])
    assert (left.decision, left.treated) == (decision, treated)
    assert {TEXT[span.start : span.end] for span in left.quotes} == {QUOTES[topic] for topic in treated}
    assert left.takes_back is (decision is Decision.SET_ASIDE)


def test_a_finding_of_which_one_topic_is_not_proved_is_not_overturned() -> None:
    every = {**QUOTES, "移行性": "## 5 品質"}
    assert opinion("overturned", every).decision is Decision.CONFIRMED, "a heading proves nothing"
