"""What axe finds wrong with the page that a browser shows."""

from __future__ import annotations

from typing import Any

from axe_core_python.selenium import Axe
from selenium.webdriver.remote.webdriver import WebDriver

MOST_NODES = 3
LONGEST_SHOWN = 160


def broken_rules(browser: WebDriver, **options: Any) -> list[str]:
    """Ask axe, all of its rules unless ``options`` name some, and return each that is broken with where it is."""
    violations = Axe().run(browser, options={"resultTypes": ["violations"], **options})["violations"]
    return [f"{one['id']} ({one['impact']}): {_places(one['nodes'])}" for one in violations]


def _places(nodes: list[dict[str, Any]]) -> list[str]:
    return [node["html"][:LONGEST_SHOWN] for node in nodes[:MOST_NODES]]
