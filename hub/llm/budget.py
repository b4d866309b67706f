"""A limit on what a piece of work (a review, an answer) may spend on language models."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.core.measures import BUDGET_REFUSALS, Point, count
from hub.llm.errors import BudgetExceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US$ per million tokens."""

    tokens_in: Decimal
    tokens_out: Decimal

    def cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1_000_000


@dataclass(slots=True, kw_only=True)
class Usage:
    """What was spent. ``cost`` is None as soon as a model without a price answered."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal | None = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def add(self, tokens_in: int, tokens_out: int, cost: Decimal | None) -> None:
        self.requests += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost = None if self.cost is None or cost is None else self.cost + cost


@dataclass(slots=True, kw_only=True)
class Reservation:
    """Room for one request; ``settle`` states how many tokens it took: in, out."""

    taken: tuple[int, int] | None = None

    def settle(self, tokens_in: int, tokens_out: int) -> None:
        self.taken = (tokens_in, tokens_out)


@dataclass(slots=True, kw_only=True)
class Budget:
    """Refuses the request that could pass a limit; None is no limit. Threads may share it.

    A request counts with its estimated input and its greatest output while it is under way, and with what the provider
    counted afterwards. So the limit is passed by no more than the error of one estimate for each request under way.
    ``max_cost`` (US$) counts requests to models with a price.
    """

    max_tokens: int | None = None
    max_cost: Decimal | None = None
    used: Usage = field(default_factory=Usage)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _reserved_tokens: int = 0
    _reserved_cost: Decimal = Decimal(0)

    @classmethod
    def configured(cls, used: Usage | None = None) -> Budget:
        """Return what one piece of work may spend as the hub is configured, of which some may be ``used``."""
        config = settings.CONFIG
        return cls(max_tokens=config.hub_llm_token_budget, max_cost=config.hub_llm_cost_budget, used=used or Usage())

    @contextmanager
    def reserve(self, *, tokens_in: int, tokens_out: int, price: Price | None) -> Iterator[Reservation]:
        """Hold room for a request until the block ends; without ``settle`` in it, nothing was spent.

        :raises BudgetExceeded: there is not enough left.
        """
        cost = price.cost(tokens_in, tokens_out) if price else Decimal(0)
        with self._lock:
            self._check(tokens_in + tokens_out, cost)
            self._reserved_tokens += tokens_in + tokens_out
            self._reserved_cost += cost
        reservation = Reservation()
        try:
            yield reservation
        finally:
            with self._lock:
                self._reserved_tokens -= tokens_in + tokens_out
                self._reserved_cost -= cost
                if reservation.taken:
                    self.used.add(*reservation.taken, price.cost(*reservation.taken) if price else None)

    def has_room(self, *, tokens: int, cost: Decimal | None, share: float) -> bool:
        """Return whether work of this size takes at most ``share`` (0 to 1) of what is left."""
        with self._lock:
            if self.max_tokens is not None and tokens > share * (self.max_tokens - self.used.tokens):
                return False
            left = None if self.max_cost is None else self.max_cost - (self.used.cost or Decimal(0))
            return left is None or cost is None or cost <= Decimal(share) * left

    def _check(self, tokens: int, cost: Decimal) -> None:
        spent = self.used.tokens + self._reserved_tokens
        if self.max_tokens is not None and spent + tokens > self.max_tokens:
            count(Point(family=BUDGET_REFUSALS, labels=("tokens",), value=1))
            raise BudgetExceeded(
                _(
                    "The next request may take {next} tokens; {spent} of {limit} are used. "
                    "Raise HUB_LLM_TOKEN_BUDGET, or ask for less."
                ),
                next=tokens,
                spent=spent,
                limit=self.max_tokens,
            )
        paid = (self.used.cost or Decimal(0)) + self._reserved_cost
        if self.max_cost is not None and paid + cost > self.max_cost:
            count(Point(family=BUDGET_REFUSALS, labels=("cost",), value=1))
            raise BudgetExceeded(
                _(
                    "The next request may cost US$ {next}; {spent} of {limit} are spent. "
                    "Raise HUB_LLM_COST_BUDGET, or ask for less."
                ),
                next=round(cost, 4),
                spent=round(paid, 4),
                limit=self.max_cost,
            )
