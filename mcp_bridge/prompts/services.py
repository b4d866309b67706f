"""The texts of the MCP prompts: loading those that ship, writing a prompt, and curating them in versions."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.versions import (
    PublicationStatus,
    find_draft,
    lock_versions,
    next_number,
    publish,
    put_in_force,
    save_draft,
    take_draft,
)
from hub.core import bus
from hub.core.bounds import PROMPT_TEXT
from hub.core.errors import Conflict, InvalidInput, NotFound
from mcp_bridge import uris
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.templates import (
    LANGUAGES,
    MOST_REPEATS,
    PLACES,
    Filling,
    Template,
    check_places,
    closing_of,
    fill_places,
)


@cache
def shipped_texts(template: Template) -> dict[str, str]:
    """What is written while nobody has curated another text, by language."""
    return {name: (SHIPPED / f"{template}.{name}.md").read_text(encoding="utf-8") for name in LANGUAGES}


@transaction.atomic
def load_shipped_prompts() -> None:
    """Publish our texts where there are none, and newer ones in place of our older ones; curated ones stay."""
    in_force = {row.template: row for row in PromptVersion.objects.filter(status=PublicationStatus.PUBLISHED)}
    for template in Template:
        published = in_force.get(template)
        if published is None or (published.is_shipped and published.texts != shipped_texts(template)):
            put_in_force(shipped_version(template))


def shipped_version(template: Template) -> PromptVersion:
    """Make the next version of a prompt, with the texts that ship; not stored yet."""
    texts = shipped_texts(template)
    version = PromptVersion(template=template, text_ja=texts["ja"], text_en=texts["en"], is_shipped=True)
    version.number = next_number(version.versions())
    return version


def texts_in_force(template: Template) -> dict[str, str]:
    """The published texts by language, or those that ship where nobody has published any. One query."""
    published = PromptVersion.objects.filter(template=template, status=PublicationStatus.PUBLISHED).first()
    return published.texts if published else shipped_texts(template)


def write_prompt(filling: Filling) -> str:
    """Fill the text in force."""
    return fill_text(texts_in_force(filling.template), filling)


def fill_text(texts: dict[str, str], filling: Filling) -> str:
    """Fill one of the texts, and end it with the closing of its template. Texts must have passed ``check_places``."""
    written = fill_places(texts[filling.language], filling.values)
    return f"{written.rstrip()}\n\n{closing_of(filling.template, filling.language)}\n"


MAX_CHARACTERS = PROMPT_TEXT
LINES_AROUND = 3
SHIPPED = Path(__file__).resolve().parents[1] / "data" / "prompts"


def save_prompt_draft(*, principal: Principal, version: PromptVersion) -> None:
    """Store a draft, a new one under the next number; the caller becomes its author.

    Its texts may still lack places: that is looked at when it is published. Raises Forbidden, InvalidInput (a text that
    can't be stored), Conflict (no draft, or its prompt has one already).
    """
    principal.require_hub(HubRight.PROMPTS)
    refuse_problems(list(_unusable(version)))
    save_draft(principal=principal, version=version)


def new_prompt_version(*, principal: Principal, version_id: int) -> PromptVersion:
    """Copy a version into a new draft; the draft that there is, if there is one. Raises Forbidden, NotFound."""
    principal.require_hub(HubRight.PROMPTS)
    source = find_version(version_id)
    draft = find_draft(source)
    if draft is None:
        draft = PromptVersion(template=source.template, text_ja=source.text_ja, text_en=source.text_en)
        save_prompt_draft(principal=principal, version=draft)
    return draft


def publish_mcp_prompt(*, principal: Principal, version_id: int) -> PromptVersion:
    """Put a draft in force, and tell connected clients; the version before is retired.

    :raises InvalidInput: a text is empty, or names places that its prompt does not have, or lacks one that it needs.
    :raises Conflict: it is no draft. Also Forbidden, NotFound.
    """
    principal.require_hub(HubRight.PROMPTS)
    with transaction.atomic():
        draft = find_version(version_id)
        take_draft(draft)
        refuse_problems(problems_of(draft))
        _publish(principal, draft)
    return draft


def restore_shipped(*, principal: Principal, version_id: int) -> PromptVersion:
    """Put the text that ships in force again, as a new version, for the prompt of a version.

    Raises Forbidden, NotFound, Conflict (it is in force already).
    """
    principal.require_hub(HubRight.PROMPTS)
    with transaction.atomic():
        found = find_version(version_id)
        lock_versions(found)
        version = shipped_version(Template(found.template))
        in_force = found.versions().filter(status=PublicationStatus.PUBLISHED).first()
        if in_force is not None and in_force.texts == version.texts:
            raise Conflict(_("{prompt} has the text that ships already."), code="is_shipped", prompt=str(in_force))
        version.author_id = principal.user_id
        _publish(principal, version)
    return version


def find_version(version_id: int) -> PromptVersion:
    """Find a version by its key. Raises NotFound."""
    found = PromptVersion.objects.filter(pk=version_id).first()
    if found is None:
        raise NotFound(_("There is no such prompt."), code="prompt_not_found")
    return found


def problems_of(version: PromptVersion) -> list[str]:
    """What keeps a version from being published, in the active language; empty when nothing does."""
    return [*_unusable(version), *_misplaced(version)]


def difference(before: str, after: str) -> list[str]:
    """The lines that differ with three around them, as a unified diff without its head."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=LINES_AROUND, lineterm="")
    return list(lines)[2:]


def compared_with(version: PromptVersion) -> PromptVersion | None:
    """The version whose text a reader compares: a draft with the one in force, others with the one before."""
    others = version.versions()
    if version.is_draft:
        return others.filter(status=PublicationStatus.PUBLISHED).first()
    before = others.filter(number__lt=version.number).exclude(status=PublicationStatus.DRAFT)
    return before.order_by("-number").first()


def _publish(principal: Principal, version: PromptVersion) -> None:
    publish(principal=principal, version=version, facts={"note": version.note})
    transaction.on_commit(partial(bus.publish, uris.PROMPTS_TOPIC, {"prompt": Template(version.template).prompt}))


def _unusable(version: PromptVersion) -> Iterator[str]:
    for language, text in version.texts.items():
        if len(text) > MAX_CHARACTERS:
            yield _("The text ({language}) has {count} characters; {most} are allowed.").format(
                language=language, count=len(text), most=MAX_CHARACTERS
            )
        if odd := sorted({f"U+{ord(sign):04X}" for sign in text if _is_odd(sign)}):
            yield _("The text ({language}) has characters that can't be sent: {characters}.").format(
                language=language, characters=", ".join(odd[:10])
            )


def _is_odd(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\r\t"


def _misplaced(version: PromptVersion) -> Iterator[str]:
    places = PLACES[Template(version.template)]
    for language, text in version.texts.items():
        found = check_places(text, places)
        if not text.strip():
            yield _("The text ({language}) is empty.").format(language=language)
            continue
        if found.unknown:
            yield _("The text ({language}) has unknown places: {unknown}. This prompt has {known}.").format(
                language=language, unknown=_in_braces(found.unknown), known=_in_braces(sorted(places.known))
            )
        if found.missing:
            yield _("The text ({language}) lacks {missing}: what the caller gives there would be lost.").format(
                language=language, missing=_in_braces(found.missing)
            )
        if found.repeated:
            yield _("The text ({language}) has {repeated} more than {most} times.").format(
                language=language, repeated=_in_braces(found.repeated), most=MOST_REPEATS
            )


def _in_braces(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def refuse_problems(problems: list[str]) -> None:
    """Raise InvalidInput with all of the problems, if there are any."""
    if problems:
        raise InvalidInput("{problems}", code="prompt_invalid", problems=" ".join(problems))
