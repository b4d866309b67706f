"""Charts as Unfold's pages draw them with Chart.js: lines of data, and options that fit light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def series(label: str, values: Sequence[float | None], colour: str) -> dict[str, Any]:
    """A border as well: the legend draws each entry as a line of that colour."""
    return {"label": label, "data": values, "backgroundColor": colour, "borderColor": colour}


def chart_options(*, highest: int | None = None, stacked: bool = False) -> dict[str, Any]:
    """Chart.js's options; Unfold recolours the grids when the page turns dark, so both axes must have one."""
    grid, ticks = {"tickWidth": 0}, {"color": "#9ca3af"}
    vertical: dict[str, Any] = {"grid": grid, "ticks": ticks, "min": 0, "max": highest}
    if highest is None:
        vertical = {"grid": grid, "ticks": ticks | {"precision": 0}, "stacked": stacked}
        vertical |= {} if stacked else {"beginAtZero": True}
    labels = ticks | {"usePointStyle": True, "pointStyle": "line"}
    return {
        "animation": False,
        "responsive": True,
        "maintainAspectRatio": False,
        "plugins": {"legend": {"display": True, "position": "bottom", "labels": labels}},
        "scales": {
            "x": {"grid": grid, "ticks": ticks | {"maxTicksLimit": 12}, "stacked": stacked},
            "y": vertical,
        },
    }
