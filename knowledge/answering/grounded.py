"""An answer by a language model, sentence by sentence: each one is checked against the passages that it cites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hub.access.principals import Classification, Principal
from hub.core.errors import HubError
from hub.llm import client
from hub.llm.material import label_of
from hub.llm.preparation import Purpose
from knowledge.answering import notices
from knowledge.answering.instructions import speaks_to_a_model
from knowledge.answering.partial_json import ListReader
from knowledge.answering.prompts import answer_request
from knowledge.answering.support import best_quote, is_supported, shared_words
from knowledge.answering.types import AnswerSentence, Citation
from knowledge.types.notices import Notice
from knowledge.types.search import Hit

# A cited passage with less of the sentence's words adds nothing to another that has them.
LEAST_SHARE_OF_CITATION = 0.25


@dataclass(slots=True, kw_only=True)
class GroundedAnswer:
    """Asks the model and yields what holds; ``remarks`` say afterwards what did not."""

    principal: Principal
    question: str
    passages: Sequence[Hit]
    classification: Classification
    remarks: list[Notice] = field(default_factory=list)

    def sentences(self) -> Iterator[AnswerSentence]:
        """Yield the sentences as they come, checked; nothing when the passages do not answer.

        :raises HubError: the model gave no usable answer, and no sentence was yielded.
        """
        if not self.passages:
            return
        reader, given = ListReader(), 0
        try:
            for piece in client.stream(
                self.principal,
                answer_request(self.question, self.passages),
                purpose=Purpose(
                    name="answer",
                    document_ids=[hit.document_id for hit in self.passages],
                    classification=self.classification,
                ),
            ):
                for proposed in reader.feed(piece):
                    if (sentence := self._checked(proposed)) is not None:
                        given += 1
                        yield sentence
        except HubError:
            if not given:
                raise
            self._remark(notices.ANSWER_CUT)

    def _checked(self, proposed: Any) -> AnswerSentence | None:  # noqa: ANN401 - whatever the model wrote
        text, cited = self._read(proposed)
        if not text or not cited or not is_supported(text, cited):
            self._remark(notices.SENTENCES_DROPPED)
            return None
        citations = _citations(text, cited)
        if speaks_to_a_model(text) or any(speaks_to_a_model(one.quote) for one in citations):
            self._remark(notices.INSTRUCTION_IN_DOCUMENT)
            return None
        return AnswerSentence(text=text, citations=citations)

    def _read(self, proposed: Any) -> tuple[str, list[Hit]]:  # noqa: ANN401 - whatever the model wrote
        """The sentence and the passages it cites; an id that was not given out makes it worthless."""
        if not isinstance(proposed, dict):
            return "", []
        text, labels = proposed.get("text"), proposed.get("citations")
        known = {label_of(index): hit for index, hit in enumerate(self.passages)}
        if not isinstance(text, str) or not isinstance(labels, list):
            return "", []
        if not all(isinstance(label, str) and label in known for label in labels):
            return "", []
        return text.strip(), [known[label] for label in dict.fromkeys(labels)]

    def _remark(self, notice: Notice) -> None:
        if notice not in self.remarks:
            self.remarks.append(notice)


def _citations(text: str, cited: Sequence[Hit]) -> tuple[Citation, ...]:
    quotes = [best_quote(text, hit) for hit in cited]
    shares = [shared_words(text, quote.text) for quote in quotes]
    return tuple(
        quote.cite()
        for quote, share in zip(quotes, shares, strict=True)
        if share >= LEAST_SHARE_OF_CITATION or share == max(shares)
    )
