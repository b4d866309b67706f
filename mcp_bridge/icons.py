"""Small pictures beside tools and prompts, as data URIs: hosts need no network to show them."""

from __future__ import annotations

from urllib.parse import quote

from mcp.types import Icon

# Characters that a data URI may have as they are.
SAFE = " /:=',;()!*$&+-._~@?"
# Paths on a 24 by 24 grid, drawn as strokes.
SHAPES = {
    "document": "M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h7",
    "upload": "M12 16V4M7 9l5-5 5 5M4 20h16",
    "check": "M4 12l5 5L20 6",
    "report": "M6 3h12v18H6zM9 8h6M9 12h6M9 16h3",
    "stop": "M6 6h12v12H6z",
    "list": "M9 6h11M9 12h11M9 18h11M4 6h1M4 12h1M4 18h1",
    "search": "M11 4a7 7 0 100 14 7 7 0 000-14M16 16l5 5",
    "answer": "M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12h5",
    "tree": "M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4",
    "graph": "M6 6h1v1H6zM17 5h1v1h-1zM11 18h1v1h-1zM7 7l4 10M17 6L12 17M7 6l9-.5",
    "grid": "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
    "count": "M9 4L7 20M17 4l-2 16M4 9h16M4 15h16",
}


def icon(name: str) -> Icon:
    """Draw one of SHAPES."""
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='blue'>"
        f"<path d='{SHAPES[name]}'/></svg>"
    )
    # the list of tools is read by models: percent-encoded where needed, a third shorter than in base64
    return Icon(src=f"data:image/svg+xml,{quote(svg, safe=SAFE)}")
