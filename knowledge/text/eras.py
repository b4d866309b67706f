"""The Japanese eras (元号): their names, letters, first days and years."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple


class Era(NamedTuple):
    """An era; ``letter`` is how forms write it for short, ``last_year`` the number of its last year."""

    name: str
    letter: str
    first_day: date
    last_year: int

    def year(self, number: int) -> int:
        """Return the year of the calendar that is the era's ``number``-th, also behind its last one."""
        return self.first_day.year - 1 + number


ERAS = (
    Era("明治", "m", date(1868, 1, 25), 45),
    Era("大正", "t", date(1912, 7, 30), 15),
    Era("昭和", "s", date(1926, 12, 25), 64),
    Era("平成", "h", date(1989, 1, 8), 31),
    Era("令和", "r", date(2019, 5, 1), 99),
)
ERA_NAMES = "|".join(era.name for era in ERAS)
"""A regular expression for the name of an era."""


def era_on(day: date) -> Era | None:
    """Return the era that a day lies in; None for days before 明治.

    >>> era_on(date(2019, 4, 30)).name, era_on(date(2019, 5, 1)).name, era_on(date(1867, 1, 1))
    ('平成', '令和', None)
    """
    return next((era for era in reversed(ERAS) if era.first_day <= day), None)
