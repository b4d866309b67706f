"""The text-rule service through its doors: the same facts, spans that hold, errors that help, and nothing stored."""

from __future__ import annotations

import io
import json
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from mcp import Client as McpClient

from hub.access.principals import ALL_SCOPES, Classification, Principal, Scope, local_operator
from hub.access.services import create_token
from hub.core.errors import Forbidden, InvalidInput, LimitExceeded
from mcp_bridge.calls import Door
from mcp_bridge.events import EventBridge
from mcp_bridge.servers import build_server
from review.lint.texts import MAX_CHARACTERS, describe_rules, lint_out, lint_text
from review.rules import list_rules

TEXT = "# 受付\n\n画面から履歴を見れる。`見れる`はコード。\n\n- ｻｰﾊﾞｰを置く。\n- 確認して下さい\n"
READER = Principal(name="利用者", user_id=1, scopes=frozenset({Scope.READ}), ceiling=Classification.C2)


@pytest.fixture
def call(db):
    user = User.objects.create_superuser("管理者")
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)
    client = Client()

    def ask(method: str, path: str, body: object | None = None, language: str = "ja") -> Any:
        return client.generic(
            method,
            f"/api/v1{path}",
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}", "Accept-Language": language},
        )

    return ask


def by_rest(call, **asked: object) -> dict[str, Any]:
    response = call("POST", "/lint", asked)
    assert response.status_code == 200, response.content
    return response.json()


def by_mcp(**asked: object) -> dict[str, Any]:
    @asynccontextmanager
    async def connected():
        async def principal() -> Principal:
            return READER

        door = Door(principal=principal, events=EventBridge(), language="ja", is_local=True)
        async with McpClient(build_server("core", door)) as client:
            yield client

    async def run() -> dict[str, Any]:
        async with connected() as client:
            result = await client.call_tool("check_text", asked)
            assert not result.is_error, result.content
            return result.structured_content

    return async_to_sync(run)()


