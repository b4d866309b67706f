"""What people wrote into an annotated copy, as rows of answers: replies, resolved comments, changed words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.core.errors import InvalidInput
from knowledge.text.dates import read_day
from knowledge.text.folding import fold_compact
from review.models import Triage
from review.report.annotated.references import REFERENCE, is_written_here
from review.report.answer_file import LIMITS, AnswerFile, AnswerRow, BadValueError, RowError

_HEAD = re.compile(r"^【(?:指摘|Finding) (?P<number>\d{1,6})(?: \((?P<index>\d{1,3})/\d{1,3}\))?】", re.MULTILINE)
_SHOWN_WORDS = 200


@dataclass(slots=True, kw_only=True)
class _Said:
    """All that a file says of one finding. ``words`` are those under its notes by their index, None if not known.

    ``cut`` are the indexes of notes with more words than were read.
    """

    number: int
    finding_id: str
    revision: int
    replies: list[tuple[str, date | None, str]] = field(default_factory=list)
    is_done: bool = False
    words: dict[int, str | None] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """The part of a note that is about one finding, and what was written below it."""

    reference: re.Match[str]
    number: int
    index: int
    below: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """What a note was on when the copy was made: ``words`` of the file, which have the ``quote`` of the finding."""

    words: str
    quote: str

    def is_changed(self, now: str, *, is_cut: bool = False) -> bool | None:
        """Whether the quote is not there any more, or, where the words never had it as it is, whether these changed.

        A day that another program writes in another form is the same one. None where that may stand in what was cut
        off ``now``.
        """
        day = read_day(self.words)
        if day is not None and day == read_day(now):
            return False
        before, quote, after = map(fold_compact, (self.words, self.quote, now))
        if quote and quote in before:
            return False if quote in after else None if is_cut else True
        return True if before != after else None if is_cut else False


Originals = Mapping[tuple[str, int], Quoted]
"""By a finding's id and the index of its note."""


def could_be_copy(content: bytes) -> bool:
    """Whether a file is of a kind that copies are of: Word, Excel or PDF."""
    return content.startswith((b"PK\x03\x04", b"%PDF"))


def read_returned(review_id: str, notes: Sequence[Mapping[str, Any]], originals: Originals) -> AnswerFile | None:
    """Make answers of the notes of a copy that came back; None for a file without any note of the hub.

    Rows have the revision that a finding had when the copy was made, instead of its answers then. :raises
    InvalidInput: it is of another review, or no note was written by the hub.
    """
    said: dict[str, _Said] = {}
    errors: list[RowError] = []
    found_any = False
    for note in notes:
        for block in _blocks(note["text"]):
            found_any = True
            finding_id = block.reference["finding"]
            if finding_id.startswith("rev_"):
                _check_review(review_id, finding_id)
                continue
            if not is_written_here(review_id, finding_id, int(block.reference["revision"]), block.reference["sign"]):
                message = _("The note of No. {number} was not written by the hub for this review.")
                errors.append(RowError(row=block.number, message=message.format(number=block.number)))
                continue
            _add(said, block, note)
    if not found_any:
        return None
    if errors and not said:
        raise InvalidInput(
            gettext_lazy("The notes in this file were not written by the hub for this review."), code="foreign_notes"
        )
    rows = []
    for one in said.values():
        try:
            rows.append(_row(one, originals))
        except BadValueError as error:
            errors.append(RowError(row=one.number, message=str(error)))
    return AnswerFile(review_id=review_id, rows=sorted(rows, key=lambda row: row.row), errors=errors)


