"""The examples in the docstrings, where an example is the specification."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "knowledge.text.numbering",
    "knowledge.text.structure",
    "knowledge.chunkers.pieces",
    "knowledge.chunkers.registry",
    "knowledge.text.sentences",
    "knowledge.parsers.csv_table",
    "knowledge.parsers.docx.numbering",
    "knowledge.parsers.errors",
    "knowledge.parsers.errors",
    "knowledge.parsers.pdf.page",
    "knowledge.parsers.render",
    "knowledge.parsers.ooxml.number_codes",
    "knowledge.parsers.ooxml.number_codes",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_documentation_hold(name: str) -> None:
    results = doctest.testmod(import_module(name))

    assert results.attempted > 0
    assert results.failed == 0
