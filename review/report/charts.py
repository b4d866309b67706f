"""Bars of charts in SVG units: the templates only draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ROW_HEIGHT = 26
LABEL_WIDTH = 150
BAR_WIDTH = 230
CHART_WIDTH = LABEL_WIDTH + BAR_WIDTH + 50
BASELINE = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row of a chart; all lengths in SVG units."""

    code: str
    label: str
    count: int
    y: int
    text_y: int
    width: int
    count_x: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Horizontal bars, the longest as wide as there is room."""

    title: str
    bars: Sequence[Bar]
    height: int
    width: int = CHART_WIDTH
    label_x: int = LABEL_WIDTH - 8
    bar_x: int = LABEL_WIDTH


def bar_chart(title: str, counted: Sequence[tuple[str, str, int]]) -> Chart:
    """Lay out rows of (code, label, count). A count above 0 is always visible."""
    most = max((count for _code, _label, count in counted), default=0) or 1
    bars = []
    for index, (code, text, count) in enumerate(counted):
        width = max(round(BAR_WIDTH * count / most), 2 if count else 0)
        bars.append(
            Bar(
                code=code,
                label=text,
                count=count,
                y=index * ROW_HEIGHT + 4,
                text_y=index * ROW_HEIGHT + BASELINE,
                width=width,
                count_x=LABEL_WIDTH + width + 8,
            )
        )
    return Chart(title=title, bars=bars, height=max(len(bars), 1) * ROW_HEIGHT)
