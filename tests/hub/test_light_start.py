"""What every command and worker pays for at its start."""

from __future__ import annotations

import subprocess
import sys

from django.contrib import admin
from django.core.checks import run_checks

from tests.conftest import REPOSITORY
from tests.knowledge.embedders.test_light_imports import modules_after

START = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
import django
django.setup()
"""


def test_a_command_starts_without_the_mcp_servers_and_without_a_model() -> None:
    loaded = modules_after(START)

    assert "knowledge" in loaded
    assert loaded.isdisjoint({"mcp", "onnx", "onnxruntime", "openai", "snowballstemmer"})
    assert loaded.isdisjoint({"numpy", "openpyxl", "jsonschema"})  # of rules, pages and stores


WITHOUT_PAGES = """
from hub.celery import app
app.loader.import_default_modules()
import sys
assert "knowledge.tasks" in sys.modules
assert not {"hub.admin", "knowledge.admin", "review.admin", "hub.site.urls"} & {*sys.modules}
"""


def test_a_worker_loads_no_page() -> None:
    """Nor Django's checks, which load all of them."""
    modules_after(WITHOUT_PAGES)


WITH_PAGES = """
import hub.site.asgi, sys
assert {"hub.site.urls", "hub.admin", "knowledge.admin", "review.admin"} <= {*sys.modules}
"""


def test_a_web_server_has_loaded_every_page_before_it_answers() -> None:
    modules_after(WITH_PAGES)


def test_django_finds_nothing_wrong_with_pages_and_models() -> None:
    """What no process checks at its start is checked here."""
    assert admin.site._registry
    assert run_checks() == []


COMMAND = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_stats()[2]["collections"]))
sys.argv = ["manage.py", "version"]
import manage
manage.main()
"""


def test_a_command_does_not_look_for_cycles_among_all_that_it_loads() -> None:
    ran = subprocess.run([sys.executable, "-c", COMMAND], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "0"


WORKER = """
import gc
from hub.celery import app
looked = gc.get_stats()[2]["collections"]
app.loader.import_default_modules()
print(gc.get_stats()[2]["collections"] - looked)
"""


def test_a_worker_and_beat_do_not_either() -> None:
    ran = subprocess.run([sys.executable, "-c", WORKER], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "0"
