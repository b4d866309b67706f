"""Durations in words."""

from __future__ import annotations

import pytest
from django.utils import translation

from hub.core.durations import in_words


@pytest.mark.parametrize(
    ("milliseconds", "ja", "en"),
    [
        (0, "0.1 秒未満", "less than 0.1 seconds"),
        (12.5, "0.1 秒未満", "less than 0.1 seconds"),
        (420, "0.4 秒", "0.4 seconds"),
        (9_940, "9.9 秒", "9.9 seconds"),
        (9_960, "10 秒", "10 seconds"),
        (12_345, "12 秒", "12 seconds"),
        (61_000, "1 分 1 秒", "1 minute 1 second"),
        (185_999, "3 分 5 秒", "3 minutes 5 seconds"),
        (180_000, "3 分", "3 minutes"),
        (7_860_000, "2 時間 11 分", "2 hours 11 minutes"),
        (3_600_000, "1 時間", "1 hour"),
    ],
)
def test_a_duration_is_said_in_words(milliseconds: float, ja: str, en: str) -> None:
    for language, said in (("ja", ja), ("en", en)):
        with translation.override(language):
            assert in_words(milliseconds) == said
