"""What importing a check master's file would do."""

from __future__ import annotations

from dataclasses import dataclass

from review.masters.content import ItemChange, ItemContent
from review.masters.table import RowProblem
from review.models import CheckList, CheckListVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterImport:
    """What importing a file would do. With problems nothing can be imported.

    ``newer`` is the version that was made after the one the file was written from, when there is one: importing
    takes its changes back.
    """

    checklist: CheckList
    base: CheckListVersion | None
    items: tuple[ItemContent, ...]
    changes: tuple[ItemChange, ...]
    problems: tuple[RowProblem, ...]
    newer: int | None
