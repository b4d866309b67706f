"""Write every compiled pattern in a module of the program to standard output, as JSON: [name, pattern, flags].

``python -m tests.hub.core.every_pattern`` imports all modules, which is why it is a program of its own.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("hub", "knowledge", "review", "mcp_bridge")


def modules() -> Iterator[Any]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "migrations" not in parts and parts[-1] not in ("asgi", "__main__"):
                yield importlib.import_module(".".join(part for part in parts if part != "__init__"))


def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of texts, alone or in a collection, by the module's and its own name."""
    found: dict[str, re.Pattern[str]] = {}
    for module in modules():
        for name, value in vars(module).items():
            for number, pattern in enumerate(_patterns_in(value)):
                if isinstance(pattern.pattern, str) and pattern not in found.values():
                    found[f"{module.__name__}.{name}" + (f"[{number}]" if number else "")] = pattern
    return found


def _patterns_in(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict | list | tuple | set | frozenset):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(each, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from _patterns_in(getattr(value, name, None), depth - 1)


if __name__ == "__main__":
    django.setup()
    json.dump([(name, each.pattern, each.flags) for name, each in patterns().items()], sys.stdout)
