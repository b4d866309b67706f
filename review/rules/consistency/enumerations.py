"""A number said of things that are named right beside it: 棒・折れ線・横棒グラフ（5種）, 3種類（新規、変更、廃止）."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.text.numerals import read_numeral
from review.rules.prose import Prose

_SAID = re.compile(
    r"(?<![0-9.,第])(?P<n>[2-9]|1[0-9]|[二三四五六七八九])\s?"
    r"(?:種類|種別|種|つ|区分|段階|項目|画面|機能|方式|パターン|カテゴリ|ロール|レベル|観点|要素|拠点|フェーズ|アカウント|テーブル|ファイル"
    r"|環境|モード|ブラウザ|言語|状態|ステータス|部署|サブシステム|モジュール|コンポーネント|タブ|社|通り|とおり)"
    r"(?!目|以上|以下|以内|未満|程度|類|別|まで|から|ずつ|ごと|[~〜～])"
)
_REACH, _LONGEST_NOUN, _LONGEST_NAME, _FEWEST_NAMED = 120, 10, 20, 3
_MARKS = "・、,/"
_BARS = re.compile(r"[。|:()「」『』\n\"]")
_LEADS = ("(全", "(計", "(", "の全", "の計", "の")
_NOUN_AND_BAR = re.compile(rf"(?:の?[^\s。、,:()|0-9]{{1,{_LONGEST_NOUN}}})?\s?[:(]\s?")
_END = re.compile(r"[。|:()\n]")
_NOT_WHOLE = re.compile(
    r"など|等(?![級分])|ほか|他(?![社者])|うち|例|または|又は|もしくは|若しくは|…|\.\.|[~〜～→⇒=+×0-9]|以外|除[くきい]"
)
# What leads to the names: 本画面では、…; グラフは …; Chart.js による ….
_LEADING = re.compile(r"(?:では|には|とは|は|を|が|により|による|として)[、,]?")
_CLAUSE_END = re.compile(r"[ぁ-ん]$")
_AND = re.compile(r"及び|および|並びに|ならびに|(?<=[一-龯ァ-ヴーA-Za-z])と(?=[一-龯ァ-ヴーA-Za-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerated:
    """A number with the names that it counts, at ``[start, end)``; ``counts`` are all that a reader may come to."""

    stated: int
    counts: tuple[int, ...]
    start: int
    end: int


def enumerations(prose: Prose, plain: str) -> Iterator[Enumerated]:
    """Yield each number of things that are named before or behind it; ``plain`` is the prose in narrow width."""
    for segment in prose.segments:
        for said in _SAID.finditer(plain, segment.start, segment.end):
            for start, end in (_before(plain, said, segment.start), _behind(plain, said, segment.end)):
                counts = counts_of(plain[start:end])
                stated = read_numeral(said["n"])
                if counts and stated is not None:
                    whole = min(start, said.start()), max(end, said.end())
                    yield Enumerated(stated=stated, counts=counts, start=whole[0], end=whole[1])


def _before(plain: str, said: re.Match[str], first: int) -> tuple[int, int]:
    """Return where the names stand before the number: 本庁、支所、出張所の3拠点, 棒・横棒（2種）."""
    begin = max(first, said.start() - _REACH)
    text = plain[begin : said.start()]
    lead = next((lead for lead in _LEADS if text.endswith(lead)), "")
    is_closed = plain[said.end() : said.end() + 1] == ")"
    if not lead or lead.startswith("(") != is_closed:
        return said.start(), said.start()
    end = said.start() - len(lead)
    bars = [bar.end() for bar in _BARS.finditer(plain, begin, end)]
    return max([begin, *bars]), end


def _behind(plain: str, said: re.Match[str], last: int) -> tuple[int, int]:
    """Return where the names stand behind the number: 3種類（新規、変更、廃止）, 4段階: 高、中、低."""
    bar = _NOUN_AND_BAR.match(plain, said.end(), min(last, said.end() + _LONGEST_NOUN + 4))
    if not bar:
        return said.end(), said.end()
    limit = min(last, bar.end() + _REACH)
    end = _END.search(plain, bar.end(), limit)
    if end is None and limit < last:
        return said.end(), said.end()
    return bar.end(), end.start() if end else limit


def counts_of(run: str) -> tuple[int, ...]:
    """Return how many things a run names: by each of its marks, and by all; none where it is no list of names."""
    named = run[max((found.end() for found in _LEADING.finditer(run)), default=0) :].strip()
    if _NOT_WHOLE.search(named):
        return ()
    listed = _AND.sub("、", named)
    every = _split(listed, _MARKS)
    if len(every) < _FEWEST_NAMED or any(len(name) > _LONGEST_NAME for name in every):
        return ()
    # A middle dot or a slash may join two names of one thing, or only the last of the list have them.
    ways = {len(_split(text, mark)) for text in (named, listed) for mark in _MARKS if mark in text}
    ways |= {len(every), len(_split(named, _MARKS))}
    ways |= {len(_split(listed.rpartition("、")[2], "・"))} if "、" in listed else set()
    if _CLAUSE_END.search(every[0]):
        ways |= {count - 1 for count in ways}  # 前述とは異なり、氏名、住所、…
    return tuple(sorted(ways))


def _split(run: str, marks: str) -> list[str]:
    return [part for part in re.split(f"[{re.escape(marks)}]", run) if part.strip()]
