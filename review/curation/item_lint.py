"""The lint of check items: by rules, and on top of it by a language model that proposes other wording.

A model's remarks are warnings: they never keep a version from being approved. What it answered once comes from the
recordings, so a page can show it without asking.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from hub.access.principals import Principal
from hub.core.errors import HubError
from hub.llm import client
from hub.llm.budget import Budget
from hub.llm.errors import BudgetExceeded, ReplayMiss
from hub.llm.preparation import Purpose
from hub.llm.providers.registry import get_provider, is_configured
from knowledge.types.notices import Notice
from review.curation.item_lint_by_model import lint_request, read_remarks
from review.curation.master_versions import beside
from review.judging import notices
from review.masters.content import ItemContent
from review.masters.lint import Remark, lint_item, lint_master
from review.masters.listing import content_of, get_checklist_version, item_versions_of
from review.models import CheckItemVersion

# A caller who waits gets what is there after this long; a second call goes on.
WAIT_S = 45.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """Remarks in the order of the items, those of rules before those of a model; ``notices`` tell what is missing."""

    version: int
    remarks: tuple[Remark, ...]
    notices: tuple[Notice, ...] = ()


def lint_checklist(
    principal: Principal,
    code: str,
    *,
    number: int | None = None,
    with_model: bool = False,
    wait_s: float | None = WAIT_S,
) -> LintReport:
    """Look over all items of a version: without a number of the one in force, or else the newest.

    ``with_model`` asks a language model about each item, until ``wait_s`` are over. For curators of the hub. Raises
    NotFound.
    """
    principal.require_hub_curator()
    version = get_checklist_version(principal, code, number)
    items = [content_of(item) for item in item_versions_of(version)]
    remarks = list(lint_master(items))
    said: tuple[Notice, ...] = ()
    if with_model:
        found, said = _ask(principal, items, items, wait_s=wait_s)
        remarks += found
    order = {item.code: at for at, item in enumerate(items)}
    ordered = sorted(remarks, key=lambda remark: order[remark.item])
    return LintReport(version=version.number, remarks=tuple(ordered), notices=said)


def lint_item_version(principal: Principal, version: CheckItemVersion, *, asks: bool = False) -> LintReport:
    """Look over one item beside those of the lists in force that hold it. For curators of the hub.

    Of a language model it tells what is recorded; with ``asks`` the model is asked first.
    """
    principal.require_hub_curator()
    item, others = content_of(version), beside(version)
    found, said = _ask(principal, [item], others, wait_s=None, recorded_only=not asks)
    return LintReport(version=version.number, remarks=(*lint_item(item, others), *found), notices=said if asks else ())


def _ask(
    principal: Principal,
    items: Sequence[ItemContent],
    others: Sequence[ItemContent],
    *,
    wait_s: float | None,
    recorded_only: bool = False,
) -> tuple[list[Remark], tuple[Notice, ...]]:
    """A model's remarks on items, and what people should know about them."""
    if not is_configured():
        return [], (notices.LINT_NO_MODEL,)
    config = settings.CONFIG
    budget = Budget(max_tokens=config.hub_llm_token_budget, max_cost=config.hub_llm_cost_budget)
    remarks: list[Remark] = []
    said: list[Notice] = []
    started = time.monotonic()
    for item in items:
        if wait_s is not None and time.monotonic() - started > wait_s:
            said.append(notices.LINT_PARTIAL)
            break
        try:
            found, refused = _ask_about(principal, item, others, budget, recorded_only=recorded_only)
        except ReplayMiss:
            continue
        except BudgetExceeded:
            said.append(notices.LINT_BUDGET)
            break
        except HubError as error:
            said.append(notices.lint_failed(error))
            continue
        remarks += found
        if refused:
            said.append(notices.LINT_REFUSED)
    return remarks, tuple(dict.fromkeys(said))


def _ask_about(
    principal: Principal, item: ItemContent, others: Sequence[ItemContent], budget: Budget, *, recorded_only: bool
) -> tuple[tuple[Remark, ...], int]:
    answer = client.ask(
        principal,
        lint_request(item, others),
        purpose=Purpose(name="checklist_lint"),
        budget=budget,
        replay=recorded_only,
        provider=get_provider(),
    )
    return read_remarks(answer.data, item, others, model=answer.model)
