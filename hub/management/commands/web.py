"""`manage.py web`: the web server alone, for those who run worker and beat, PostgreSQL and Valkey themselves."""

from __future__ import annotations

from argparse import ArgumentParser

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand

from hub.core.temporary import sweep
from hub.site.server_options import APPLICATION, allow_open_files, server_options

LOG_LEVELS = ("critical", "error", "warning", "info", "debug")


class Command(BaseCommand):
    help = (
        "Start the web server (REST, MCP, admin) with the limits of this hub: HUB_MAX_CONNECTIONS, HUB_BODY_TIMEOUT_S, "
        "HUB_TRUSTED_PROXIES. Several processes: WEB_CONCURRENCY. Example: manage.py web --host 0.0.0.0 --port 8000"
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.CONFIG.hub_host, help="default: HUB_HOST or 127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.CONFIG.hub_port, help="default: HUB_PORT or 8000")
        parser.add_argument("--log-level", default="warning", choices=LOG_LEVELS, help="of the server's own log")

    def handle(self, *, host: str, port: int, log_level: str, **_options: object) -> None:
        for remark in settings.CONFIG.remarks():
            self.stderr.write(remark)
        sweep()
        sweep(settings.HUB_DATA_DIR / "tmp")
        allow_open_files()
        uvicorn.run(APPLICATION, **server_options(host=host, port=port, log_level=log_level))
