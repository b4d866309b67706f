"""The examples in the docs work: every `console` block is run, and what it shows is what comes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.hub_process import ROOT

pytestmark = pytest.mark.timeout(600)

DOCUMENTS = ("README.md", "docs/api.md", "docs/mcp.md")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = ("hub", "knowledge", "review", "mcp_bridge", "tests", "benchmarks", "tools")
PAGES = {
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md")
    for path in ROOT.glob(pattern)
}
HISTORY = {"CHANGELOG.md"} | {name for name in PAGES if name.startswith("benchmarks/history/")}
VOLATILE = re.compile(r"(?:doc|rev|chk|ver)_[0-9a-z]+|\[\d\.\d\d\]")


def examples(name: str) -> list[tuple[str, list[str]]]:
    """The commands of a document, each with the lines that it shows."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall((ROOT / name).read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip():
                found[-1][1].append(line)
    return found


def masked(text: str) -> str:
    return VOLATILE.sub("…", text)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_example_shows_what_it_says(hub, name):
    _empty_default_collection(hub)
    environment = hub.environment() | {"TOKEN": hub.token}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    for command, shown in examples(name):
        done = subprocess.run(
            ["bash", "-c", command.replace("http://127.0.0.1:8000", hub.url)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        said = masked(done.stdout)
        for line in shown:
            assert masked(line).strip() in said, f"{command}\n{done.stdout}\n{done.stderr}"


def _empty_default_collection(hub) -> None:
    """As on the first day: the sample is there and nothing else."""
    documents = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    hub.wait_until_finished(*(document["document_id"] for document in documents))
    hub.manage("clear", "--collection", "default", "--yes")


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_link_within_the_docs_leads_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)#?([^)\s]*)\)", text):
        page = (ROOT / name).parent / target if target else ROOT / name
        assert page.exists(), f"{name}: {target}"
        assert not anchor or anchor in anchors(page), f"{name}: {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", sorted(PAGES - HISTORY))
def test_every_module_that_the_docs_name_is_there(name):
    """A page may name a module by the end of its path, such as ``search/fusion.py``."""
    modules = {f"/{path.relative_to(ROOT)}" for folder in CODE for path in (ROOT / folder).rglob("*.py")}
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"[\w./]*\w\.py\b", text))
    missing = {one for one in named if not any(path.endswith("/" + one.lstrip("./")) for path in modules)}
    assert missing <= {"manage.py"}


NAMED_IN = re.compile(r"((?:`[\w.]+`, )*`[\w.]+`) \(`([\w/]+(?:\.py|/))`\)")


def test_every_function_that_the_architecture_names_is_where_it_says():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = [(name, place) for names, place in NAMED_IN.findall(page) for name in re.findall(r"`([\w.]+)`", names)]
    assert len(named) > 40
    missing = [f"{name} in {place}" for name, place in named if not _defines(place, name.rpartition(".")[2])]
    assert not missing


def _defines(place: str, name: str) -> bool:
    """Whether a module, or one of a folder, named by the end of its path, has a function or class of a name."""
    defined = re.compile(rf"^\s*(?:async )?(?:def|class) {name}\b", re.MULTILINE)
    modules = (path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
    inside = (path for path in modules if f"/{place}" in f"/{path.relative_to(ROOT)}")
    return any(defined.search(path.read_text(encoding="utf-8")) for path in inside)