def by_cli(capsys, path, *options: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("lint", str(path), *options, stdout=out)
    return int(ended.value.code or 0), out.getvalue()


def test_rest_mcp_and_the_command_line_say_the_same(call, capsys, tmp_path):
    path = tmp_path / "原稿.md"
    path.write_text(TEXT, encoding="utf-8")
    code, printed = by_cli(capsys, path, "--json")
    assert code == 1
    assert by_rest(call, text=TEXT) == by_mcp(text=TEXT) == json.loads(printed)


def test_every_quote_stands_in_the_text_at_its_offsets(call):
    answer = by_rest(call, text=TEXT)
    assert answer["total_findings"] == len(answer["findings"]) >= 4
    for finding in answer["findings"]:
        for evidence in finding["evidence"]:
            assert TEXT[evidence["start_offset"] : evidence["end_offset"]] == evidence["quote"]
    first = next(finding for finding in answer["findings"] if finding["rule_id"] == "style.ra_dropping")
    assert first["location"] == {
        "section_path": ["受付"],
        "line_range": [3, 3],
        "column": 8,
        "start_offset": 13,
        "end_offset": 16,
    }
    assert first["suggestion"]["replacement"] == "見られる"


def test_findings_are_in_the_order_of_the_text_and_repeatable(call):
    first, second = by_rest(call, text=TEXT), by_rest(call, text=TEXT)
    assert first == second
    starts = [finding["location"]["start_offset"] for finding in first["findings"]]
    assert starts == sorted(starts)


def test_format_text_reads_marks_as_prose(call):
    asked = {"text": TEXT, "rules": ["style.ra_dropping"]}
    assert by_rest(call, **asked)["total_findings"] == 1
    assert by_rest(call, **asked, format="text")["total_findings"] == 2


def test_rules_are_named_by_id_prefix_or_alias(call):
    def rules(*names: str) -> list[str]:
        return by_rest(call, text=TEXT, rules=list(names))["rules"]

    assert rules("style.halfwidth_kana") == ["style.halfwidth_kana"]
    assert rules("textlint:no-hankaku-kana") == ["style.halfwidth_kana"]
    assert rules("textlint:preset-JTF-style/1.1.3.箇条書き") == ["style.mixed_tone", "style.list_stop"]
    assert set(rules("wording.*")) == {rule.id for rule in list_rules(tag="wording") if "text" in rule.tags}
    assert len(rules("style.*")) > 50


def test_the_rules_of_terms_and_wording_judge_texts_too(call):
    text = "サーバーを置く。サーバを止める。サーバーを替える。"
    findings = by_rest(call, text=text, rules=["terminology.variant"])["findings"]
    assert [finding["rule_id"] for finding in findings] == ["terminology.variant"]
    assert findings[0]["data"]["variants"] == {"サーバー": 2, "サーバ": 1}


def test_an_unknown_rule_is_422_and_names_near_ones(call):
    response = call("POST", "/lint", {"text": "文。", "rules": ["style.sentence_lenght"]})
    assert response.status_code == 422
    assert response.json()["code"] == "unknown_rule"
    assert "style.sentence_length" in response.json()["detail"]
    document_rule = call("POST", "/lint", {"text": "文。", "rules": ["structure.skipped_level"]})
    assert (document_rule.status_code, document_rule.json()["code"]) == (422, "rule_needs_document")
    assert call("POST", "/lint", {"text": "文。", "rules": ["*unknown*"]}).json()["code"] == "unknown_rule"


@pytest.mark.parametrize("body", [{}, {"text": 1}, {"text": "文。", "format": "pdf"}, {"text": "文。", "rules": "x"}])
def test_a_request_of_the_wrong_shape_is_422(call, body):
    assert call("POST", "/lint", body).status_code == 422


@pytest.mark.parametrize("text", ["", "\n\n", "```\n閉じない", "---\n", "| |\n|-|\n", "\u2028\u0000�", "[" * 500])
def test_odd_texts_are_judged_without_an_error(text):
    result = lint_text(principal=READER, text=text, rules=["style.*", "terminology.*", "wording.*"])
    assert all(notice.code != "rule_crashed" for notice in result.notices)


def test_a_text_beyond_the_limit_is_refused_with_the_limit_named():
    with pytest.raises(LimitExceeded, match=str(MAX_CHARACTERS)):
        lint_text(principal=READER, text="あ" * (MAX_CHARACTERS + 1))


def test_an_unknown_format_is_refused():
    with pytest.raises(InvalidInput, match="pdf"):
        lint_text(principal=READER, text="文。", text_format="pdf")


def test_without_the_scope_read_nothing_is_judged():
    nobody = Principal(name="外部", user_id=2, scopes=frozenset(), ceiling=Classification.C1)
    with pytest.raises(Forbidden):
        lint_text(principal=nobody, text="文。")
    with pytest.raises(Forbidden):
        describe_rules(nobody)


def test_very_many_places_are_cut_and_a_notice_says_so():
    answer = lint_out(lint_text(principal=READER, text="ｱ。" * 2000, rules=["style.halfwidth_kana"]))
    assert answer.total_findings == 500
    assert answer.notices[0]["code"] == "places_cut"
    assert "2000" in answer.notices[0]["ja"]


def test_linting_asks_the_database_for_nothing(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        lint_text(principal=READER, text=TEXT)


def test_the_list_of_rules_has_all_of_them_with_their_aliases(call):
    answer = call("GET", "/rules").json()
    rules = {rule["id"]: rule for rule in answer["rules"]}
    assert set(rules) == {rule.id for rule in list_rules()}
    assert answer["total"] == len(rules)
    length = rules["style.sentence_length"]
    assert length["applies_to"] == "text"
    assert length["defaults"]["max"] == 100
    assert "textlint:preset-ja-technical-writing/sentence-length" in length["aliases"]
    assert rules["structure.skipped_level"]["applies_to"] == "document"
    assert length["title"] == {"ja": "長すぎる文", "en": "Sentence too long"}


def test_the_command_line_ends_with_0_when_there_is_nothing_to_say(capsys, tmp_path, db):
    path = tmp_path / "よい文.txt"
    path.write_text("担当者は内容を確認する。\n", encoding="utf-8")
    assert by_cli(capsys, path) == (0, "")


def test_the_command_line_prints_one_line_for_a_finding(capsys, tmp_path, db):
    path = tmp_path / "原稿.txt"
    path.write_text("画面から履歴を見れる。\n", encoding="utf-8")
    code, printed = by_cli(capsys, path, "--rules", "textlint:no-dropping-the-ra, style.halfwidth_kana")
    assert code == 1
    assert printed == f"{path}:1:8 minor 「見れる」はら抜き言葉です。 [style.ra_dropping]\n"
    with pytest.raises(CommandError, match="standard input"):
        call_command("lint", str(tmp_path / "無い.md"))


def test_messages_come_in_the_callers_language(call):
    body = {"text": "画面から履歴を見れる。", "rules": ["style.ra_dropping"]}
    english = call("POST", "/lint", body, language="en").json()["findings"][0]
    assert english["message"] == "“見れる” lacks its ら."
