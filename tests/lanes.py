"""Which tests `make test-fast` leaves out: those that start hubs, browsers or models, and others that take long.
In which order the processes of the suite begin them.

Every other test is in the fast lane by itself. A test of a new page, rule, parser or service belongs there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cache

from tools.test_durations import DURATIONS

SHARE_A_HUB = ("tests/flows", "tests/hub/site", "tests/mcp_bridge")
"""Folders whose tests use one running hub: a process of the suite takes all of one, so that the hub starts once."""

START_THEIR_OWN = (
    "tests/flows/test_crashes.py",
    "tests/flows/test_curated_versions.py",
    "tests/flows/test_hub_wide_writes.py",
    "tests/flows/test_nothing_leaves.py",
    "tests/flows/test_rotation_kills.py",
    "tests/flows/test_second_person.py",
    "tests/flows/test_stolen_copy.py",
    "tests/flows/test_three_ways_in.py",
    "tests/flows/test_traces.py",
    "tests/flows/test_watched_sources.py",
)
"""Files of those folders that use no hub of others: any process takes each."""

SLOW_S = 4
"""A file that took so many seconds or more, as ``tests/durations.txt`` notes, is left out, whatever it does."""

FAST_LANE = "not slow"
"""The expression of markers that `make test-fast` gives to pytest."""

SLOW = (
    # start hubs, web servers, browsers, or a PostgreSQL of their own
    "tests/benchmarks/*",
    "tests/deploy/*",
    "tests/flows/*",
    "tests/hub/core/embedded/*",
    "tests/hub/site/*",
    "tests/hub/test_light_start.py",
    "tests/hub/test_shared_measures.py",
    "tests/mcp_bridge/*",
    "tests/*/test_*_browser.py",
    "tests/review/runs/test_worker_kills.py",
    # ask a language model's server, build embedding sets, or load a model of their own
    "tests/contracts/*",
    "tests/knowledge/answering/test_doors.py",
    "tests/knowledge/embedders/*",
    "tests/knowledge/embedding_sets/*",
    "tests/review/evaluation/*",
    "tests/review/judging/*",
    # read in child processes
    "tests/knowledge/graph/cypher/*",
    "tests/knowledge/parsers/test_isolation.py",
    "tests/knowledge/parsers/test_real_documents.py",
    "tests/review/lint/test_lint_apart.py",
    # show pages of the admin
    "tests/*/test_admin_*.py",
    "tests/hub/admin/*",
    # try everything there is
    "tests/access/*",
    "tests/attacks/*",
    "tests/hub/core/test_linear_patterns.py",
    "tests/knowledge/search/test_hidden_statistics.py",
    "tests/properties/test_admin_forms.py",
    "tests/properties/test_rest_fields.py",
    "tests/review/hidden/*",
    "tests/review/rules/test_growth.py",
)


def group_of(path: str) -> str:
    """What one process runs together: a file, or what shares a hub in a folder."""
    folder = path.rpartition("/")[0]
    return folder if folder in SHARE_A_HUB and path not in START_THEIR_OWN else path


@cache
def _known_durations() -> Mapping[str, int]:
    """The seconds of each file, of those that take some."""
    lines = DURATIONS.read_text(encoding="utf-8").splitlines()
    return {path: int(seconds) for seconds, path in map(str.split, lines)}


@cache
def _durations_of_groups() -> Counter[str]:
    seconds: Counter[str] = Counter()
    for path, spent in _known_durations().items():
        seconds[group_of(path)] += spent
    return seconds


def known_duration(path: str) -> int:
    """The seconds that all of a file's group took when that was last noted; 0 for short ones and new ones."""
    return _durations_of_groups()[group_of(path)]


def is_slow(path: str) -> bool:
    """Whether `make test-fast` leaves a file of tests out; ``path`` is below the repository, with ``/``."""
    return _known_durations().get(path, 0) >= SLOW_S or any(fnmatch(path, pattern) for pattern in SLOW)
