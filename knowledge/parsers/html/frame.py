"""What frames a web page: menus, breadcrumbs, the site's header and footer, cookie banners.

It stands on every page of a site and says nothing of the page. What a page's own part holds is never taken for it,
nor is anything that says more than links do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag

from knowledge.parsers.errors import counted
from knowledge.types.notices import Notice

_OWN_PART = ("main", "article")
_SCOPES = (*_OWN_PART, "section", "aside", "blockquote", "td", "figure", "details", "dialog")
_ROLES = {"navigation": "nav", "banner": "header", "contentinfo": "footer", "complementary": "aside", "search": "nav"}
# Words of ids and classes, by what they name. "menu" alone is none: 給食の献立 is one, too.
_NAMES = {
    "breadcrumb": r"bread|breadcrumbs?|crumbs?|pankuzu|topic[-_]?path",
    "nav": r"[gl]n(?:av|avi)|f?nav(?:i|bar|igation)?|skip(?:[-_]?(?:link|nav|to[-_]?content))?s?|hamburger|page[-_]?top"
    r"|sns|share|(?:global|local|side|site|main|header|footer|head|foot|sub|sp|drawer)[-_]?(?:nav|navi|navigation|menu)s?",
    "aside": r"side[-_]?(?:bar|nav|menu|column)",
    "header": r"(?:site|global|gl|g)?[-_]?header|head[-_]?area",
    "footer": r"(?:site|global|gl|g)?[-_]?footer|foot[-_]?area",
    "banner": r"(?:gdpr|cookie|consent)(?:[-_]?(?:consent|banner|notice|bar|policy|popup|modal|dialog|law))*",
}
_NAMED = {kind: re.compile(names, re.I) for kind, names in _NAMES.items()}
_SKIP = re.compile(
    r"(?:この?ページ|ページ|画面)の?(?:先頭|トップ|上部?|一番上)へ?(?:戻る|移動(?:する)?)?|(?:ページ|page)\s?(?:トップ|top)へ?(?:戻る)?"
    r"|(?:メニュー|ナビゲーション|ナビ)を?(?:飛ばして|とばして|スキップして).{0,12}"
    r"|(?:本文|コンテンツ|メインコンテンツ|メニュー|ナビゲーション|サイト内検索|フッター)(?:へ|に|を|まで)?(?:移動|ジャンプ|スキップ|飛ぶ|読み飛ばす)(?:する|します)?"
    r"|skip (?:to|navigation).{0,24}|(?:back )?to (?:the )?top",
    re.I,
)
# How many characters outside of links may be in a part that only leads elsewhere; an address and opening hours fit.
_MOST_UNLINKED = {"nav": 120, "breadcrumb": 120, "header": 160, "aside": 60, "footer": 400, "banner": 500}
_LEAST_SHARE_OF_LINKS = 0.6
_LEAST_LEFT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """How many parts of a page's frame were left out, and how many characters they have."""

    parts: int = 0
    characters: int = 0

    def notices(self) -> tuple[Notice, ...]:
        return counted(self.parts, "page_frame", characters=self.characters)


def take_frame(soup: BeautifulSoup) -> Frame:
    """Take the parts that frame a page out of it; none where next to nothing would be left.

    The page's only heading of the first level stays where its header has it.
    """
    body = soup.body or soup
    parts = list(_parts(body))
    left = _length(body) - sum(map(_length, parts))
    if not parts or left < _LEAST_LEFT:
        return Frame()
    taken = Frame(parts=len(parts), characters=sum(map(_length, parts)))
    only_title = titles[0] if len(titles := body.find_all("h1")) == 1 else None
    for part in parts:
        if only_title is not None and part in only_title.parents:
            part.insert_before(only_title.extract())
        part.decompose()
    return taken


def _parts(tag: Tag) -> Iterator[Tag]:
    for child in tag.find_all(True, recursive=False):
        if (kind := _kind(child)) and _only_frames(child, kind):
            if _length(child):
                yield child
        else:
            yield from _parts(child)


def _kind(tag: Tag) -> str:
    if tag.name == "a":
        return "skip" if _SKIP.fullmatch(_text(tag)) and str(tag.get("href") or "").startswith("#") else ""
    if tag.find_parent(_OWN_PART):
        return "breadcrumb" if _is_named(tag, "breadcrumb") else ""
    kind = _ROLES.get(str(tag.get("role") or ""), tag.name)
    if kind in ("header", "footer") and (tag.name != kind or not tag.find_parent(_SCOPES)):
        return kind
    if _is_named(tag, "breadcrumb"):
        return "breadcrumb"
    if kind in ("nav", "aside"):
        return kind
    return next((name for name in _NAMED if tag.name in ("div", "ul", "ol", "p", "form") and _is_named(tag, name)), "")


def _is_named(tag: Tag, kind: str) -> bool:
    names = [str(tag.get("id") or ""), *(tag.get_attribute_list("class"))]
    label = str(tag.get("aria-label") or "")
    if kind == "breadcrumb" and re.fullmatch(r"(?:パンくず(?:リスト|ナビ)?|現在(?:地|位置)|breadcrumbs?)", label, re.I):
        return True
    return any(_NAMED[kind].fullmatch(str(name)) for name in names if name)


def _only_frames(tag: Tag, kind: str) -> bool:
    """Return whether a part only leads elsewhere: the page's own part is not in it, and little but links."""
    if kind == "skip":
        return True
    if tag.name in _OWN_PART or tag.find(_OWN_PART):
        return False
    links = sum(
        _length(link)
        for link in tag.find_all(("a", "button", "select", "option", "label"))
        if link.find_parent(("a", "button", "select", "label")) is None
    )
    unlinked = _length(tag) - links
    if kind == "banner":
        return unlinked <= _MOST_UNLINKED[kind] and tag.find(("a", "button", "input")) is not None
    if links >= 4 * unlinked:
        return True
    if unlinked > _MOST_UNLINKED[kind]:
        return False
    beside_links = (text for text in tag.find_all(string=True) if text.find_parent(("a", "button")) is None)
    if kind != "footer" and "。" in "".join(beside_links):
        return False
    if kind == "breadcrumb":  # the page itself is its last entry, and no link
        return links > 0
    return kind in ("header", "footer") or links >= _LEAST_SHARE_OF_LINKS * (links + unlinked)


def _text(tag: Tag) -> str:
    return " ".join(tag.get_text().split())


def _length(tag: Tag) -> int:
    return len("".join(tag.get_text().split()))
