"""A scratch HUB_DATA_DIR for the whole run, set before Django reads its settings.

Loaded with ``-p tests.scratch`` (pyproject.toml): conftest files come too late for pytest-django.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile

from hub.core.processes import collect_seldom

RUN_FOLDER = "HUB_TESTS_FOLDER"
"""The environment's name for a folder that all processes of a run share."""

# Without kept bytecode, each of the processes that tests start would compile a thousand modules. Git ignores it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Looking for cycles by Python's own numbers took a tenth of the suite's time.
collect_seldom()
_folder = tempfile.mkdtemp(prefix="hub-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["HUB_DATA_DIR"] = _folder
os.environ.setdefault(RUN_FOLDER, _folder)  # of the first process, which starts the others
os.environ.setdefault("HUB_PORT", "8999")
os.environ.setdefault("HUB_RATE_LIMIT_PER_MINUTE", "100000")
# Emptying a table goes through all of PostgreSQL's buffers, which tests do thousands of times.
os.environ.setdefault("HUB_POSTGRES_BUFFERS_BYTES", str(256 * 1024**2))
os.environ.setdefault("LOG_LEVEL", "WARNING")
# Tests watch folders of their own, wherever scratch folders are; those of HUB_SOURCE_ROOTS itself set it.
os.environ.setdefault("HUB_SOURCE_ROOTS", "/,s3://")
