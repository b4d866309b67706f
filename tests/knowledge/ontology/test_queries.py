"""Other names of what a question mentions."""

from __future__ import annotations

import pytest

from knowledge.ontology.store import expand, named_concepts, places_named

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("text", ["単体テストの UT", "uts とは", "UTとは", "ＵＴ"])
def test_a_name_in_latin_letters_is_found_as_a_word_of_its_own(text: str) -> None:
    assert "Component test" in expand(text)


@pytest.mark.parametrize("text", ["output format", "About the institute", "UTF-8"])
def test_a_name_in_latin_letters_is_not_found_inside_of_another_word(text: str) -> None:
    assert "Component test" not in expand(text)


def test_concepts_are_found_as_by_looking_for_every_name() -> None:
    concepts, beginning = named_concepts()
    names = [own for words in concepts for _word, own in words if own]
    assert len(names) > 100
    for name in names[::5]:
        for text in (name, f"{name}とは", f"この文書の{name[:-1]}", f"「{name}」は何か, {names[3]}"):
            asked = [place for place, words in enumerate(concepts) if any(own and own in text for _word, own in words)]
            assert places_named(text, beginning) == asked, text
