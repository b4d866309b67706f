"""Measure when a browser shows a page of an original: ``python -m benchmarks.first_paint FILE…``.

Starts a hub of its own, takes in the files (PDF, Word, slides), and opens up to ``--pages`` pages of each in a headless
Chromium: the first look at each by itself, then ``--rounds`` warm ones. Prints, in ms from the start of the navigation,
the first contentful paint and when the picture of the page had come; and how long the first look took, which for Word
and slides makes the pages.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tools.pictures import Hub, chromium, running_hub

PATIENCE_S = 90
TIMES = """
const paint = performance.getEntriesByName("first-contentful-paint")[0];
const picture = performance.getEntriesByType("resource").find((one) => one.name.includes("/picture/"));
const shown = document.querySelector(".whole-page img");
return paint && picture && shown && shown.complete ? [paint.startTime, picture.responseEnd] : null;
"""


def main() -> None:
    """Take the files in and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_paint", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--pages", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    with running_hub() as hub:
        for path in given.files:
            hub.upload(path.read_bytes(), path=path.name, document_type="other")
        ended = {"ready", "needs_ocr", "failed"}
        listed = hub.wait("/documents?limit=200", until=lambda all_: {one["status"] for one in all_["items"]} <= ended)
        documents = {one["path"]: one["document_id"] for one in listed["items"]}
        with chromium(hub) as browser:
            for path in given.files:
                _measure(hub, browser, path, documents[path.name], pages=given.pages, rounds=given.rounds)


def _measure(hub: Hub, browser: WebDriver, path: Path, document: str, *, pages: int, rounds: int) -> None:
    first: list[float] = []
    paints: list[float] = []
    pictures: list[float] = []
    for number in range(1, pages + 1):
        address = f"{hub.url}/documents/{document}/pages/{number}/"
        began = time.perf_counter()
        browser.get(address)
        if not browser.find_elements(By.CSS_SELECTOR, ".whole-page"):
            break
        _times(browser)
        first.append(1000 * (time.perf_counter() - began))
        for _round in range(rounds):
            browser.get(address)
            paint, picture = _times(browser)
            paints.append(paint)
            pictures.append(picture)
    print(f"{path.name}: {len(first)} pages; first look {first[0]:.0f} ms, further pages {_of(first[1:])}", end="; ")
    print(f"warm: first paint {_of(paints)}, picture there {_of(pictures)}", flush=True)


def _times(browser: WebDriver) -> tuple[float, float]:
    found: Sequence[float] = WebDriverWait(browser, PATIENCE_S).until(lambda one: one.execute_script(TIMES))
    return found[0], found[1]


def _of(times: Sequence[float]) -> str:
    if len(times) < 2:
        return f"{times[0]:.0f} ms" if times else "-"
    return f"median {statistics.median(times):.0f}, 95 % {statistics.quantiles(times, n=20)[18]:.0f} ms"


if __name__ == "__main__":
    main()
