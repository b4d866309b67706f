from __future__ import annotations

from dataclasses import replace

import pytest

from review.rules import run_rule
from review.types import RelatedDocument
from tests.review.markdown import outcome_of, rule_input

RULE = "terminology.undefined_abbreviation"


def outcome(text: str, **params):
    return run_rule(RULE, rule_input(f"# 設計書\n\n## 1. 構成\n\n{text}\n", params=params))


def test_abbreviations_explained_nowhere_are_one_finding_with_counts():
    (found,) = outcome("ＡＣＬで制御する。ACLはRBACを補う。\n").findings

    assert found.data["abbreviations"] == {"ACL": 2, "RBAC": 1}
    assert found.suggestion.example == "（正式名称）（以下「ACL」という）"


@pytest.mark.parametrize(
    "text",
    [
        "ACL（アクセス制御リスト）を使う。ACLで守る。",
        "アクセス制御リスト（以下「ACL」という。）を使う。ACLで守る。",
        "Access Control List (ACL) を使う。ACLで守る。",
        "ACLで守る。\n\n## 用語\n\n| 用語 | 説明 |\n|---|---|\n| ACL | アクセス制御の一覧 |",
        "成功時は「XX件を登録しました」と示し、NN回まで試す。",
        "STEP1で申請する。CHECK制約を置く。色はGREENとする。",
        "PQR分析で並べる。\n\n#### 2.1 PQR分析（変動の大きさ）\n\n本文。",
        "RVQで割る。\n\nRVQ = 上位 - 下位",
        "PWを確認する。\n\n| 論理名 | 物理名 |\n|---|---|\n| パスワード | pw |",
        "株式会社PQRシステムに頼む。PQRの窓口に聞く。",
        "ACLで守る。\n\n## 略語一覧\n\n- ACL: アクセス制御の一覧",
    ],
)
def test_an_explanation_anywhere_is_enough(text):
    assert outcome(text).findings == ()


def test_an_explanation_in_a_related_document_is_enough_and_the_finding_rests_on_it():
    requirements = rule_input("# 要件定義書\n\n## 用語\n\n| 用語 | 説明 |\n|---|---|\n| ACL | アクセス制御の一覧 |\n")
    related = RelatedDocument(
        document_id="doc_r",
        title="要件定義書",
        document_type="requirements",
        text=requirements.text,
        sections=requirements.sections,
        blocks=requirements.blocks,
    )
    design = replace(rule_input("# 設計書\n\nACLで守る。RBACを補う。\n"), related=(related,))

    (found,) = outcome_of(RULE, design).findings

    assert found.data["abbreviations"] == {"RBAC": 1}
    assert found.rests_on == ("doc_r",)


def test_a_unit_is_an_abbreviation_and_a_path_is_none():
    (found,) = outcome("密度は 56.4件/KSLOC とする。設定は /etc/ABCD にある。").findings

    assert found.data["abbreviations"] == {"KSLOC": 1}


def test_brackets_behind_different_nouns_explain_nothing():
    text = "開発範囲（MVP）を示す。\n\n必須テーブル（MVP）を示す。\n\nMVPで作る。"

    (found,) = outcome(text).findings

    assert set(found.data["abbreviations"]) == {"MVP"}


@pytest.mark.parametrize(
    "text",
    [
        "APIをHTTPSで呼び、JSONを返す。",
        "AWSに置き、LINEで知らせる。",
        "CDNで配り、SPFを設定する。予備はFILLERとする。",
        "`ACL` を設定する。",
        "要件は FR-001 と NFR-002 による。",
        "MIT License で公開する。",
        "用紙はA4とする。",
    ],
)
def test_known_words_code_identifiers_and_names_need_none(text):
    assert outcome(text).skip_reason


def test_a_curator_may_add_known_words():
    assert outcome("ACLで守る。", known=["ACL"]).skip_reason
