"""The home pages in a real browser: asking, the drawer, an ended session; and what the rules of accessibility say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from openpyxl import Workbook
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.factor_models import HubSession
from hub.access.permissions import Role
from hub.access.principals import local_operator
from hub.access.services import principal_for_user
from hub.core import temporary
from knowledge.models import AskedQuestion, Collection, Document
from knowledge.questions import ask_owner, note_question
from knowledge.types.search import SearchFilter
from review.models import Finding, Review
from review.runs import execution
from review.runs.reviews import start_review
from tests.axe import broken_rules
from tests.browsers import PATIENCE_S, WebDriverWait, wait_for
from tests.factories import make_hub_curator, upload_file, work_through
from tests.hub.admin.support import DESIGN, PASSWORD, add_document, grant
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUESTION = "画面の応答時間"
MOST_KILOBYTES = 300
# All that a page brought with it, whether from the hub or kept by the browser, as it came over the line.
WEIGHT = """return [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .reduce((sum, one) => sum + one.encodedBodySize, 0)"""


@pytest.fixture
def reader(live_server: Any, queue: None, tmp_path: Path, monkeypatch: Any) -> User:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    made = User.objects.create_user("読者", password=PASSWORD)
    grant(made, Role.READER, Collection.objects.get(slug="default"))
    return made


@pytest.fixture
def browser(chromium: WebDriver, live_server: Any, reader: User) -> Iterator[WebDriver]:
    """Signed in as a reader, at home."""
    sign_in_as(chromium, live_server.url, "読者")
    yield chromium
    # nothing asks the server any more while the tables are emptied
    WebDriverWait(chromium, PATIENCE_S).until(lambda one: not one.find_elements(By.CSS_SELECTOR, "[aria-busy]"))


def sign_in_as(browser: WebDriver, url: str, username: str) -> None:
    """Begin anew as somebody else, at home."""
    browser.delete_all_cookies() if browser.current_url.startswith("http") else None
    browser.get(url)
    browser.find_element(By.NAME, "username").send_keys(username)
    browser.find_element(By.NAME, "password").send_keys(PASSWORD)
    browser.find_element(By.CSS_SELECTOR, "#login-form [type=submit]").click()
    wait_for(browser, "question")


def until(browser: WebDriver, selector: str) -> Any:
    return WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_element(By.CSS_SELECTOR, selector))


def ask(browser: WebDriver, text: str) -> None:
    field = browser.find_element(By.ID, "question")
    field.clear()
    field.send_keys(text, Keys.ENTER)


def test_a_reader_asks_follows_a_number_to_the_words_and_comes_back(browser: WebDriver, tmp_path: Path) -> None:
    add_document(tmp_path, text=DESIGN)
    ask(browser, QUESTION)
    chip = until(browser, ".answer .chip")
    assert "応答時間" in browser.find_element(By.CSS_SELECTOR, ".sentences").text
    chip.send_keys(Keys.ENTER)
    mark = until(browser, "dialog[open] mark")
    assert "応答時間" in mark.text
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    WebDriverWait(browser, PATIENCE_S).until(lambda one: not one.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert browser.switch_to.active_element == chip
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


def test_a_passage_keeps_its_title_in_sight_while_one_scrolls(browser: WebDriver, tmp_path: Path) -> None:
    before = "".join(f"前書き {number} を述べる。\n\n" for number in range(60))
    document = add_document(tmp_path, text=f"# 設計書\n\n{before}画面の応答時間は 3 秒以内とする。\n\n{before}")
    ask(browser, "画面の応答時間は何秒以内ですか")
    until(browser, ".answer .chip").click()
    until(browser, "dialog[open] mark")
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.execute_script("return drawer.scrollTop") > 0)
    title = browser.find_element(By.CSS_SELECTOR, "dialog[open] .passage h1")
    top, bottom = browser.execute_script(
        "const {top, bottom} = arguments[0].getBoundingClientRect(); return [top, bottom]", title
    )
    assert 0 <= top < bottom < 200
    title.find_element(By.TAG_NAME, "a").click()
    assert f"/documents/{document.public_id}/" in browser.current_url


def test_a_drawer_with_a_page_of_a_pdf_is_closed_by_its_button(browser: WebDriver, tmp_path: Path) -> None:
    path = tmp_path / "設計.pdf"
    path.write_bytes(write_pdf([PdfPage(texts=[(72, 700, 12, "検索の応答時間は三秒以内とする。")])]))
    work_through(upload_file(local_operator(), path).document)
    ask(browser, "検索の応答時間は何秒以内ですか")
    until(browser, ".answer .chip").click()
    page = until(browser, "dialog[open] .page svg")
    browser.execute_script("arguments[0].scrollIntoView()", page)  # below the button, which stays where it is
    browser.find_element(By.CSS_SELECTOR, "dialog[open] form button").click()
    assert not browser.find_elements(By.CSS_SELECTOR, "dialog[open]")


def test_a_question_is_followed_to_its_places_and_one_without_an_answer_is_answered_in_the_end(
    browser: WebDriver, live_server: Any, tmp_path: Path
) -> None:
    pdf = tmp_path / "性能.pdf"
    pdf.write_bytes(write_pdf([PdfPage(texts=[(72, 700, 12, "検索の応答時間は三秒以内とする。")])]))
    book = Workbook()
    sheet: Any = book.active
    sheet.title = "保存期間"
    for row in (("文書", "保存期間"), ("議事録", "五年間"), ("契約書", "十年間")):
        sheet.append(row)
    book.save(tmp_path / "保存期間.xlsx")
    for path in (pdf, tmp_path / "保存期間.xlsx"):
        work_through(upload_file(local_operator(), path).document)

    ask(browser, "検索の応答時間は何秒以内ですか")
    until(browser, ".answer .chip").click()
    until(browser, "dialog[open] .page svg rect")
    assert "三秒以内" in until(browser, "dialog[open] mark").text
    browser.get(f"{live_server.url}/")
    ask(browser, "議事録の保存期間は何年間ですか")
    until(browser, ".answer .chip").click()
    until(browser, "dialog[open] .sheet .cited")
    cells = {one.text for one in browser.find_elements(By.CSS_SELECTOR, "dialog[open] .sheet .cited")}
    assert "五年間" in cells
    assert "十年間" not in cells

    missing = "督促は何日後に送りますか"
    browser.get(f"{live_server.url}/")
    ask(browser, missing)
    until(browser, ".answer .rate [name=reason]").send_keys("督促の手順が要る")
    browser.find_element(By.CSS_SELECTOR, ".rate [value=bad]").click()
    until(browser, ".answer [role=status]")

    curator = make_hub_curator(User.objects.create_user("担当", password=PASSWORD, is_staff=True))
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    sign_in_as(browser, live_server.url, "担当")
    browser.get(f"{live_server.url}/questions/unanswered/")
    assert missing in until(browser, ".list").text
    assert "督促の手順が要る" in browser.find_element(By.CSS_SELECTOR, ".list blockquote").text
    browser.find_element(By.CSS_SELECTOR, ".acts [href*='/name/']").click()
    assert until(browser, "[name=name]").get_attribute("value") == "督促"
    browser.find_element(By.CSS_SELECTOR, "[name=concept] [value='system_design:Security']").click()
    browser.find_element(By.CSS_SELECTOR, "button.main").click()
    assert "督促" in until(browser, ".notice.good").text
    browser.find_element(By.CSS_SELECTOR, ".acts [href*='/search/']").click()
    assert until(browser, "[name=q]").get_attribute("value") == missing
    browser.get(f"{live_server.url}/questions/unanswered/")
    browser.find_element(By.CSS_SELECTOR, ".acts [href*='/upload/']").click()
    assert missing in until(browser, "main .notice").text
    (tmp_path / "督促.md").write_text("# 督促\n\n督促は、返却期限の七日後に送る。\n", encoding="utf-8")
    browser.find_element(By.CSS_SELECTOR, "[name=files]").send_keys(str(tmp_path / "督促.md"))
    until(browser, "[data-rows-of] [data-open]")
    work_through(Document.objects.get(path="督促.md"))
    until_counted(browser, "1 file · ready 1")

    sign_in_as(browser, live_server.url, "読者")
    ask(browser, missing)
    assert "七日後に送る" in until(browser, ".answer .sentences").text
    sign_in_as(browser, live_server.url, "担当")
    browser.get(f"{live_server.url}/questions/unanswered/")
    assert missing not in until(browser, "main").text
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


def test_the_list_breaks_no_state_and_no_date(browser: WebDriver, live_server: Any, tmp_path: Path) -> None:
    add_document(tmp_path, text=DESIGN, filename=f"{'基本設計書_' * 12}.md")
    size = {"width": 1366, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(f"{live_server.url}/documents/")
        cells = browser.find_elements(By.CSS_SELECTOR, ".list td.short")
        texts = [one.text for one in cells]
        assert "ready" in texts
        lines = "const r = document.createRange(); r.selectNodeContents(arguments[0]); return r.getClientRects().length"
        assert [browser.execute_script(lines, one) for one in cells] == [1] * len(cells)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_session_that_ended_is_told_in_place_and_the_question_is_kept(browser: WebDriver, tmp_path: Path) -> None:
    add_document(tmp_path, text=DESIGN)
    ask(browser, QUESTION)
    until(browser, ".answer .chip")
    HubSession.objects.all().delete()
    browser.find_element(By.CSS_SELECTOR, ".snippets a").click()
    assert until(browser, "dialog[open] [role=alert]").text
    browser.find_element(By.CSS_SELECTOR, "dialog [role=alert] a").click()
    until(browser, "#login-form")
    browser.find_element(By.NAME, "username").send_keys("読者")
    browser.find_element(By.NAME, "password").send_keys(PASSWORD)
    browser.find_element(By.CSS_SELECTOR, "#login-form [type=submit]").click()
    assert until(browser, "#question").get_attribute("value") == QUESTION


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "dark"), pytest.param(1280, "light", marks=pytest.mark.long, id="1280-light")]
)
def test_the_pages_break_no_rule_of_accessibility_and_fit(
    browser: WebDriver, live_server: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    document = add_document(tmp_path, text=DESIGN)
    (tmp_path / "性能.pdf").write_bytes(write_pdf([PdfPage(texts=[(72, 700, 12, "監視の間隔は五分とする。")])]))
    pdf = work_through(upload_file(local_operator(), tmp_path / "性能.pdf").document)
    review = start_review(principal=local_operator(), document_id=document.public_id)
    execution.execute(review.pk)
    grant(make_hub_curator(User.objects.get(username="読者")), Role.CURATOR, document.collection)
    reader = principal_for_user(User.objects.get(username="読者"))
    note_question(reader, "督促は何日後か", SearchFilter(), is_answered=False)
    ask_owner(reader, "default", "督促は何日後か", "窓口で聞かれた")
    key = AskedQuestion.objects.get(text="督促は何日後か").folded
    command = browser.execute_cdp_cmd
    command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    command(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    addresses = (
        *(
            "/",
            f"/?q={QUESTION}",
            f"/answer/?q={QUESTION}",
            "/?q=火星",
            "/documents/",
            "/reviews/",
            "/reviews/start/",
            "/own-work/",
            "/guide/",
            "/questions/",
            "/questions/unanswered/",
        ),
        *(f"/documents/{document.public_id}/", f"/documents/{document.public_id}/passage/?version=1&start=10&end=40"),
        *(f"/reviews/{review.public_id}/", "/nowhere/", "/documents/upload/", f"/documents/upload/?question={key}"),
        f"/documents/{document.public_id}/review/",
        *(f"/documents/{document.public_id}/history/", f"/documents/{pdf.public_id}/pages/1/"),
        "/documents/?status=failed",
        *(f"/documents/{pdf.public_id}/passage/?version=1&start=0&end=8", f"/questions/unanswered/{key}/name/"),
    )
    try:
        found = {address: wrong for address in addresses if (wrong := _wrong(browser, live_server.url + address))}
        browser.get(f"{live_server.url}/?q={QUESTION}")
        until(browser, ".answer .chip").click()
        until(browser, "dialog[open] mark")
        if wrong := broken_rules(browser):
            found["the drawer"] = wrong
    finally:
        command("Emulation.clearDeviceMetricsOverride", {})
        command("Emulation.setEmulatedMedia", {"features": []})
    assert found == {}


def _wrong(browser: WebDriver, address: str) -> list[str]:
    browser.get(address)
    if "/?q=" in address and "/answer/" not in address:
        until(browser, "[data-load]:not([aria-busy])")
    for folded in browser.find_elements(By.CSS_SELECTOR, "main details:not([open]) > summary"):
        folded.click()
    kilobytes = browser.execute_script(WEIGHT) / 1000
    wider = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [
        *broken_rules(browser),
        *([f"{wider} px too wide"] if wider > 0 else []),
        *([f"{kilobytes:.0f} kB"] if kilobytes > MOST_KILOBYTES else []),
    ]


def until_counted(browser: WebDriver, text: str) -> None:
    shown = lambda one: one.find_element(By.CSS_SELECTOR, "[data-counts]").text  # noqa: E731
    WebDriverWait(browser, PATIENCE_S).until(lambda one: shown(one) == text)


def test_mixed_files_are_told_one_by_one_mended_in_place_and_taken_back(
    browser: WebDriver, live_server: Any, tmp_path: Path
) -> None:
    grant(User.objects.get(username="読者"), Role.REVIEWER, Collection.objects.create(slug="own", name="自分の箱"))
    good = [f"設計{number}.md" for number in range(4)]
    for name in good:
        (tmp_path / name).write_text(f"# {name}\n\n応答時間は 3 秒以内とする。\n", encoding="utf-8")
    (tmp_path / "壊れた.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "偽物.docx").write_bytes(b"PK\x03\x04 not a document")
    (tmp_path / "空.md").write_bytes(b"")
    (tmp_path / "動画.mp4").write_bytes(b"\x00\x00\x00 ftypmp42")
    (tmp_path / "記録.conf").write_bytes("# 記録\n\n応答時間は 3 秒以内とする。\n".encode("cp932"))
    (tmp_path / "暗号.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600)
    (tmp_path / "走査.pdf").write_bytes(write_pdf([PdfPage(image=True)]))
    browser.get(f"{live_server.url}/documents/upload/")
    names = [*good, "壊れた.pdf", "偽物.docx", "空.md", "動画.mp4", "記録.conf", "暗号.xlsx", "走査.pdf"]
    browser.find_element(By.CSS_SELECTOR, "[name=files]").send_keys("\n".join(str(tmp_path / one) for one in names))
    rows = browser.find_elements(By.CSS_SELECTOR, "[data-rows-of] tr")
    assert len(rows) == 11
    texts = lambda one: [row.text for row in one.find_elements(By.CSS_SELECTOR, "[data-rows-of] tr")]  # noqa: E731
    WebDriverWait(browser, PATIENCE_S).until(
        lambda one: (
            len(one.find_elements(By.CSS_SELECTOR, "[data-rows-of] [data-open]")) == 8
            and sum("not sent" in text for text in texts(one)) == 3
        )  # the empty one, the film and the text of another name
    )
    offering = "[data-live] button:not([hidden])"
    until(browser, f"[data-rows-of] {offering}")
    rows = browser.find_elements(By.CSS_SELECTOR, "[data-rows-of] tr")
    assert {len(row.find_elements(By.CSS_SELECTOR, "td[data-label]")) for row in rows} == {2}  # beside the name
    offered = [row for row in rows if row.find_elements(By.CSS_SELECTOR, offering)]
    assert [row.text.splitlines()[0] for row in offered] == ["記録.conf"]  # not what can never be read
    (film,) = [row.text for row in rows if row.text.startswith("動画.mp4")]
    assert ".docx" in film  # what is read at all is said there
    offered[0].find_element(By.CSS_SELECTOR, offering).click()
    until_counted(browser, "9 files · under way 9")
    for document in Document.objects.all():
        work_through(document)
    until_counted(browser, "9 files · ready 5 · needs OCR 1 · failed 3")
    assert broken_rules(browser) == []
    (tmp_path / "直した 基本設計書.md").write_text(DESIGN, encoding="utf-8")
    failed = Document.objects.get(path="壊れた.pdf")
    mend = browser.find_element(By.CSS_SELECTOR, f"#{failed.public_id} [data-mend] [type=file]")
    mend.send_keys(str(tmp_path / "直した 基本設計書.md"))
    until(browser, f"#{failed.public_id}[data-open]")
    work_through(failed)
    WebDriverWait(browser, PATIENCE_S).until(lambda one: "guess" in one.find_element(By.ID, failed.public_id).text)
    failed.refresh_from_db()
    assert (failed.path, failed.document_type_id) == ("壊れた.pdf", "basic_design")
    browser.find_element(By.CSS_SELECTOR, "[data-to-batch] a").click()
    until(browser, "details summary").click()
    assert broken_rules(browser) == []
    browser.find_element(By.CSS_SELECTOR, ".acts details summary").click()
    browser.find_element(By.CSS_SELECTOR, ".acts details button").click()
    assert "9 deleted" in until(browser, ".notice").text
    assert not Document.objects.exists()
    errors = browser.get_log("browser")  # type: ignore[attr-defined]
    assert [one for one in errors if "422" not in one["message"]] == []


def test_what_was_typed_survives_a_session_that_ends(browser: WebDriver, live_server: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path)
    grant(User.objects.get(username="読者"), Role.CURATOR, document.collection)
    browser.get(f"{live_server.url}/documents/{document.public_id}/")
    browser.find_element(By.CSS_SELECTOR, ".edit summary").click()
    field = browser.find_element(By.CSS_SELECTOR, ".edit [name=title]")
    field.clear()
    field.send_keys("消えては困る題名")
    HubSession.objects.all().delete()
    browser.find_element(By.CSS_SELECTOR, ".edit button.main").click()
    until(browser, "#login-form")
    browser.find_element(By.NAME, "username").send_keys("読者")
    browser.find_element(By.NAME, "password").send_keys(PASSWORD)
    browser.find_element(By.CSS_SELECTOR, "#login-form [type=submit]").click()
    assert until(browser, ".edit [name=title]").get_attribute("value") == "消えては困る題名"
    assert until(browser, ".edit [role=status]").text
    until(browser, ".edit button.main").click()
    until(browser, "main > [role=status]")
    document.refresh_from_db()
    assert document.title == "消えては困る題名"


def review_to_decide(tmp_path: Path) -> Review:
    """Review a document by rules, and let the reader who is signed in decide on its findings."""
    document = add_document(tmp_path, text=DESIGN)
    review = start_review(principal=local_operator(), document_id=document.public_id)
    execution.execute(review.pk)
    grant(User.objects.get(username="読者"), Role.REVIEWER, document.collection)
    return review


def test_a_reviewer_decides_on_every_finding_by_keys_and_takes_the_last_one_back(
    browser: WebDriver, live_server: Any, tmp_path: Path
) -> None:
    review = review_to_decide(tmp_path)
    findings = Finding.objects.filter(result__review=review)
    browser.get(f"{live_server.url}/reviews/{review.public_id}/")
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys("j")
    for left in reversed(range(findings.count())):
        browser.switch_to.active_element.send_keys("a" if left % 2 else "r")
        wait_until_open(browser, left)
    assert set(findings.values_list("triage", flat=True)) == {"accepted", "rejected"}
    until(browser, "article[id^=check-][aria-current]")  # the first that is to be decided
    browser.switch_to.active_element.send_keys("u")
    until(browser, "article[data-state=open]")
    assert findings.filter(triage="open").count() == 1
    browser.switch_to.active_element.send_keys("c")
    browser.switch_to.active_element.send_keys("担当課に確認中", Keys.CONTROL, Keys.ENTER)
    assert "担当課に確認中" in until(browser, "article .comment").text
    browser.execute_script(
        "const form = document.querySelector('article[aria-current] form.fields[id$=waive]');"
        "form.elements.reason.value = '次期で対応';"
        "form.elements.expires_at.value = '2020-01-01'; form.requestSubmit();"
    )
    refusal = until(browser, "article [role=alert]").text
    assert "expires_at" not in refusal
    assert browser.find_element(By.ID, "decided").text == ""  # it is said once, where it was asked
    # what the server refused is noted there by the browser itself
    browser.get_log("browser")  # type: ignore[attr-defined]
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]
    assert broken_rules(browser) == []


def test_keys_that_are_pressed_while_a_decision_is_saved_decide_on_the_next_findings(
    browser: WebDriver, live_server: Any, tmp_path: Path
) -> None:
    review = review_to_decide(tmp_path)
    findings = Finding.objects.filter(result__review=review)
    number = findings.count()
    assert number > 2
    browser.get(f"{live_server.url}/reviews/{review.public_id}/")
    ActionChains(browser).send_keys("j" + "a" * (number - 1) + "r").perform()
    wait_until_open(browser, 0)
    assert sorted(findings.values_list("triage", flat=True)) == ["accepted"] * (number - 1) + ["rejected"]
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


def wait_until_open(browser: WebDriver, number: int) -> None:
    """Wait until as many findings are to be decided."""
    WebDriverWait(browser, PATIENCE_S).until(
        lambda one: len(one.find_elements(By.CSS_SELECTOR, "article[data-state=open]")) == number
    )
