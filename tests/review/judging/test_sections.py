"""How a long text is cut for its summaries."""

from __future__ import annotations

from itertools import pairwise

from knowledge.types.documents import Section
from review.judging.overview import PER_REQUEST, bodies_of, cut_requests, cut_stretches


def section(number: int, start: int, end: int, *path: str) -> Section:
    return Section(
        id=f"s{number}",
        title=path[-1],
        number=None,
        level=len(path),
        path=path,
        start=start,
        body_start=start,
        body_end=end,
        end=end,
    )


def test_stretches_are_the_whole_text_in_order():
    text = "".join(f"{n:03d}行目の本文である。\n" for n in range(900))
    sections = [section(n, n * 100, (n + 1) * 100, "書名", f"{n} 章") for n in range(1, len(text) // 100)]
    stretches = cut_stretches(text, bodies_of(text, sections), tokens=8000)
    assert stretches[0].start == 0
    assert all(one.end == other.start for one, other in pairwise(stretches))
    assert stretches[-1].end >= len(text) - 100
    assert stretches[1].section_path[0] == "書名"
    assert " – " in stretches[1].section_path[-1]


def test_no_request_has_more_than_it_can_hold():
    text = "利用者の情報を登録し、変更し、削除する。\n" * 2000
    stretches = cut_stretches(text, bodies_of(text, ()), tokens=3000)
    assert all(one.end - one.start <= 3000 for one in stretches)
    requests = cut_requests(text, stretches, tokens=3000)
    assert [one for group in requests for one in group] == list(stretches)
    assert max(len(group) for group in requests) <= PER_REQUEST


def test_a_stretch_from_the_title_on_is_named_by_where_it_ends():
    text = "書名\n" + "あ" * 40
    sections = [
        section(1, 0, 3, "書名"),
        section(2, 3, 20, "書名", "1 目的"),
        section(3, 20, len(text), "書名", "2 範囲"),
    ]
    (stretch,) = cut_stretches(text, bodies_of(text, sections), tokens=8000)
    assert stretch.section_path == ("書名", "– 2 範囲")
