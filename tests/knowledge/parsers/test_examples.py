"""The examples in the docstrings, where an example is the specification."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "knowledge.text.numbering",
    "knowledge.text.structure",
    "knowledge.backends.chunkers.pieces",
    "knowledge.backends.chunkers.registry",
    "knowledge.backends.chunkers.sentences",
    "knowledge.backends.parsers.csv_table",
    "knowledge.backends.parsers.docx_number_formats",
    "knowledge.backends.parsers.errors",
    "knowledge.backends.parsers.pages",
    "knowledge.backends.parsers.pdf_text",
    "knowledge.backends.parsers.table_head",
    "knowledge.backends.parsers.xlsx_codes",
    "knowledge.backends.parsers.xlsx_digits",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_documentation_hold(name: str) -> None:
    results = doctest.testmod(import_module(name))

    assert results.attempted > 0
    assert results.failed == 0
