"""Other names of what a question mentions."""

from __future__ import annotations

import pytest

from knowledge.ontology.store import expand

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("text", ["単体テストの UT", "uts とは", "UTとは", "ＵＴ"])
def test_a_name_in_latin_letters_is_found_as_a_word_of_its_own(text: str) -> None:
    assert "Component test" in expand(text)


@pytest.mark.parametrize("text", ["output format", "About the institute", "UTF-8"])
def test_a_name_in_latin_letters_is_not_found_inside_of_another_word(text: str) -> None:
    assert "Component test" not in expand(text)