def _check_review(review_id: str, other: str) -> None:
    if other != review_id:
        raise InvalidInput(
            gettext_lazy("The file belongs to the review {other}, not to {review_id}."),
            code="other_review",
            other=other,
            review_id=review_id,
        )


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the findings that a note is about: each from its head to the head of the next, or the next line.

    Each part of the text is read twice at most and nothing of it is listed, since a note of a returned file may have
    any number of lines.
    """
    done = 0
    reference = REFERENCE.search(text)
    while reference is not None:
        head = _HEAD.search(text, done, reference.start())
        done = reference.end()
        following = REFERENCE.search(text, done)
        end = following.start() if following else len(text)
        next_head = _HEAD.search(text, done, end)
        below = text[done : next_head.start() if next_head else end].strip()
        number, index = (int(head["number"]), int(head["index"] or 1)) if head else (0, 1)
        yield _Block(reference=reference, number=number, index=index, below=below)
        reference = following


def _add(said: dict[str, _Said], block: _Block, note: Mapping[str, Any]) -> None:
    finding_id = block.reference["finding"]
    one = said.setdefault(
        finding_id,
        _Said(number=block.number, finding_id=finding_id, revision=int(block.reference["revision"])),
    )
    one.is_done |= bool(note["is_done"])
    one.words[block.index] = note["words"]
    if note["is_cut"]:
        one.cut.add(block.index)
    if block.below:
        one.replies.append(("", None, block.below))
    for author, day, text in note["replies"]:
        if text.strip():
            one.replies.append((author, _day(day), text.strip()))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _row(one: _Said, originals: Originals) -> AnswerRow:
    values: dict[str, Any] = {}
    changed = list(_changed_words(one, originals))
    texts = [text for _author, _day, text in one.replies]
    if len(texts) > 1:
        texts = [f"{author}: {text}" if author else text for author, _day, text in one.replies]
    if changed and not texts:
        texts = changed
    if texts:
        text = "\n".join(texts)
        if len(text) > LIMITS["text"]:
            raise BadValueError(_("More than {limit} characters: {text}…").format(limit=LIMITS["text"], text=text[:20]))
        values["text"] = text
    if one.replies and one.replies[-1][0]:
        values |= {"answered_by": one.replies[-1][0][: LIMITS["answered_by"]], "answered_on": one.replies[-1][1]}
    if one.is_done or changed:
        values["triage"] = Triage.FIXED.value
    if not values and _may_be_changed(one, originals):
        raise BadValueError(
            _("There are so many words under the comment that not all were read. Say by hand whether they changed.")
        )
    return AnswerRow(
        row=one.number,
        number=one.number,
        finding_id=one.finding_id,
        values=values,
        exported={},
        revision=one.revision,
    )


def _changed_words(one: _Said, originals: Originals) -> Iterator[str]:
    for before, now, is_changed in _compared(one, originals):
        if is_changed:
            yield _("Changed in the document: “{before}” → “{now}”").format(
                before=_short(before.words), now=_short(now) or _("(deleted)")
            )


def _may_be_changed(one: _Said, originals: Originals) -> bool:
    return any(is_changed is None for _before, _now, is_changed in _compared(one, originals))


def _compared(one: _Said, originals: Originals) -> Iterator[tuple[Quoted, str, bool | None]]:
    for index, now in sorted(one.words.items()):
        before = originals.get((one.finding_id, index))
        if now is not None and before is not None:
            yield before, now, before.is_changed(now, is_cut=index in one.cut)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN_WORDS else f"{flat[:_SHOWN_WORDS]}…"


def without_known(notes: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out what people had written in the document already when the copy was made, ``before``.

    A program that keeps no threads sets a comment of theirs beside the hub's as a reply would be.
    """
    known = Counter(text for note in before for text in [note["text"], *(reply[2] for reply in note["replies"])])
    known.subtract(note["text"] for note in notes)
    found: list[Mapping[str, Any]] = []
    for note in notes:
        replies = []
        for reply in note["replies"]:
            known[reply[2]] -= 1
            if known[reply[2]] < 0:
                replies.append(reply)
        found.append({**note, "replies": replies})
    return found


def words_by_note(notes: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], str]:
    """Return the words that the notes of a copy are on, by the finding's id and the note's index."""
    return {
        (block.reference["finding"], block.index): str(note["words"])
        for note in notes
        if note["words"] is not None
        for block in _blocks(note["text"])
    }
