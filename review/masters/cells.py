"""The criteria of a check item as lines that people edit in a spreadsheet's cell, and back. Pure.

rules               coverage.missing_topic {"topics": ["purpose"]}
required_elements   責任者 [体制] = 責任者|管理者      (section titles in brackets and patterns may be left out)
patterns            必須: 第[0-9]+版   /   禁止: TBD|未定
terms               サーバ、サーバ機 → サーバー
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hub.core.texts import Text
from knowledge.text.folding import normalise

REQUIRED, FORBIDDEN = ("必須", "required"), ("禁止", "forbidden")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'"})
_RULE = re.compile(r"(?P<id>[a-z_]+(?:\.[a-z_]+)+)\s*(?P<params>\{.*\})?")
_ELEMENT = re.compile(r"(?P<name>[^=\[［]+?)\s*(?:[\[［](?P<section>.+?)[\]］])?\s*(?:=\s*(?P<pattern>.+))?")
_PATTERN = re.compile(rf"(?P<wanted>{'|'.join((*REQUIRED, *FORBIDDEN))})\s*[:：]\s*(?P<pattern>.+)", re.IGNORECASE)
_TERM = re.compile(r"(?P<avoid>.+?)(?<!\s)\s*+(?:→|->|=>|⇒)\s*(?P<use>.+)")


class CellError(ValueError):
    """A line of a cell that can't be read; ``text`` says why in both languages."""

    def __init__(self, line: str, *, ja: str, en: str) -> None:
        super().__init__(en)
        self.text = Text(ja=f"「{line}」: {ja}", en=f"“{line}”: {en}")


def to_cell(name: str, value: Any) -> str:  # noqa: ANN401 (JSON)
    """Write a list of the criteria as lines, other values as text."""
    if not value:
        return "" if value is None or value == [] else str(value)
    writers: Mapping[str, Callable[[Any], str]] = {
        "rules": _rule_line,
        "required_elements": _element_line,
        "patterns": _pattern_line,
        "terms": _term_line,
    }
    return "\n".join(writers[name](entry) for entry in value) if name in writers else str(value)


def from_cell(name: str, text: str) -> list[Any]:
    """Read the lines of a cell; blank ones are left out.

    :raises CellError: a line can't be read.
    """
    readers: Mapping[str, Callable[[str], Any]] = {
        "rules": _read_rule,
        "required_elements": _read_element,
        "patterns": _read_pattern,
        "terms": _read_term,
    }
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return [readers[name](line) for line in lines if line]


def read_threshold(text: str) -> float | None:
    """Read a number from 0 to 1, or a percentage, in any width.

    :raises CellError: it is neither.
    """
    folded = normalise(text).strip()
    if not folded:
        return None
    try:
        value = float(folded.removesuffix("%")) / (100 if folded.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CellError(text, ja="0 から 1 の数値を書きます。", en="A number from 0 to 1 is needed.")
    return value


def _rule_line(entry: Mapping[str, Any]) -> str:
    params = entry.get("params")
    return f"{entry['rule_id']} {json.dumps(params, ensure_ascii=False)}" if params else str(entry["rule_id"])


def _read_rule(line: str) -> dict[str, Any]:
    folded = line.translate(_QUOTES)
    # Widths are folded around the parameters, where none of it can be meant, and in them only when needed.
    head, brace, rest = folded.replace("｛", "{").partition("{")
    found = _RULE.fullmatch(normalise(head).strip().lower() + (" {}" if brace else ""))
    if found is None:
        raise CellError(line, ja="「規則ID {パラメータ}」の形で書きます。", en="Write: rule_id {params}.")
    if not brace:
        return {"rule_id": found["id"]}
    params = _json_object("{" + rest)
    if params is None:
        raise CellError(line, ja="パラメータが JSON として読めません。", en="The params are no JSON object.")
    return {"rule_id": found["id"], "params": params} if params else {"rule_id": found["id"]}


def _json_object(text: str) -> dict[str, Any] | None:
    for candidate in (text, normalise(text)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _element_line(entry: str | Mapping[str, Any]) -> str:
    if isinstance(entry, str):
        return entry
    sections = f" [{'|'.join(entry['sections'])}]" if entry.get("sections") else ""
    patterns = f" = {'|'.join(entry['patterns'])}" if entry.get("patterns") else ""
    return f"{entry['name']}{sections}{patterns}"


def _read_element(line: str) -> str | dict[str, Any]:
    found = _ELEMENT.fullmatch(line.replace("＝", "=", 1))
    if found is None:
        raise CellError(
            line, ja="「名称 [節の見出し] = パターン」の形で書きます。", en="Write: name [section] = pattern."
        )
    if not found["section"] and not found["pattern"]:
        return found["name"]
    entry: dict[str, Any] = {"name": found["name"]}
    if found["pattern"]:
        entry["patterns"] = [found["pattern"]]
    if found["section"]:
        entry["sections"] = [found["section"]]
    return entry


def _pattern_line(entry: str | Mapping[str, Any]) -> str:
    if isinstance(entry, str):
        return f"{REQUIRED[0]}: {entry}"
    return f"{(REQUIRED if entry.get('must_occur', True) else FORBIDDEN)[0]}: {entry['pattern']}"


def _read_pattern(line: str) -> dict[str, Any]:
    found = _PATTERN.fullmatch(line)
    if found is None:
        raise CellError(line, ja="「必須: 」か「禁止: 」で始めます。", en="Begin with “required:” or “forbidden:”.")
    return {"pattern": found["pattern"], "must_occur": found["wanted"].lower() in REQUIRED}


def _term_line(entry: Mapping[str, Any]) -> str:
    return f"{'、'.join(entry['avoid'])} → {entry['use']}"


def _read_term(line: str) -> dict[str, Any]:
    found = _TERM.fullmatch(line)
    if found is None:
        raise CellError(line, ja="「避ける語 → 使う語」の形で書きます。", en="Write: word to avoid → word to use.")
    avoid = [word.strip() for word in re.split(r"[、,，]", found["avoid"]) if word.strip()]
    return {"use": found["use"].strip(), "avoid": avoid}
