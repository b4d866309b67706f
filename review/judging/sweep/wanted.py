"""The words in which a model is asked to read a document. Pure."""

from __future__ import annotations

from collections.abc import Sequence

WANTED = {
    "traceability": "traceability: a requirement, decision or id that the document leaves without its counterpart, or "
    "that contradicts or misses what a related document (passages r1 …) demands.",
    "consistency": "consistency: two statements about the same thing that can't both be true (values, dates, names, "
    "counts, sums, units, classifications, responsibilities, conditions), or one id or number given to two things.",
    "coverage": "coverage: something that the text itself promises or needs, or that a check item asks for, and that "
    "is left out, undecided or without its values, so that nobody could build or test it: a limit, an abnormal case, "
    "who does it; an entry, column or section that is empty or a placeholder.",
    "structure": "structure: content under a heading that is about something else, a heading on another level than "
    "its like, a part announced and not there, steps in an order that can't work.",
    "terminology": "terminology: two words, spellings or languages for one thing (a role, a screen, an item), one word "
    "for two things, an abbreviation that is explained nowhere.",
    "style": "style: wording that can't be measured or that readers may take in several ways, a slip in a word, a "
    "particle, a digit or a name.",
}

TOPICS_WANTED = """ Go through these topics one by one: {topics}. Rules took each for treated. One that the document \
names, promises or touches and nowhere states a single concrete requirement or decision on is not treated after all: \
then "topic" is its name, and the quote is where it is named or touched. Of a topic that is treated in part "topic" is \
"none", and the finding says what is left out."""

TASK = "You read a document as its reviewer, against its check list, and note facts and propose findings."
RULES = """- "checklist" has every check item, and what simple rules said of it. Rules know words and forms only: \
"passed" means that they saw nothing, not that there is nothing. Go through the items one by one and look for what \
they missed; what rules have told, missing topics among it, is not told again. "earlier" holds facts of the parts \
before, each with its quote; "outline" the headings of the whole document.
- "facts": what this part states and another part may state differently: subject, attribute, value (a few words each), \
and a quote.
- "findings": what a reviewer of this document would have its writer correct, small slips too (minor), of these kinds:
{wanted}
- "item" is the check item that a finding belongs to, or "none". Each defect has one entry, of the kind and item that \
say it best, not one for each kind that it touches.
- "topic" is "none", but for a topic that is not treated at all.
- "message" is one sentence of at most {message} characters, a subject, attribute or value of at most {words}.
- "quotes" are copied character by character, of 8 to {quote} characters, without "…", each with the id of its passage \
("earlier" for the quote of an earlier fact). Quote the very line, row or sentence that is wrong. A contradiction \
needs a quote of each side, two words for one thing a quote of each. Something missing needs the quote that promises \
or needs it, or beside which it would stand; do not call missing what another section of the outline may hold.
- Compare whatever the document says twice: a text with its tables, a table with another, a number with what it \
counts, a screen or step with where the others lead, sample data with the cases that use them, a program or command \
with what is said of it.
- Tell everything that the text shows, and nothing that it does not show: both lists may be empty."""


def wanted_text(category: str, topics: Sequence[str]) -> str:
    """What findings of a category are; of coverage with the ``topics`` that rules took for treated."""
    if category != "coverage" or not topics:
        return WANTED[category]
    return WANTED[category] + TOPICS_WANTED.format(topics=", ".join(f"「{topic}」" for topic in topics))
