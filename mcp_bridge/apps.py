from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class McpBridgeConfig(AppConfig):
    name = "mcp_bridge"
    verbose_name = _("MCP")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(_load_shipped_prompts, sender=self)


def _load_shipped_prompts(**_signal: object) -> None:
    from mcp_bridge.prompts.shipped import load_shipped_prompts  # models are not loaded yet when this module is

    load_shipped_prompts()
