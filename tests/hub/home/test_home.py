"""The pages for everybody: a reader without rights as staff signs in, asks, reads, and sees nothing of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from hub.core.errors import Unavailable
from knowledge.models import Collection, Document, DocumentType, Ontology
from knowledge.models.questions import AskedQuestion
from review.models import COUNTED_STATES, Finding, Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, show_review, start_review
from tests.factories import make_hub_curator, new_collection, new_user, upload_file, upload_text, work_through
from tests.hub.admin.support import DESIGN, PASSWORD, add_document, client_of, grant, make_user
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

pytestmark = pytest.mark.django_db
QUESTION = "検索の応答時間は何秒以内ですか"
TABLES = """# 用語集

| 用語 | 意味 |
| --- | --- |
| 取置き | 予約した資料を利用者のために確保しておくこと |

## 帳票

| 帳票 | 出力の時期 | 部数 |
| --- | --- | --- |
| 督促状 | 毎月五日の<br>朝に出力する | 二部 |
"""


@pytest.fixture(scope="module")
def read_once(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """A document that is read once for all tests here, in a transaction that is taken back at the end."""
    text = "# 設計書\n\n## 性能\n\n検索の応答時間は 3 秒以内とする。\n\n## 移行\n\n移行は夜間に行う。\n"
    with django_db_blocker.unblock(), transaction.atomic():
        yield add_document(tmp_path_factory.mktemp("design"), text=text).pk
        transaction.set_rollback(True)


@pytest.fixture
def document(read_once: int, db: None) -> Document:
    return Document.objects.select_related("collection", "latest_version__blob", "current_version").get(pk=read_once)


@pytest.fixture
def reader() -> User:
    made = new_user(username="読者")
    made.set_password(PASSWORD)
    made.save()
    grant(made, Role.READER, Collection.objects.get(slug="default"))
    return made


@pytest.fixture
def browser(reader: User) -> Client:
    return client_of(reader)


def text_of(client: Client, address: str, **more: str) -> str:
    answer = client.get(address, headers=more)
    assert answer.status_code == 200, answer.content.decode()
    return unescape(answer.content.decode())


def test_a_reader_without_rights_as_staff_signs_in_and_is_at_home(reader):
    browser = Client()
    assert browser.get("/").headers["Location"] == "/admin/login/?next=/"
    page = browser.get("/admin/login/").content.decode()
    assert 'name="next" value="/"' in page
    given = {"username": "読者", "password": PASSWORD, "next": "/"}
    assert browser.post("/admin/login/", given).headers["Location"] == "/"
    assert "文書に質問する" in text_of(browser, "/")
    assert browser.get("/admin/login/").headers["Location"] == "/"
    assert "管理</a>" not in text_of(browser, "/")
    assert "管理</a>" in text_of(client_of(make_user("職員")), "/")


def test_a_reader_who_was_on_the_way_to_the_admin_is_led_home_and_one_who_is_there_is_told(reader):
    browser = Client()
    given = {"username": "読者", "password": PASSWORD, "next": "/admin/knowledge/document/"}
    assert browser.post("/admin/login/", given).headers["Location"] == "/"
    answer = browser.get("/admin/knowledge/document/")
    assert answer.status_code == 403
    assert "このページは管理担当者用です" in answer.content.decode()


def test_a_reader_finds_their_own_account_and_signs_out(browser):
    for name in ("hub_second_factor", "hub_sessions", "password_change", "hub_confirm"):
        page = text_of(browser, reverse(f"admin:{name}"))
        assert page.count("ホームへ") == 1
        assert page.count("<h1>") == 1
    browser.post("/admin/logout/")
    assert browser.get("/").status_code == 302


def test_where_a_second_factor_is_a_duty_it_comes_before_the_documents(browser, monkeypatch):
    changed = settings.CONFIG.model_copy(update={"hub_second_factor": "everybody"})
    monkeypatch.setattr(settings, "CONFIG", changed)
    assert browser.get("/").headers["Location"] == "/admin/second-factor/"
    assert browser.get("/admin/second-factor/").status_code == 200


def test_an_answer_names_its_place_and_the_place_shows_the_words(browser, document):
    page = text_of(browser, f"/?q={quote(QUESTION)}")
    address = re.search(r'data-load="([^"]+)"', page)
    assert address
    answer = text_of(browser, address[1], **{"X-Requested-With": "fetch"})
    assert "検索の応答時間は 3 秒以内とする。" in answer
    assert "<html" not in answer
    chip = re.search(r'<a class="chip" href="([^"]+)"[^>]*>\[1\]</a>', answer)
    assert chip
    place = text_of(browser, chip[1], **{"X-Requested-With": "fetch"})
    assert '<mark id="passage">検索の応答時間は 3 秒以内とする。</mark>' in place
    whole = re.search(r'<a href="([^"]+)#passage">', place)
    assert whole
    assert '<mark id="passage">' in text_of(browser, whole[1])
    assert "<html" in text_of(browser, address[1])  # without a script it is a page of its own


def test_what_nothing_answers_is_said(browser, document):
    assert "文書には書かれていません" in text_of(browser, f"/answer/?q={quote('火星への移住の費用はいくらか')}")


def test_a_person_without_a_collection_is_told_that_and_not_that_documents_lack_it(document):
    answer = text_of(client_of(new_user(username="新任")), f"/answer/?q={quote(QUESTION)}")
    assert "閲覧できるコレクションがまだありません" in answer
    assert "文書には書かれていません" not in answer
    assert not AskedQuestion.objects.exists()


def test_words_that_are_found_are_no_question_without_an_answer(browser, tmp_path, queue):
    add_document(tmp_path, filename="b.md", text="# 文書管理規程\n\n## 保存\n\n起案した部署が綴りを作る。\n")
    answer = text_of(browser, f"/answer/?q={quote('文書管理規程')}")
    assert "文書には書かれていません" not in answer
    assert "近い箇所は次のとおり" in answer
    assert AskedQuestion.objects.get().is_answered


def test_passages_are_told_as_the_nearest_and_not_as_so_many_that_match(browser, document):
    assert "件中" not in text_of(browser, f"/?q={quote('火星への移住の費用はいくらか')}")


def test_a_row_of_a_table_answers_by_its_columns(browser, tmp_path, queue):
    add_document(tmp_path, filename="用語集.md", text=TABLES)
    answer = text_of(browser, f"/answer/?q={quote('取置きの意味は')}")
    assert "<dt>取置き</dt><dd>予約した資料を利用者のために確保しておくこと</dd>" in answer
    answer = text_of(browser, f"/answer/?q={quote('督促状はいつ出力しますか')}")
    assert "<dt>出力の時期</dt><dd>毎月五日の 朝に出力する</dd>" in answer


def test_what_a_reader_may_not_read_is_on_no_page(browser, tmp_path, document):
    new_collection(slug="secret", name="秘密の部屋")
    hidden = add_document(tmp_path, filename="秘密.md", text=f"# 秘密\n\n{QUESTION}\n", collection="secret")
    for address in ("/", f"/?q={quote(QUESTION)}", f"/answer/?q={quote(QUESTION)}", "/documents/", "/reviews/"):
        page = text_of(browser, address)
        assert "秘密" not in page
        assert hidden.public_id not in page
    for address in ("", "passage/?version=1&start=0&end=3", "file/"):
        answer = browser.get(f"/documents/{hidden.public_id}/{address}")
        assert answer.status_code == 404
        assert "秘密" not in answer.content.decode()
    assert "コレクション" in browser.get(f"/?q={quote(QUESTION)}&collection=secret").content.decode()
    assert browser.get("/documents/?collection=secret").status_code == 404


def test_a_facet_narrows_down_and_leads_back(browser, tmp_path, document):
    DocumentType.objects.get_or_create(code="guideline", defaults={"name_ja": "指針", "name_en": "Guideline"})
    add_document(tmp_path, filename="指針.md", text="# 指針\n\n応答時間を書く。\n", document_type="guideline")
    page = text_of(browser, f"/?q={quote(QUESTION)}")
    narrowed = re.search(r'<a href="(\?q=[^"]+document_type=guideline)">', page)
    assert narrowed
    page = text_of(browser, f"/{narrowed[1]}")
    assert "指針" in page
    assert "設計書</a></h3>" not in page
    assert 'aria-current="true"' in page
    assert "document_type=guideline" in re.search(r'data-load="([^"]+)"', page)[1]
    assert re.search(r'<a href="\?q=[^"&]+" aria-current="true"', page)


def test_pages_of_passages_follow_each_other(browser, tmp_path, queue):
    sections = "".join(
        f"## {n} 応答時間\n\n機能{n}の応答時間は {n} 秒以内とする。{'詳細を述べる。' * 60}\n\n" for n in range(30)
    )
    add_document(tmp_path, text=f"# 設計\n\n{sections}")
    first = text_of(browser, f"/?q={quote('応答時間')}")
    following = re.search(r'<a href="([^"]+)" rel="next">', first)
    assert following
    second = text_of(browser, f"/{following[1]}")
    assert 'start="11"' in second
    shown = [set(re.findall(r'<h3><a href="([^"]+)"', page)) for page in (first, second)]
    assert not shown[0] & shown[1]


def test_the_list_of_documents_is_paged_sorted_and_narrowed(browser, monkeypatch, document):
    monkeypatch.setattr("hub.home.documents.PER_PAGE", 2)
    collection = Collection.objects.get(slug="default")
    for name in "かきく":
        Document.objects.create(
            collection=collection, path=f"{name}.md", title=name, document_type_id=document.document_type_id
        )
    first = text_of(browser, "/documents/?order=title")
    following = re.search(r'<a href="([^"]+)" rel="next">', first)
    assert following
    second = text_of(browser, f"/documents/{following[1]}")
    titles = [re.findall(r'<td class="first"><a href="[^"]+">([^<]+)</a>', page) for page in (first, second)]
    assert titles == [["か", "き"], ["く", document.title]]
    assert '<td class="first"><a' not in text_of(browser, "/documents/?q=ない文書")
    assert browser.get("/documents/?cursor=x").status_code == 422


def test_reviews_are_read_and_their_reports_saved(browser, document):
    review = start_review(
        principal=local_operator(), document_id=document.public_id, checklist="", options=ReviewOptions()
    )
    execution.execute(review.pk)
    assert f"/reviews/{review.public_id}/" in text_of(browser, "/reviews/")
    page = text_of(browser, f"/reviews/{review.public_id}/")
    assert "指摘" in page
    summary = show_review(local_operator(), review).summary
    assert summary.skipped
    assert f"<b>{summary.skipped}</b> 未判定" in page
    place = re.search(r'<a href="(/documents/[^"]+)" data-drawer>', page)
    assert place is None or browser.get(place[1]).status_code == 200
    saved = browser.get(f"/reviews/{review.public_id}/report/xlsx/")
    assert saved.headers["Content-Disposition"].startswith("attachment")
    assert browser.get(f"/reviews/{review.public_id}/report/exe/").status_code == 422
    assert f"/reviews/{review.public_id}/" in text_of(browser, f"/documents/{document.public_id}/")


def test_a_reviewer_without_rights_as_staff_starts_a_review_and_follows_it(browser, document, monkeypatch):
    assert "/review/" not in text_of(browser, f"/documents/{document.public_id}/")
    refused = browser.get(f"/documents/{document.public_id}/review/")
    assert refused.status_code == 403
    assert "レビュー担当者" in refused.content.decode()
    assert browser.post(f"/documents/{document.public_id}/review/begin/", {}).status_code == 403
    assert browser.get("/documents/doc_nowhere/review/").status_code == 404
    reviewer = new_user(username="点検者")
    grant(reviewer, Role.REVIEWER, Collection.objects.get(slug="default"))
    at_work = client_of(reviewer)
    link = re.search(r'href="(/documents/[^"]+/review/)"', text_of(at_work, f"/documents/{document.public_id}/"))
    assert link
    page = text_of(at_work, link[1])
    assert '<option value="basic-design" selected>' in page
    assert re.search(r"<dt>[^<]+</dt><dd>3[0-9]</dd>", page)  # how many checks there are
    other = text_of(at_work, f"{link[1]}?checklist=test-plan")
    assert '<option value="test-plan" selected>' in other
    assert at_work.get(f"{link[1]}?checklist=nowhere").status_code == 200  # says that there is none
    begun = at_work.post(f"{link[1]}begin/", {"checklist": "basic-design"})
    address = begun.headers["Location"]
    page = text_of(at_work, address)
    assert "data-at-work" in page
    assert '<ul class="counts">' not in page  # nothing is counted, and nothing reported, that was not looked at
    assert "/report/" not in page
    assert "data-at-work" in text_of(browser, address)  # for everybody who may read the document
    execution.execute(Review.objects.get().pk)
    assert "data-at-work" not in text_of(at_work, address)
    assert at_work.get(f"{address}report/html/").status_code == 200


def test_a_review_that_can_not_start_is_refused_on_its_own_page_with_the_reason(tmp_path, queue):
    unreadable = work_through(upload_text(local_operator(), tmp_path, "", name="空.md").document)
    notes = add_document(tmp_path, filename="覚え書き.md", document_type="other")
    reviewer = new_user()
    grant(reviewer, Role.REVIEWER, Collection.objects.get(slug="default"))
    at_work = client_of(reviewer)
    page = text_of(at_work, f"/documents/{unreadable.public_id}/")
    assert "テキストを読み取れませんでした。" in page
    assert "/review/" not in page
    offered = text_of(at_work, "/reviews/start/")
    assert (notes.public_id in offered, unreadable.public_id in offered) == (True, False)
    page = text_of(at_work, f"/documents/{unreadable.public_id}/review/")
    assert "空.md はレビューできません" in page
    assert "レビューを開始" not in page
    page = text_of(at_work, f"/documents/{notes.public_id}/review/")
    assert "文書種別「その他」" in page
    assert "全体テスト計画書チェックリスト (test-plan)" in page
    refused = at_work.post(f"/documents/{notes.public_id}/review/begin/", {"checklist": "nowhere"})
    assert refused.status_code == 404
    assert 'name="checklist"' in refused.content.decode()
    assert not Review.objects.exists()


def test_a_document_that_is_not_read_yet_is_not_told_as_one_without_a_check_list(tmp_path, queue):
    waiting = add_document(tmp_path, filename="届いたばかり.md", document_type="other")
    Document.objects.filter(pk=waiting.pk).update(type_guess="wanted")
    reviewer = new_user()
    grant(reviewer, Role.REVIEWER, Collection.objects.get(slug="default"))
    at_work = client_of(reviewer)
    page = text_of(at_work, f"/documents/{waiting.public_id}/review/")
    assert "まだ読み取り中です。" in page
    assert "文書種別「その他」" not in page
    page = text_of(at_work, f"/documents/{waiting.public_id}/review/?checklist=basic-design")
    assert "<dt>チェックリストの版</dt>" in page


def test_the_guide_says_to_everybody_how_a_review_is_done(browser):
    guide = text_of(browser, "/guide/")
    for words in ("レビューを始められます", "理由を聞かずにすぐ記録", "u で直前の操作を取り消し", "s で承認の欄に"):
        assert words in guide
    assert 'id="desk"' not in guide


def test_who_has_no_role_is_told_whom_to_ask_in_every_list(browser, document):
    stranger = client_of(new_user(username="新人"))
    assert "コレクションのロールを運用担当者に依頼" in text_of(stranger, "/documents/")
    for address in ("/documents/", "/reviews/start/"):
        assert "条件に合う文書はありません" not in text_of(stranger, address)
    assert "レビュー担当者のロール" in text_of(browser, "/reviews/start/")


def test_who_may_review_is_led_to_it_from_the_list_and_nobody_else(browser, document):
    assert "/reviews/start/" not in text_of(browser, "/reviews/")
    assert document.public_id not in text_of(browser, "/reviews/start/")
    reviewer = new_user(username="点検者")
    grant(reviewer, Role.REVIEWER, Collection.objects.get(slug="default"))
    at_work = client_of(reviewer)
    assert '"/reviews/start/"' in text_of(at_work, "/reviews/")
    link = f'<a href="/documents/{document.public_id}/review/">'
    assert link in text_of(at_work, "/reviews/start/")
    assert link in text_of(at_work, f"/reviews/start/?q={quote(document.title)}")
    assert link not in text_of(at_work, f"/reviews/start/?q={quote('別の題名')}")


def test_what_is_assigned_to_somebody_without_rights_as_staff_is_on_their_home(browser, reader, document):
    review = start_review(
        principal=local_operator(), document_id=document.public_id, checklist="", options=ReviewOptions()
    )
    execution.execute(review.pk)
    assert "割り当て" not in text_of(browser, "/")
    finding = Finding.objects.filter(result__review=review, state__in=COUNTED_STATES).first()
    assert finding is not None
    Finding.objects.filter(pk=finding.pk).update(assignee=reader)
    assert "1 件の指摘があなたに割り当てられています" in text_of(browser, "/")
    page = text_of(browser, "/own-work/")
    assert f'<a href="/reviews/{review.public_id}/#{finding.public_id}">{finding.message}</a>' in page
    assert f'id="{finding.public_id}"' in text_of(browser, f"/reviews/{review.public_id}/")
    others = text_of(client_of(new_user()), "/own-work/")
    assert finding.public_id not in others


def test_quotes_are_read_without_the_signs_of_markdown(browser, tmp_path, queue):
    add_document(tmp_path, text="# 方針\n\n- **夜間処理**は `JOB-01` が 2 時に始める。\n")
    answer = text_of(browser, f"/answer/?q={quote('夜間処理は何時に始めるか')}")
    assert "夜間処理は JOB-01 が 2 時に始める。" in answer
    assert "**" not in answer


def test_every_reading_is_a_line_of_the_audit_trail(browser, reader, document):
    text_of(browser, f"/?q={quote(QUESTION)}")
    text_of(browser, f"/answer/?q={quote(QUESTION)}")
    text_of(browser, f"/documents/{document.public_id}/")
    text_of(browser, f"/documents/{document.public_id}/passage/?version=1&start=3&end=9")
    assert b"".join(browser.get(f"/documents/{document.public_id}/file/")).startswith(b"#")
    lines = AuditEvent.objects.filter(user_id=reader.pk).order_by("pk").values_list("action", flat=True)
    assert list(lines) == ["LOGIN", "SEARCH", "ANSWER", "DOCUMENT_READ", "DOCUMENT_READ", "DOCUMENT_DOWNLOAD"]
    line = AuditEvent.objects.get(action="SEARCH", user_id=reader.pk)
    assert line.details["documents"] == [document.public_id]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/nowhere/", 404),
        ("/documents/doc_none/", 404),
        ("/documents/doc_none/passage/?version=1", 404),
        ("/reviews/rev_none/", 404),
        ("/reviews/rev_none/report/html/", 404),
        (f"/?q={quote('長' * 3000)}", 200),
        ("/?q=a&offset=99999999999999999999", 200),
        ("/?q=%00", 422),
        ("/?q=a&classification=c9", 200),
        ("/documents/?q=%00", 422),
        ("/documents/?document_type=none", 422),
    ],
)
def test_odd_addresses_are_answered_in_words(browser, document, address, status):
    answer = browser.get(address)
    page = answer.content.decode()
    assert answer.status_code == status, page
    assert "<main" in page
    assert ('role="alert"' in page) or status == 200
    if status >= 400:
        assert re.search(r"<code>req_\w+</code>", page)


def test_a_citation_of_a_pdf_is_boxed_on_its_page_and_the_page_turns(browser, tmp_path, queue):
    path = tmp_path / "設計.pdf"
    texts = ("検索の応答時間は三秒以内とする。", "移行は夜間に行い、朝までに終える。")
    path.write_bytes(write_pdf([PdfPage(texts=[(72, 700, 12, text)]) for text in texts]))
    document = work_through(upload_file(local_operator(), path).document)
    answer = text_of(browser, f"/answer/?q={quote('移行はいつ行いますか')}")
    chip = re.search(r'<a class="chip" href="([^"]+)"', answer)
    assert chip
    place = text_of(browser, chip[1])
    picture = re.search(r'<img src="([^"]+)"', place)
    assert picture
    assert "pages/2/picture/" in picture[1]
    assert place.count("<rect ") == 1
    drawn = browser.get(picture[1])
    assert drawn.headers["Content-Type"] == "image/png"
    assert "no-store" in drawn.headers["Cache-Control"]
    assert drawn.content.startswith(b"\x89PNG")
    first = text_of(browser, f"/documents/{document.public_id}/pages/1/")
    assert 'class="whole-page fitted"' in first
    following = re.search(r'<a href="([^"]+)" rel="next">', first)
    assert following
    assert "width=" not in following[1]
    enlarged = text_of(browser, f"/documents/{document.public_id}/pages/1/?width=1800")
    assert 'class="whole-page"' in enlarged
    assert 'width=1800" rel="next"' in enlarged
    assert 'rel="next"' not in text_of(browser, following[1])
    assert browser.get(f"/documents/{document.public_id}/pages/3/").status_code == 404
    stranger = client_of(new_user())
    assert stranger.get(picture[1]).status_code == 404
    assert stranger.get(following[1]).status_code == 404


def test_an_original_that_can_not_be_shown_leaves_the_text(browser, document, monkeypatch):
    def fail(*_anything: object) -> None:
        raise Unavailable("描けない")

    monkeypatch.setattr("hub.home.documents.original_of", fail)
    place = text_of(browser, f"/documents/{document.public_id}/passage/?version=1&start=15&end=20")
    assert "描けない" in place
    assert "<mark" in place


def test_a_version_that_is_not_there_is_told(browser, document):
    answer = browser.get(f"/documents/{document.public_id}/passage/?version=9&start=0&end=1")
    assert answer.status_code == 404
    assert "版 9" in answer.content.decode()


def test_errors_are_pages_in_the_readers_language_with_a_way_on(reader):
    page = client_of(reader, language="en").get("/nowhere/").content.decode()
    assert "There is no such page." in page
    assert '<a class="button" href="/">To the home page</a>' in page


def test_a_form_that_has_expired_says_so(reader):
    browser = Client(enforce_csrf_checks=True, headers={"Accept-Language": "ja"})
    browser.force_login(reader)
    answer = browser.post("/admin/logout/")
    assert answer.status_code == 403
    assert "入力画面の有効期限が切れました" in answer.content.decode()
    assert browser.get("/").status_code == 200  # still signed in


def test_something_that_fails_is_a_page_with_a_number(reader, monkeypatch):
    def fail(*_anything: object, **_more: object) -> None:
        raise RuntimeError("秘密の理由")

    monkeypatch.setattr("hub.home.asking.search_passages", fail)
    browser = client_of(reader)
    browser.raise_request_exception = False
    answer = browser.get("/?q=a")
    assert answer.status_code == 500
    page = answer.content.decode()
    assert "秘密の理由" not in page
    assert re.search(r"<code>req_\w+</code>", page)


def test_the_home_page_costs_as_many_queries_for_ten_passages_as_for_one(browser, tmp_path, document):
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            text_of(browser, f"/?q={quote('応答時間')}")
        return len(seen)

    add_document(tmp_path, filename="another.md", text=DESIGN)
    queries()
    few = queries()
    for n in range(8):
        add_document(tmp_path, filename=f"設計{n}.md", text=DESIGN.replace("#", f"# {n}", 1))
    queries()  # reads what of the lexical index is new
    assert queries() == few


def test_an_answer_is_rated_and_what_found_nothing_reaches_a_curator_who_mends_it(browser, tmp_path, document):
    asked = f"/answer/?q={quote('図書の督促は何日後に送りますか')}"
    page = text_of(browser, asked)
    assert "文書には書かれていません" in page
    rate = re.search(r'action="(/questions/[0-9]+/rate/)"', page)
    assert rate
    told = browser.post(rate[1], {"rating": "bad", "reason": "督促の手順が要る"}, headers={"X-Requested-With": "fetch"})
    assert told.content.decode().startswith("ありがとうございます")
    assert browser.post(rate[1], {"rating": "great"}).status_code == 422
    assert "図書の督促は何日後に送りますか" in text_of(browser, "/questions/")
    assert "図書の督促" not in text_of(browser, "/questions/unanswered/")

    curator = make_user("担当者")
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    at_work = client_of(curator)
    page = text_of(at_work, "/questions/unanswered/")
    assert "図書の督促は何日後に送りますか" in page
    assert "督促の手順が要る" in page
    assert "読者" not in page
    assert "回答のない質問" in text_of(at_work, "/questions/")
    assert at_work.post(rate[1], {"rating": "good"}).status_code == 404  # another's

    add_document(tmp_path, filename="督促.md", text="# 督促\n\n図書の督促は、返却期限の七日後に送る。\n")
    assert "七日後に送る" in text_of(browser, asked)
    assert "図書の督促" not in text_of(at_work, "/questions/unanswered/")


def test_who_keeps_the_collection_is_asked_and_replies(browser, reader, document):
    shelf = Collection.objects.get(slug="default")
    owner = new_user(username="文書管理者")
    grant(owner, Role.ADMINISTRATOR, shelf)
    question = "図書の督促は何日後に送りますか"
    page = text_of(browser, f"/answer/?q={quote(question)}")
    assert f"{shelf.name} (文書管理者)" in page
    form = {"collection": "default", "question": question, "message": "窓口で聞かれました"}
    told = browser.post("/questions/owners/", form, headers={"X-Requested-With": "fetch"})
    assert told.content.decode().startswith(shelf.name)
    assert browser.post("/questions/owners/", form | {"collection": "nowhere"}).status_code == 404
    assert "まだ返事がありません" in text_of(browser, "/questions/")

    at_work = client_of(owner)
    assert "1 件の質問が返事を待っています" in text_of(at_work, "/")
    page = text_of(at_work, "/questions/unanswered/")
    assert "窓口で聞かれました" in page
    assert "読者" in page  # who sent it said so
    reply = re.search(r'action="(/questions/owners/[0-9]+/reply/)"', page)
    assert reply
    assert browser.post(reply[1], {"reply": "自分で"}).status_code == 404
    at_work.post(reply[1], {"reply": "七日後です。"})
    page = text_of(browser, "/questions/")
    assert "七日後です。" in page
    withdraw = re.search(r'action="(/questions/owners/[0-9]+/withdraw/)"', page)
    assert withdraw
    assert at_work.post(withdraw[1]).status_code == 404
    browser.post(withdraw[1])
    assert "七日後です。" not in text_of(browser, "/questions/")


def test_a_question_without_an_answer_leads_to_the_upload_and_to_another_name(browser, document):
    text_of(browser, f"/answer/?q={quote('督促の期限はいつですか')}")
    curator = make_hub_curator(new_user(username="担当者"))
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    at_work = client_of(curator)
    page = text_of(at_work, "/questions/unanswered/")
    upload = re.search(r'href="(/documents/upload/\?question=[0-9a-f]{64})"', page)
    name = re.search(r'href="(/questions/unanswered/[0-9a-f]{64}/name/)"', page)
    assert upload
    assert name
    page = text_of(at_work, upload[1])
    assert "質問「督促の期限はいつですか」のための登録です。" in page
    assert '<option value="default" selected>' in page
    assert browser.get(upload[1]).status_code == 404
    page = text_of(at_work, name[1])
    assert 'name="name" value="督促の期限"' in page
    refused = at_work.post(f"{name[1]}give/", {"name": "督促の期限", "concept": "system_design:nowhere"})
    assert refused.status_code == 404
    assert 'value="督促の期限"' in refused.content.decode()
    at_work.post(f"{name[1]}give/", {"name": "督促の期限", "concept": "system_design:Security"})
    assert Ontology.objects.get(status="draft").classes.get(code="Security").synonyms[-1] == "督促の期限"
    plain = new_user(username="別の担当")
    grant(plain, Role.CURATOR, Collection.objects.get(slug="default"))
    assert "/name/" not in text_of(client_of(plain), "/questions/unanswered/")
    assert client_of(plain).get(name[1]).status_code == 403


def test_a_reader_saves_forgets_and_keeps_no_questions(browser, document):
    text_of(browser, f"/answer/?q={quote(QUESTION)}")
    assert QUESTION in text_of(browser, "/")
    save = re.search(r'action="(/questions/[0-9]+/save/)"', text_of(browser, "/questions/"))
    assert save
    browser.post(save[1], {"saved": "1"})
    assert "保存済み" in text_of(browser, "/questions/")
    browser.post("/questions/keeping/", {})
    page = text_of(browser, "/questions/")
    assert QUESTION not in page
    assert "質問は記録されていません" in page
    assert 'class="rate"' not in text_of(browser, f"/answer/?q={quote(QUESTION)}")
    browser.post("/questions/keeping/", {"wanted": "1"})
    assert 'class="rate"' in text_of(browser, f"/answer/?q={quote(QUESTION)}")
    forget = re.search(r'action="(/questions/[0-9]+/forget/)"', text_of(browser, "/questions/"))
    assert forget
    browser.post(forget[1])
    assert QUESTION not in text_of(browser, "/questions/")
    assert browser.get(forget[1]).status_code == 405


@pytest.mark.parametrize("onwards", ["/admin/", "https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_signing_in_leads_home_with_another_csrf_token_and_nothing_is_cached(reader, onwards):
    browser = Client()
    browser.get("/admin/login/")
    before = browser.cookies["csrftoken"].value
    answer = browser.post("/admin/login/", {"username": "読者", "password": PASSWORD, "next": onwards})
    assert answer.headers["Location"] == "/"
    assert browser.cookies["csrftoken"].value != before
    assert "no-store" in answer.headers["Cache-Control"]


def test_one_long_line_and_a_far_end_do_not_make_a_page_of_everything(browser, tmp_path, queue):
    document = add_document(tmp_path, filename="長い行.txt", text=f"始め。{'長い行の文字が続く。' * 12_000}")
    for address in ("passage/?version=1&start=100000&end=100020", "?start=0&end=999999999"):
        answer = browser.get(f"/documents/{document.public_id}/{address}")
        assert answer.status_code == 200
        assert len(answer.content.decode()) < 100_000
    assert "<mark" in text_of(browser, f"/documents/{document.public_id}/passage/?version=1&start=100000&end=100020")


def test_odd_looks_at_pages_are_answered_as_others(browser, document):
    assert browser.head("/").status_code == 200
    assert browser.get(f"/documents/{document.public_id}/?version=99").status_code == 404
    other = make_user("職員")
    assert browser.get(f"/admin/sessions/?user={other.pk}").status_code == 404
    for address in ("/", "/nothing/", "/admin/nothing/"):
        assert "unsafe-eval" not in browser.get(address).headers["Content-Security-Policy"]


def test_a_question_that_goes_on_is_asked_whole_and_can_be_asked_as_it_is_typed(browser, document):
    first = text_of(browser, f"/?q={quote(QUESTION)}")
    assert f'name="before" value="{QUESTION}"' in first
    page = text_of(browser, f"/?q={quote('それは何秒ですか')}&before={quote(QUESTION)}")
    assert "次の質問として調べました: 検索の応答時間は何秒ですか" in page
    assert 'name="before" value="検索の応答時間は何秒ですか"' in page
    answer = re.search(r'data-load="([^"]+)"', page)
    assert answer
    assert "検索の応答時間は 3 秒以内とする。" in text_of(browser, answer[1])
    typed = re.search(r'<a href="([^"]+)">入力したとおりに質問する', page)
    assert typed
    assert "次の質問として" not in text_of(browser, f"/{typed[1]}")
    assert "次の質問として" not in text_of(browser, f"/?q={quote('移行はいつ行いますか')}&before={quote(QUESTION)}")


@pytest.mark.parametrize(
    ("address", "entry", "value"),
    [("/reviews/", "/reviews/", "page"), ("/reviews/start/", "/reviews/", "true"), ("/", "/", "page")],
)
def test_the_menu_marks_the_entry_that_a_page_is_below(address: str, entry: str, value: str) -> None:
    menu = client_of(new_user()).get(address).content.decode().split("<nav")[1].split("</nav>")[0]
    assert re.findall(r'href="([^"]+)" aria-current="([^"]+)"', menu) == [(entry, value)]
