"""What becomes of findings when a document is edited: thirty scripted edits, judged by the real rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from review.judging.engine import CheckSpec, judge, unique_findings
from review.triage.matching import Matching, Placed, Reviewed, align_sections, match_findings, names_in
from tests.review.markdown import rule_input
from tests.shipped_topics import load_topics

SAMPLE = Path(__file__).resolve().parents[3] / "knowledge" / "data" / "sample" / "基本設計書_図書予約システム.md"
RULES = (
    "document.version_mismatch",
    "structure.number_order",
    "traceability.undefined_reference",
    "traceability.duplicate_definition",
    "terminology.variant",
    "coverage.missing_topic",
    "coverage.empty_section",
    "wording.ambiguous",
)


def reviewed(text: str) -> Reviewed:
    """Review a text with each rule as a check of its own."""
    target = rule_input(text, topics=load_topics("basic_design"))
    findings, decided = [], set()
    for rule_id in RULES:
        check = CheckSpec(code=rule_id, check_type="composite", strategy="", criteria={"rules": [{"rule_id": rule_id}]})
        judgement = judge(check, target)
        decided |= {rule_id} if judgement.verdict not in ("skipped", "error") else set()
        for name, draft in unique_findings(rule_id, judgement.findings):
            spans = draft.evidence
            findings.append(
                Placed(
                    fingerprint=name,
                    rule_id=draft.rule_id,
                    check_item_id=rule_id,
                    places=tuple(span.start for span in spans),
                    quote=text[spans[0].start : spans[0].end] if spans else "",
                    subject=str(draft.data.get("topic") or ""),
                    names=names_in(draft.data),
                )
            )
    return Reviewed(text=text, sections=target.sections, findings=findings, decided=frozenset(decided))


BASE = SAMPLE.read_text(encoding="utf-8")
TEXT = f"{BASE}\n## 8. 移行設計\n\n## 9. 付録\n\n付録は別紙による。\n"
Edit = Callable[[str], str]


def swap(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert old in text, old
        return text.replace(old, new)

    return edit


def before(heading: str, new: str) -> Edit:
    return swap(heading, f"{new}\n\n{heading}")


def row(new: str) -> Edit:
    """Put a row into the table of requirements."""
    return swap("| FR-005 |", f"{new}\n| FR-005 |")


def rules_of(side: Reviewed, indices) -> list[str]:
    return sorted(side.findings[index].rule_id for index in indices)


def outcome(edit: Edit) -> tuple[Reviewed, Reviewed, Matching]:
    base, current = reviewed(TEXT), reviewed(edit(TEXT))
    return base, current, match_findings(base, current)


def test_the_same_text_has_every_finding_still_open():
    base, current, matching = outcome(lambda text: text)
    assert len(matching.open) == len(base.findings) == len(current.findings) > 5
    assert (matching.fixed, matching.new, matching.moved, matching.undecided) == ((), (), (), ())


def both(*edits: Edit) -> Edit:
    def edit(text: str) -> str:
        for one in edits:
            text = one(text)
        return text

    return edit


def move(passage: str, *, to: str) -> Edit:
    return both(swap(passage, ""), before(to, passage.strip()))


VERSION, ORDER, UNDEFINED, TERM = (
    "document.version_mismatch",
    "structure.number_order",
    "traceability.undefined_reference",
    "terminology.variant",
)
DUPLICATE = "traceability.duplicate_definition"
TOPIC, EMPTY_SECTION, VAGUE = "coverage.missing_topic", "coverage.empty_section", "wording.ambiguous"
WAITING = "在庫がない場合は順番待ちに加え、FR-006 の通知設定に従って案内する。\n"
CANCELLING = "必要に応じて適切に窓口へ連絡する。"
MIGRATION = "移行は3回のリハーサルを経て、業務停止8時間以内に完了する。旧システムの予約データは全件を移す。"
GLOSSARY = (
    "## 7. 用語集\n\n| 用語 | 説明 |\n|---|---|\n| 取置き | 利用者のために資料を窓口に置くこと |\n"
    "| 見込み日 | 貸出できると見込む日 |\n"
)
match_number = swap("- 版数: 1.2\n", "- 版数: 1.1\n")
match_date = swap("- 更新日: 2026-10-05", "- 更新日: 2026-09-14")
one_server = swap("サーバー", "サーバ")

# what is edited: the edit, and the rules of the findings that are then fixed, new, moved; all others are still open
EDITS: dict[str, tuple[Edit, list[str], list[str], list[str]]] = {
    "版数を変更履歴に合わせる": (match_number, [VERSION], [], []),
    "更新日を変更履歴に合わせる": (match_date, [VERSION], [], []),
    "版数と更新日を合わせる": (both(match_number, match_date), [VERSION, VERSION], [], []),
    "未定義の要件を定義する": (row("| FR-006 | 通知設定 | 方法を選ぶ |"), [UNDEFINED], [], []),
    "未定義の要件への参照を消す": (swap("、FR-006 の通知設定に従って", ""), [UNDEFINED], [], []),
    "参照する要件の番号を変える": (swap("FR-006", "FR-016"), [UNDEFINED], [UNDEFINED], []),
    "曖昧な文の誤字を直す": (swap("適切に窓口へ連絡", "適切に窓口に連絡"), [], [], []),
    "節を欠陥ごと消す": (
        lambda text: text[: text.index("### 3.4")] + text[text.index("## 4. ") :], [ORDER, VAGUE], [], [],
    ),
    "見出しの階層を下げる": (lambda text: text.replace("### ", "#### "), [], [], []),
    "表記を一つにする": (one_server, [TERM, TERM], [], []),
    "節の番号を直す": (swap("### 3.4 ", "### 3.3 "), [ORDER], [], []),
    "章の番号を直す": (both(swap("## 8. ", "## 7. "), swap("## 9. ", "## 8. ")), [ORDER], [], []),
    "空の章を書く": (swap("## 8. 移行設計\n", f"## 8. 移行設計\n\n{MIGRATION}\n"), [EMPTY_SECTION], [], []),
    "曖昧な語を具体的にする": (swap(CANCELLING, "翌営業日までに窓口へ連絡する。"), [VAGUE], [], []),
    "用語集の章を足す": (before("## 8. ", GLOSSARY), [ORDER, TOPIC], [], []),
    "未定義の参照を足す": (swap("予約を取り消す |", "予約を取り消す（FR-021）|"), [], [], []),
    "曖昧な語を足す": (swap("300 回を上限とする。", "300 回を上限とする。適切に対応する。"), [], [], []),
    "章を空にする": (swap("付録は別紙による。", ""), [], [EMPTY_SECTION], []),
    "同じ要件を二度定義する": (row("| FR-001 | 資料検索 | 件名で探す |"), [], [DUPLICATE], []),
    "節を空にする": (swap("通信は TLS 1.3 で暗号化する。", ""), [], [], []),
    "前に文章を足す": (swap("本書は、", "本システムは令和8年度に更新する。本書は、"), [], [], []),
    "章題を変える": (swap("## 2. システム構成", "## 2. システムの全体構成"), [], [], []),
    "節題を変える": (swap("### 3.4 予約取消", "### 3.4 予約の取消し"), [], [TERM], []),
    "空の章の題を変える": (swap("## 8. 移行設計", "## 8. データ移行設計"), [], [], []),
    "書式だけを変える": (swap("- 版数: 1.2\n", "-  版数: 1.2\n"), [], [], []),
    "空行を足す": (swap("\n## 3. ", "\n\n\n## 3. "), [], [], []),
    "番号を振り直す": (both(swap("## 6. ", "## 7. "), swap("## 5. ", "## 6. ")), [ORDER], [ORDER], []),
    "付録を消す": (swap("## 9. 付録\n\n付録は別紙による。\n", ""), [], [], []),
    "未定義の参照を別の節へ移す": (move(WAITING, to="## 4. 非機能要件"), [], [], [UNDEFINED]),
    "曖昧な文を別の章へ移す": (move(CANCELLING, to="## 6. "), [], [], [VAGUE]),
    "両方を移す": (both(move(WAITING, to="## 4. 非"), move(CANCELLING, to="## 6. ")), [], [], [UNDEFINED, VAGUE]),
    "文を移して直す": (
        both(move(WAITING, to="## 4. 非機能要件"), swap("FR-006 の", "")), [UNDEFINED], [], []
    ),
    "節ごと入れ替える": (
        lambda text: move(text[text.index("### 3.4") : text.index("## 4. ")], to="### 3.2 予約登録")(text),
        [ORDER], [ORDER], [],
    ),
    "全部直す": (
        both(match_number, match_date, one_server, swap("、FR-006 の通知設定に従って", "")),
        [VERSION, VERSION, TERM, TERM, UNDEFINED], [], [],
    ),
    "直して別の欠陥を足す": (
        both(match_number, swap("付録は別紙による。", "")), [VERSION], [EMPTY_SECTION], []
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_shows_as_fixed_new_and_moved(name):
    edit, fixed, new, moved = EDITS[name]
    base, current, matching = outcome(edit)
    told = (
        rules_of(base, matching.fixed),
        rules_of(current, matching.new),
        rules_of(base, [pair[0] for pair in matching.moved]),
    )
    assert told == (sorted(fixed), sorted(new), sorted(moved))
    assert len(matching.open) == len(base.findings) - len(fixed) - len(moved)
    for before_index, after_index in (*matching.open, *matching.moved):
        assert base.findings[before_index].rule_id == current.findings[after_index].rule_id


def test_a_check_that_was_not_decided_this_time_says_nothing_of_its_findings():
    base, current = reviewed(TEXT), reviewed(TEXT)
    silent = Reviewed(text=current.text, sections=current.sections, findings=(), decided=current.decided - {VAGUE})
    matching = match_findings(base, silent)
    assert rules_of(base, matching.undecided) == [VAGUE]
    assert len(matching.fixed) == len(base.findings) - 1


def test_sections_are_found_again_by_their_text_when_title_and_number_change():
    edit = both(swap("### 4.1 性能", "### 5.3 応答時間"), swap("## 4. 非機能要件", "## 4. 品質"))
    base, current = reviewed(TEXT), reviewed(edit(TEXT))
    titles = {one.id: one.title for one in current.sections}
    aligned = {
        one.title: titles[other] for one in base.sections if (other := align_sections(base, current).get(one.id))
    }
    assert aligned["4.1 性能"] == "5.3 応答時間"
    assert aligned["4.2 可用性"] == "4.2 可用性"
