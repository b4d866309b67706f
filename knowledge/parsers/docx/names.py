"""The names of WordprocessingML's elements and attributes as lxml knows them."""

from __future__ import annotations

from functools import lru_cache

from docx.oxml import ns


@lru_cache(maxsize=256)
def qn(name: str) -> str:
    """Give a prefixed name in Clark notation; python-docx puts it together anew each time, for every element read.

    >>> qn("w:p")
    '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p'
    """
    return str(ns.qn(name))
