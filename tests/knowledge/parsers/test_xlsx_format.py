from __future__ import annotations

import pytest

from knowledge.parsers.ooxml.number_formats import NumberFormats


def shown(stored: float | str, code: str, *, date_1904: bool = False) -> str:
    return NumberFormats(codes=[code], date_1904=date_1904).display(str(stored), 0)


@pytest.mark.parametrize(
    ("number", "code", "expected"),
    [
        (1234.5, "#,##0.00", "1,234.50"),
        (0.5, "0%", "50%"),
        (7, "000", "007"),
        (2.5, "0.0##", "2.5"),
        (1.005, "0.00", "1.01"),
        (1e20, "General", "1e+20"),
        (5, "[Red]0", "5"),
        (5, 'G/標準"円"', "5円"),
        (1250000, "[$¥-411]#,##0;[Red]-[$¥-411]#,##0", "¥1,250,000"),
        (-1250000, "[$¥-411]#,##0;[Red]-[$¥-411]#,##0", "-¥1,250,000"),
        (-3000, '#,##0"円";"▲ "#,##0"円"', "▲ 3,000円"),
        (1234567, '#,##0,"千円"', "1,235千円"),
        (12, '"No."000', "No.012"),
        (1234567, "000-0000", "123-4567"),
        (0, '"有";;"無"', "無"),
        (0, '_ * #,##0_ ;_ * -#,##0_ ;_ * "-"_ ;_ @_ ', "-"),
        (1500, '[>=1000]0.0,"千人";0"人"', "1.5千人"),
        (15, '[>=1000]0.0,"千人";0"人"', "15人"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (5, ";;;", ""),
        (1e300, "0.00", "1" + "0" * 300 + ".00"),
        ("NaN", "0.00", "NaN"),
    ],
)
def test_numbers_are_shown_as_their_format_says(number: float | str, code: str, expected: str) -> None:
    assert shown(number, code) == expected


@pytest.mark.parametrize(
    ("number", "code", "expected"),
    [
        (45383, '[$-411]ggge"年"m"月"d"日";@', "令和6年4月1日"),
        (43586, '[$-411]ggge"年"m"月"d"日";@', "令和元年5月1日"),
        (43585, "[$-411]ge.m.d;@", "H31.4.30"),
        (45383, 'yyyy"年"m"月"d"日"', "2024年4月1日"),
        (45383, "[$-F800]dddd, mmmm dd, yyyy", "2024年4月1日"),
        (45383, "m/d(aaa)", "4/1(月)"),
        (45383, "d-mmm-yy", "1-Apr-24"),
        (45383.395833333, "yyyy/m/d h:mm;@", "2024/4/1 9:30"),
        (0.75, '[$-411]午前/午後h"時"mm"分"', "午後6時00分"),
        (0.75, "h:mm AM/PM", "6:00 PM"),
        (1.5, "[h]:mm", "36:00"),
        (0.0104166667, "mm:ss", "15:00"),
        (1e20, "yyyy/m/d", "1e+20"),
        (-1, "yyyy/m/d", "-1"),
    ],
)
def test_dates_are_shown_as_their_format_says(number: float, code: str, expected: str) -> None:
    assert shown(number, code) == expected


@pytest.mark.parametrize(
    ("stored", "format_id", "date_1904", "expected"),
    [
        ("0", "14", False, "1900/1/0"),
        ("0", "28", False, "明治33年1月0日"),
        ("0.5", "22", False, "1900/1/0 12:00"),
        ("0", "14", True, "1904/1/1"),
        ("1", "14", False, "1900/1/1"),
        ("59", "14", False, "1900/2/28"),
        ("61", "14", False, "1900/3/1"),
        ("45000.25", "22", False, "2023/3/15 6:00"),
        ("0.5", "20", False, "12:00"),
        ("1", "31", True, "1904年1月2日"),
        ("45383", "28", False, "令和6年4月1日"),
        ("-1234.5", "44", False, "¥-1,234.50"),
        ("0.125", "10", False, "12.50%"),
        ("12.50", "49", False, "12.5"),
    ],
)
def test_built_in_formats_are_those_of_the_japanese_excel(
    stored: str, format_id: str, date_1904: bool, expected: str
) -> None:
    formats = NumberFormats.from_ids([format_id], custom={}, date_1904=date_1904)

    assert formats.display(stored, 0) == expected


def test_texts_get_what_their_format_puts_around_them() -> None:
    formats = NumberFormats(codes=['@"様"', ";;;", "yyyy/m/d;@"], date_1904=False)

    assert [formats.display_text("山田", style) for style in range(4)] == ["山田様", "", "山田", "山田"]
