"""Take the pictures of the hub's pages in docs/images: ``python -m tools.pictures [--only review search]``.

Starts a hub of its own with the sample, adds documents, tokens and a review, signs in with a headless Chromium, and
saves the pages in Japanese. Needs the requirements of the tests, and Chromium with chromedriver on the PATH. Exit code
2: something is missing. ``--only`` takes some pictures alone. The pictures of parsing (``parsing-*.png``) show programs
that are no part of the hub, and are not made here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH = 1280
START_LIMIT_S = 300.0
WORK_LIMIT_S = 300.0
QUESTION = "暗証番号を続けて間違えたら"
ASKED = "検索結果は何秒以内に表示しますか"
TRIED_ITEM = "BD-B02"
LARGEST_BYTES = 200_000
DESIGN = "基本設計書_図書予約システム.md"
# What a file in the old format of Word begins with (OLE2): it is refused, as a document with a reason.
OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
UPLOADS = {
    "library_design.md": ("設計/図書館システム基本設計書.md", "basic_design"),
    "minutes.txt": ("資料/打合せ議事録.txt", "other"),
    "reservation.html": ("資料/予約の手引き.html", "other"),
    "books.csv": ("資料/蔵書一覧.csv", "other"),
}
TOKENS = (("検索アプリ", "read,search"), ("レビュー自動化", "read,review,upload"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A running hub: its address, and the first administrator's password and token."""

    url: str
    password: str
    token: str
    environment: Mapping[str, str]

    def call(
        self, method: str, path: str, *, data: bytes | None = None, kind: str = "application/json"
    ) -> dict[str, Any]:
        """Call the REST API and return the JSON of its answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        request = Request(f"{self.url}/api/v1{path}", data=data, method=method, headers=headers)  # noqa: S310 (our hub)
        with urlopen(request, timeout=60) as answer:  # noqa: S310
            found: dict[str, Any] = json.load(answer)
            return found

    def upload(self, content: bytes, *, path: str, document_type: str) -> None:
        """Upload a file's bytes to a path of the default collection."""
        boundary = uuid.uuid4().hex
        fields = {"path": path, "document_type": document_type}
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        name = Path(path).name
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        body = b"".join([*parts, head, content, f"\r\n--{boundary}--\r\n".encode()])
        self.call("POST", "/documents", data=body, kind=f"multipart/form-data; boundary={boundary}")

    def wait(self, path: str, *, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Poll a path until its answer says that the work is done. Raises TimeoutError."""
        last = time.monotonic() + WORK_LIMIT_S
        while not until(answer := self.call("GET", path)):
            if time.monotonic() > last:
                raise TimeoutError(f"{path} did not finish within {WORK_LIMIT_S:.0f} s")
            time.sleep(0.5)
        return answer


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Start a hub in a folder of its own, and stop it at the end."""
    with tempfile.TemporaryDirectory(prefix="hub-pictures-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # the embedded PostgreSQL of root runs as another user
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        ready = Path(folder) / "ready.json"
        environment = os.environ | {"HUB_DATA_DIR": f"{folder}/data", "HUB_PORT": str(port), "LOG_LEVEL": "WARNING"}
        for name in ("DATABASE_URL", "REDIS_URL"):
            environment.pop(name, None)
        command = [sys.executable, "manage.py", "up", "--ready-file", str(ready)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            facts = _ready(process, ready)
            yield Hub(url=facts["url"], password=facts["admin_password"], token=facts["token"], environment=environment)
        finally:
            process.terminate()
            process.wait(timeout=60)


def _ready(process: subprocess.Popen[bytes], ready: Path) -> dict[str, str]:
    last = time.monotonic() + START_LIMIT_S
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > last:
            raise TimeoutError("the hub did not become ready; `manage.py up` says why")
        time.sleep(0.5)
    facts: dict[str, str] = json.loads(ready.read_text(encoding="utf-8"))
    return facts


def fill(hub: Hub) -> None:
    """Add documents, one that can't be read, tokens and a review of the sample's design; all is done afterwards."""
    for name, (path, document_type) in UPLOADS.items():
        content = (ROOT / "tests" / "data" / name).read_bytes()
        hub.upload(content, path=path, document_type=document_type)
    hub.upload(OLD_WORD, path="資料/運用手順書.doc", document_type="other")
    for name, scopes in TOKENS:
        arguments = ["token", "create", "--user", "admin", "--name", name, "--scopes", scopes, "--expires", "90"]
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=hub.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    ended = {"ready", "needs_ocr", "failed"}
    listed = hub.wait("/documents?limit=200", until=lambda all_: {one["status"] for one in all_["items"]} <= ended)
    (design,) = (one["document_id"] for one in listed["items"] if one["path"] == DESIGN)
    asked = json.dumps({"document_id": design, "checklist": "basic-design", "options": {}}).encode()
    review: str = hub.call("POST", "/reviews", data=asked)["review_id"]
    hub.wait(f"/reviews/{review}", until=lambda one: one["status"] not in {"queued", "running"})


@contextmanager
def chromium(hub: Hub) -> Iterator[WebDriver]:
    """Open a headless browser that is signed in, in Japanese."""
    driver, browser = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    if not driver or not browser:
        sys.exit("Put Chromium and chromedriver on the PATH.")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=ja"):
        options.add_argument(option)
    options.add_experimental_option("prefs", {"intl.accept_languages": "ja"})
    opened = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(driver, env=os.environ | {"LANGUAGE": "ja"})
    )
    try:
        opened.get(f"{hub.url}/admin/")
        opened.find_element(By.NAME, "username").send_keys("admin")
        opened.find_element(By.NAME, "password").send_keys(hub.password)
        opened.find_element(By.CSS_SELECTOR, "#login-form [type=submit]").click()
        _wait(opened, "#nav-sidebar-inner")
        yield opened
    finally:
        opened.quit()


def _wait(browser: WebDriver, selector: str) -> WebElement:
    return WebDriverWait(browser, 30).until(lambda one: one.find_element(By.CSS_SELECTOR, selector))


def _save(browser: WebDriver, name: str, *, height: int) -> None:
    browser.set_window_rect(width=WIDTH, height=height)
    inner = browser.execute_script("return [window.innerWidth, window.innerHeight]")
    browser.set_window_rect(width=2 * WIDTH - inner[0], height=2 * height - inner[1])
    time.sleep(1)  # what moves into place after loading
    picture = Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    saved = IMAGES / f"{name}.png"
    picture.quantize(colors=128).save(saved, optimize=True)
    if (size := saved.stat().st_size) > LARGEST_BYTES:
        sys.exit(f"{saved} has {size:,} bytes; a picture in the guide may have {LARGEST_BYTES:,}.")


def take(hub: Hub, browser: WebDriver, only: frozenset[str]) -> None:
    """Save each picture that is asked for (all without any)."""
    for name, (height, open_page) in _pages(hub).items():
        if not only or name in only:
            open_page(browser)
            _save(browser, name, height=height)
            print(f"docs/images/{name}.png")  # noqa: T201


def _pages(hub: Hub) -> dict[str, tuple[int, Callable[[WebDriver], None]]]:
    def at(address: str, selector: str = "#content") -> Callable[[WebDriver], None]:
        def open_page(browser: WebDriver) -> None:
            browser.set_window_rect(width=WIDTH, height=900)
            browser.get(hub.url + address)
            _wait(browser, selector)

        return open_page

    def below(opened: Callable[[WebDriver], None], selector: str) -> Callable[[WebDriver], None]:
        def open_page(browser: WebDriver) -> None:
            opened(browser)
            browser.execute_script("arguments[0].scrollIntoView()", _wait(browser, selector))

        return open_page

    search = at(f"/admin/search/?q={quote(QUESTION)}", ".hub-hit")

    def row_of(browser: WebDriver, address: str) -> str:
        """Where the first row of a list of the administration leads."""
        at(address, "#result_list")(browser)
        return str(_wait(browser, f"#result_list a[href*='{address.partition('?')[0]}']").get_property("href"))

    def open_desk(browser: WebDriver) -> None:
        browser.get(row_of(browser, "/admin/review/review/"))
        _wait(browser, "#hub-triage")
        browser.find_element(By.TAG_NAME, "body").send_keys("j")
        _wait(browser, "#hub-triage-detail h2, #hub-triage-detail h3")

    def open_review(browser: WebDriver) -> None:
        browser.get(row_of(browser, "/admin/review/review/").replace("/triage/", "/change/"))
        _wait(browser, "#hub-checks")

    def open_workbench(browser: WebDriver) -> None:
        item = row_of(browser, f"/admin/review/checkitem/?q={TRIED_ITEM}").split("/")[-3]
        documents = hub.call("GET", "/documents?limit=200")["items"]
        (design,) = (one["document_id"] for one in documents if one["path"] == DESIGN)
        at(f"/admin/workbench/?item={item}&documents={design}", ".hub-trial")(browser)

    def open_passage(browser: WebDriver) -> None:
        search(browser)
        browser.get(str(_wait(browser, ".hub-hit-title").get_property("href")))
        _wait(browser, "mark")

    return {
        "home": (860, at(f"/?q={quote(ASKED)}", "[data-load] a")),
        "dashboard": (900, at("/admin/")),
        "documents": (780, at("/admin/knowledge/document/", "#result_list")),
        "upload": (840, at("/admin/knowledge/document/upload/", "[data-uploader]")),
        "document": (900, open_passage),
        "search": (900, search),
        "review": (900, open_review),
        "findings": (900, below(open_review, "article.hub-finding")),
        "desk": (900, open_desk),
        "workbench": (900, open_workbench),
        "tokens": (500, at("/admin/access/accesstoken/", "#result_list")),
    }


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description=__doc__)
    parser.add_argument("--only", nargs="+", default=(), help="names of pictures, such as review")
    only = frozenset(parser.parse_args().only)
    with running_hub() as hub:
        fill(hub)
        with chromium(hub) as browser:
            take(hub, browser, only)


if __name__ == "__main__":
    main()
