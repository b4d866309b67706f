"""Diagrams that are written as text: Mermaid, PlantUML, boxes drawn with characters."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*(?P<language>[\w.+-]*)")
_LANGUAGES = frozenset(
    ["mermaid", "plantuml", "puml", "uml", "dot", "graphviz", "ditaa", "svgbob", "d2", "blockdiag", "seqdiag", "nwdiag"]
)
_MARKS = re.compile(
    r"^[^\S\n]*(?:@start(?:uml|mindmap|gantt|wbs|salt)|(?:strict\s+)?(?:di)?graph\s++(?:\w++\s*+)?\{|sequenceDiagram\b|classDiagram\b"
    r"|stateDiagram|erDiagram\b|gantt\b|flowchart\s+(?:TB|TD|BT|LR|RL)\b|graph\s+(?:TB|TD|BT|LR|RL)\b)",
    re.M,
)
# The top or bottom edge of a box; a directory tree (├──) has none.
_BOX_EDGE = re.compile(r"\+[-=]{2}[-=+]*\+|[┌┏╔╭][─━═┬┳╦]+[┐┓╗╮]|[└┗╚╰][─━═┴┻╩]+[┘┛╝╯]")
_MIN_EDGES = 2


def is_diagram(code: str) -> bool:
    """Tell whether a code block draws something, by its language, by a diagram's opening words or by boxes.

    >>> is_diagram("```mermaid\\nflowchart LR\\n  受付 --> 審査\\n```"), is_diagram("```\\n├── src\\n└── docs\\n```")
    (True, False)
    """
    fence = _FENCE.match(code)
    if fence and fence["language"].lower() in _LANGUAGES:
        return True
    return _MARKS.search(code) is not None or len(_BOX_EDGE.findall(code)) >= _MIN_EDGES
