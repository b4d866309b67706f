"""What the hub is shipped with has a licence each, and an SBOM."""

from __future__ import annotations

import json
from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tools.licences import REQUIREMENTS, collect, licence_of, pins, sbom


class Described(Distribution):
    """A distribution of which only the metadata are there."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        self._facts = Message()
        for name, value in lines:
            self._facts[name] = value

    @property
    def metadata(self) -> Message:  # type: ignore[override]
        return self._facts

    def read_text(self, filename: str) -> str | None:
        return None

    def locate_file(self, path: object) -> Path:
        raise NotImplementedError


MIT = ("Classifier", "License :: OSI Approved :: MIT License")


@pytest.mark.parametrize(
    ("lines", "licence"),
    [
        ([("License-Expression", "MIT OR Apache-2.0"), MIT], "MIT OR Apache-2.0"),
        ([MIT, ("Classifier", "License :: OSI Approved"), ("License", "see LICENSE")], "MIT License"),
        ([MIT, ("Classifier", "License :: OSI Approved :: BSD License")], "BSD License AND MIT License"),
        ([("License", "\nBSD 3-Clause\n\nCopyright …")], "BSD 3-Clause"),
        ([("Classifier", "Topic :: Text")], ""),
    ],
)
def test_the_licence_is_what_the_metadata_say_most_exactly(lines: list[tuple[str, str]], licence: str) -> None:
    assert licence_of(Described(*lines)) == licence


def test_everything_that_is_pinned_is_installed_as_pinned_with_a_licence_and_in_the_sbom() -> None:
    text = REQUIREMENTS.read_text()
    licensed, problems = collect(text)
    assert problems == []
    assert len(licensed) > 80
    written = json.loads(sbom(licensed))
    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")
    components = {(one["name"], one["version"]): one for one in written["components"]}
    assert set(components) == set(pins(text))
    assert all(one["licenses"] and one["purl"].startswith("pkg:pypi/") for one in components.values())
    (direct,) = [one["dependsOn"] for one in written["dependencies"] if one["ref"] == "hub"]
    assert len(direct) == len(components)


def test_what_is_not_installed_or_another_version_is_named() -> None:
    _licensed, problems = collect("no-such-thing==1.0\ndjango==1.0 \\\n    --hash=sha256:00\n    # via nobody\n")
    assert problems[0].startswith("no-such-thing: not installed here")
    assert problems[1].startswith("django: ")
    assert "1.0 is pinned" in problems[1]
