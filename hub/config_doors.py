"""The settings of the doors: who is let in, how many, how fast."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from hub.config_values import MetricsToken, TrustedProxies
from hub.core.client_address import Networks


class DoorSettings(BaseSettings):
    """Settings by their environment names, beside the other ones of :class:`hub.config.Configuration`."""

    hub_trusted_proxies: TrustedProxies = Field(
        Networks(()),
        description="addresses and networks of the proxies in front, comma separated: their X-Forwarded-For and "
        "X-Forwarded-Proto are believed, nobody else's",
    )
    hub_max_connections: int = Field(
        1000, ge=10, le=100_000, description="connections that a web process holds at one time; others get 503"
    )
    hub_max_connections_per_address: int = Field(
        400, ge=1, le=100_000, description="the same from one address that is not in HUB_TRUSTED_PROXIES"
    )
    hub_body_timeout_s: float = Field(
        30,
        ge=1,
        le=600,
        description="seconds in which the head of a request must arrive; of a body 500 bytes a second, counted over "
        "as many seconds",
    )
    hub_metrics_token: MetricsToken = Field(
        "", description="the token that /metrics asks for, 32 characters or more; without it only this machine may ask"
    )
    hub_mcp_max_sessions: int = Field(
        1000, ge=1, le=100_000, description="open MCP sessions of a web process (clients of the handshake eras)"
    )
    hub_mcp_max_sessions_per_user: int = Field(100, ge=1, le=100_000, description="the same of one user")
    hub_mcp_session_idle_s: float = Field(
        1800, ge=10, le=86_400, description="seconds after which an MCP session without a request or stream ends"
    )
