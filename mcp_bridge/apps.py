from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from hub.core.shipped_content import load_after_migrations


class McpBridgeConfig(AppConfig):
    name = "mcp_bridge"
    verbose_name = _("MCP")

    def ready(self) -> None:
        load_after_migrations(self, _load_shipped_prompts)


def _load_shipped_prompts() -> None:
    from mcp_bridge.prompts.services import load_shipped_prompts  # models are not loaded yet when this module is

    load_shipped_prompts()
