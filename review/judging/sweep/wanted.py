"""The words in which a model is asked to read a document. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hub.llm.tokens import estimate_text_tokens

# What a request holds of what the readings before it found.
FOUND_TOKENS = 8000

WANTED = {
    "traceability": "traceability: a requirement, decision or id that the document leaves without its counterpart, a "
    "reference that leads nowhere or does not say into which document, or what contradicts or misses what a related "
    "document (passages r1 …) demands.",
    "consistency": "consistency: two statements about the same thing that can't both be true or both be followed: "
    "values (also in another unit), dates, names, counts, sums, classifications; the phase, version or state in which "
    "one thing is done, as each section has it; who does, may see or decides something; a rule beside its exception, a "
    "rule for all beside a table in which one is otherwise; two ways or places for one purpose; what is done, merged "
    "or decided in one place and open in another; the order of steps; one id or number given to two things; cells of "
    "one row that do not go together (a name beside its description, mandatory beside what holds when it is left out); "
    "cases that expect different things of one condition.",
    "coverage": "coverage: something that the text itself promises or needs, that a check item asks for, or that a "
    "document of its kind has to settle for those who build, test, operate or decide by it (who does what and whom to "
    "turn to, rights, limits, start and stop, abnormal cases, backup and recovery, what becomes of data, dates, "
    "risks), and that is left out, undecided or without its values; what one of several like parts (screens, records, "
    "variants, cases) states and another of them lacks; an entry, field, column or section that is empty or a "
    "placeholder; what the document says itself is unfinished, or leaves to others or to later (to be settled in "
    "operation, TBD, X) without who settles it, or what holds until then.",
    "structure": "structure: content under a heading that is about something else, a heading on another level than "
    "its like, a part announced and not there, steps in an order that can't work, a document without a version, date "
    "or author where its kind has them.",
    "terminology": "terminology: two words, spellings or languages for one thing (a role, a screen, an item), one word "
    "for two things, an abbreviation, a foreign word or a word of one trade or office that is explained nowhere and "
    "that not every reader of this document knows.",
    "style": "style: wording that can't be measured or that readers may take in several ways where somebody builds, "
    "tests, operates or decides by it (an amount, a cost, a time, a share without its figure, a list that does not "
    "close), a slip in a word, a particle, a digit or a name.",
}

TOPICS_WANTED = """ Go through these topics one by one: {topics}. Rules took each for treated. One that the document \
names, promises or touches and nowhere states a single concrete requirement or decision on is not treated after all: \
then "topic" is its name, and the quote is where it is named or touched. Of a topic that is treated in part "topic" is \
"none", and the finding says what is left out."""

TASK = "You read a document as its reviewer, against its check list, and note facts and propose findings."
FACTS_OF_PART = """- "facts": what this part states and another part may state differently: subject, attribute, value \
(a few words each), and a quote."""
NO_FACTS = '- "facts" is empty: the whole document is before you.'
OTHERS = """
- Other readers of this document look for {others}: leave to them what is of these kinds only."""
LAST = """
- "told" has what others found who have read this document before you. They stop once they have found much. Look for \
what they left, and tell nothing of theirs again, in whatever words, of whatever kind. Take each sentence, row, cell, \
note and example on which "told" has nothing, and ask: where else does the document speak of the same thing, under \
another name, in another unit, for another phase or version, in a total, a list, a table, and do they agree? What of \
its like (an event, a step, a case, a role, a field, a section) does it lack that the others have? What is put off, \
and who settles it? What happens when it fails, is refused, is empty, runs over, comes twice? To which requirement, \
design or test does it answer, where a document of this kind has to say so? Then take each check item under which \
"told" has nothing: does the document meet it? Is one term written in two ways? It may be little that is left: name \
nothing for the sake of a longer list."""
RULES = """- "checklist" has every check item, and what simple rules said of it. Rules know words and forms only: \
"passed" means that they saw nothing, not that there is nothing. Go through the items one by one and look for what \
they missed; what rules have told, missing topics among it, is not told again. "earlier" holds facts of the parts \
before, each with its quote; "outline" the headings of the whole document.
{facts}
- "findings": what a reviewer of this document would have its writer correct, small slips too (minor), of these kinds:
{wanted}{others}{last}
- "item" is the check item that a finding belongs to, or "none". Each defect has one entry, of the kind and item that \
say it best, not one for each kind that it touches; two defects have two entries, even in one sentence.
- "topic" is "none", but for a topic that is not treated at all.
- "message" is one sentence of at most {message} characters, a subject, attribute or value of at most {words}.
- "quotes" are copied character by character, of 8 to {quote} characters, without "…", each with the id of its \
passage ("earlier" for the quote of an earlier fact). Quote the very line, row or sentence that is wrong, and every \
place where the defect shows. A contradiction needs a quote of each side, two words for one thing a quote of each. \
Something missing needs the quote that promises or needs it, or beside which it would stand; do not call missing what \
another section of the outline may hold.
- Go through the document section by section, the short ones, notes, headings, captions, lists and examples too. For \
each statement ask where else the document speaks of the same thing, and compare: a text with its tables, a table with \
another, a row with its like and with its own note, a number with what it counts, a rule with the case it is applied \
to, a screen or step with where the others lead and who may go there, sample data with the cases that use them, names \
of files, projects and commands with what is said of them.
- Tell everything that the text shows, and nothing that it does not show: both lists may be empty."""


def rules_text(
    others: Sequence[str], *, wanted: str, is_whole: bool, is_last: bool, message: int, words: int, quote: int
) -> str:
    """The rules of a reading for what is ``wanted``; ``others`` are the categories of other readings.

    ``is_whole``: no part follows that facts would be carried on to. ``is_last``: it looks for what the others left.
    """
    return RULES.format(
        wanted=wanted,
        others=OTHERS.format(others=", ".join(others)) if others else "",
        last=LAST if is_last else "",
        facts=NO_FACTS if is_whole else FACTS_OF_PART,
        message=message,
        words=words,
        quote=quote,
    )


def found_text(found: Sequence[str]) -> str:
    """What the readings before found, a line each, the first ones as far as they fit."""
    lines: list[str] = []
    left = FOUND_TOKENS
    for message in found:
        line = f"- {message}"
        left -= estimate_text_tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def wanted_text(category: str, topics: Sequence[str]) -> str:
    """What findings of a category are; of coverage with the ``topics`` that rules took for treated."""
    if category != "coverage" or not topics:
        return WANTED[category]
    return WANTED[category] + TOPICS_WANTED.format(topics=", ".join(f"「{topic}」" for topic in topics))
