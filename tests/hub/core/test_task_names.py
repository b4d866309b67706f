"""Tasks are queued by name, so that services need not import them: each name has to be one."""

import re
from pathlib import Path

from celery import current_app

ROOT = Path(__file__).resolve().parents[3]
QUEUED = re.compile(
    r"(?:enqueue|enqueue_on_commit|send_task)\(\s*\"([^\"]+)\"|task=\"([^\"]+)\"|\"task\": \"([^\"]+)\""
    r"|(?:return|else) \"(knowledge\.\w+)\""
)


def test_every_queued_name_is_a_task() -> None:
    current_app.loader.import_default_modules()
    sources = [path for app in ("hub", "knowledge", "review") for path in (ROOT / app).rglob("*.py")]

    names = {name for path in sources for found in QUEUED.findall(path.read_text()) for name in found if name}

    assert {"knowledge.advance_version", "knowledge.advance_bulk_version"} <= names
    assert names <= set(current_app.tasks)
