"""What models and people read of the servers: tools and arguments, prompts and resources, and the list of requests."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.mcp_choice import load_requests
from mcp_bridge.servers import SERVERS
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.anyio
ROW = re.compile(r"^\| (?P<request>.+?) \| `(?P<tool>\w+)`", re.MULTILINE)


def test_the_requests_that_choosers_are_tried_with_are_those_of_the_documentation():
    page = (REPOSITORY / "docs" / "mcp.md").read_text(encoding="utf-8")
    table = page.partition("### Which tool for which request")[2].partition("#### ")[0]
    listed = [(asked.request, asked.tools[0]) for asked in load_requests()["listed"]]
    assert ROW.findall(table) == listed
    assert len(listed) == 20


def test_held_out_requests_are_twenty_others_and_name_tools_that_exist():
    requests = load_requests()
    known = {item.tool.name for item in SERVERS["hub"].tools}
    assert {tool for asked in requests["listed"] + requests["held_out"] for tool in asked.tools} <= known
    counted = Counter(asked.request for asked in requests["listed"] + requests["held_out"])
    assert len(counted) == 40
