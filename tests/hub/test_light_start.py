"""What every command and worker pays for at its start."""

from __future__ import annotations

from tests.knowledge.embedders.test_light_imports import modules_after

START = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
import django
django.setup()
"""


def test_a_command_starts_without_the_mcp_servers_and_without_a_model() -> None:
    loaded = modules_after(START)

    assert "unfold" in loaded  # the admin is there
    assert loaded.isdisjoint({"mcp", "onnx", "onnxruntime"})
