"""How many connections a web process holds, in all and for each address."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hub.core.client_address import Networks


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The open connections of a server by the address of their peer; ``proxies`` bring those of many clients."""

    most: int
    most_per_address: int
    proxies: Networks
    _all: int = field(default=0)
    _by_address: Counter[str] = field(default_factory=Counter)

    def admit(self, address: str) -> str | None:
        """Count a connection that was made; else give which setting's limit is reached."""
        if self._all >= self.most:
            return "HUB_MAX_CONNECTIONS"
        if self._by_address[address] >= self.most_per_address and address not in self.proxies:
            return "HUB_MAX_CONNECTIONS_PER_ADDRESS"
        self._all += 1
        self._by_address[address] += 1
        return None

    def leave(self, address: str) -> None:
        """Forget a connection that was admitted."""
        self._all -= 1
        self._by_address[address] -= 1
        if self._by_address[address] <= 0:
            del self._by_address[address]
