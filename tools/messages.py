"""Keep the Japanese catalogue in step with the code, without GNU gettext.

``python -m tools.messages`` reads every translatable text from Python and templates, adds what is new to
``locale/ja/LC_MESSAGES/django.po`` with an empty translation, and drops what nobody uses any more. It exits 1 and lists
the texts that still need a translation. The hub compiles the catalogue itself when it starts.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("hub", "knowledge", "review", "mcp_bridge")
CATALOGUE = ROOT / "locale" / "ja" / "LC_MESSAGES" / "django.po"
TEMPLATE_SUFFIXES = {".html", ".md", ".txt"}
# where the singular, the plural and the context stand among the arguments
_SHAPES: dict[str, tuple[int, int | None, int | None]] = {
    "_": (0, None, None),
    "gettext": (0, None, None),
    "gettext_lazy": (0, None, None),
    "gettext_noop": (0, None, None),
    "ngettext": (0, 1, None),
    "ngettext_lazy": (0, 1, None),
    "pgettext": (1, None, 0),
    "pgettext_lazy": (1, None, 0),
    "npgettext": (1, 2, 0),
}
_LITERAL = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_TEMPLATE_CALL = re.compile(rf"\b(?P<name>n?p?gettext|_)\(\s*(?P<arguments>{_LITERAL}(?:\s*,\s*{_LITERAL})*)")
_SPACED = re.compile(r"[ぁ-んァ-ヶ一-龠] %[(s]|%(?:\(\w+\))?[sd] [ぁ-んァ-ヶ一-龠]")
HEADER = {
    "Project-Id-Version": "hub",
    "Language": "ja",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Message:
    """A translatable text as gettext knows it."""

    msgid: str
    plural: str = ""
    context: str = ""


def python_messages(source: str) -> Iterator[Message]:
    """Find the messages of a Python module: calls with literal texts; implicit concatenation is one text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            texts = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
            yield from _message(name, texts)


def template_messages(source: str) -> Iterator[Message]:
    """Find the messages of a Django template."""
    for call in _TEMPLATE_CALL.finditer(templatize(source)):
        literals = re.findall(_LITERAL, call["arguments"])
        yield from _message(call["name"], [ast.literal_eval(literal.removeprefix("u")) for literal in literals])


def _message(name: str, texts: Sequence[object]) -> Iterator[Message]:
    if name not in _SHAPES:
        return
    parts = ["" if at is None else (texts[at] if at < len(texts) else None) for at in _SHAPES[name]]
    msgid, plural, context = parts
    if isinstance(msgid, str) and msgid and isinstance(plural, str) and isinstance(context, str):
        yield Message(msgid=msgid, plural=plural, context=context)


def used_messages() -> dict[Message, list[str]]:
    """Map every message of the packages and templates to the files that use it."""
    used: dict[Message, list[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            _note(used, python_messages(path.read_text(encoding="utf-8")), path.relative_to(ROOT))
    for path in sorted(path for folder in (ROOT, *map(ROOT.joinpath, PACKAGES)) for path in _templates(folder)):
        _note(used, template_messages(path.read_text(encoding="utf-8")), path.relative_to(ROOT))
    return used


def _templates(folder: Path) -> list[Path]:
    return [path for path in (folder / "templates").rglob("*") if path.suffix in TEMPLATE_SUFFIXES]


def spaced_messages() -> dict[Message, list[str]]:
    """Map the texts of Django's admin whose Japanese has a space beside a name that is put in: 変更する %s を選択."""
    import django

    path = Path("django", "contrib", "admin", "locale/ja/LC_MESSAGES/django.mo")
    entries = polib.mofile(str(Path(django.__file__).parent.parent / path))
    return {message_of(entry): [path.as_posix()] for entry in entries if _SPACED.search(translation_of(entry))}


def unfold_messages() -> dict[Message, list[str]]:
    """Map the texts of django-unfold that Django itself does not translate: it ships no Japanese of its own."""
    import django
    import unfold

    known = {
        entry.msgid
        for name in ("conf", "contrib/admin", "contrib/auth")
        for entry in polib.mofile(str(Path(django.__file__).parent / name / "locale/ja/LC_MESSAGES/django.mo"))
    }
    folder = Path(unfold.__file__).parent
    used: dict[Message, list[str]] = {}
    for path in sorted(folder.rglob("*.html")):
        if "unfold_crispy" not in path.parts and "contrib" not in path.parts:
            _note(used, template_messages(path.read_text(encoding="utf-8")), Path("unfold", path.name))
    for path in sorted(folder.rglob("*.py")):
        if "unfold_crispy" not in path.parts and "contrib" not in path.parts:
            _note(used, python_messages(path.read_text(encoding="utf-8")), Path("unfold", path.name))
    return {message: files for message, files in used.items() if message.msgid not in known}


def _note(used: dict[Message, list[str]], messages: Iterator[Message], path: Path) -> None:
    for message in messages:
        files = used.setdefault(message, [])
        if path.as_posix() not in files:
            files.append(path.as_posix())


def all_messages() -> dict[Message, list[str]]:
    """Map every message that the catalogue must translate to the files that use it."""
    everything = unfold_messages()
    for message, files in (*spaced_messages().items(), *used_messages().items()):
        everything.setdefault(message, []).extend(files)
    return _one_entry_per_text(everything)


def _one_entry_per_text(messages: dict[Message, list[str]]) -> dict[Message, list[str]]:
    """gettext looks a text up by msgid and context alone: with and without plural are one entry, the plural's."""
    merged: dict[tuple[str, str], tuple[Message, list[str]]] = {}
    for message, files in messages.items():
        key = (message.context, message.msgid)
        kept, noted = merged.get(key, (message, []))
        merged[key] = (message if message.plural else kept, [*noted, *files])
    return dict(merged.values())


def message_of(entry: polib.POEntry) -> Message:
    """Read the message of a catalogue's entry."""
    return Message(msgid=entry.msgid, plural=entry.msgid_plural or "", context=entry.msgctxt or "")


def translation_of(entry: polib.POEntry) -> str:
    """Give an entry's translation, that of the only plural form Japanese has where there is a plural."""
    return str(entry.msgstr_plural.get(0, "") if entry.msgid_plural else entry.msgstr)


def updated_catalogue(messages: dict[Message, list[str]], old: polib.POFile) -> polib.POFile:
    """Make the catalogue of ``messages``, in their order, with the old translations that still apply."""
    translations = {(entry.msgctxt or "", entry.msgid): translation_of(entry) for entry in old}
    catalogue = polib.POFile(wrapwidth=119)
    catalogue.metadata = HEADER
    for message in sorted(messages):
        text = translations.get((message.context, message.msgid), "")
        catalogue.append(
            polib.POEntry(
                msgid=message.msgid,
                msgctxt=message.context or None,
                msgid_plural=message.plural,
                msgstr="" if message.plural else text,
                msgstr_plural={0: text} if message.plural else {},
                occurrences=[(file, "") for file in sorted(set(messages[message]))],
            )
        )
    return catalogue


def main() -> int:
    """Update the catalogue; 1 while translations are missing."""
    old = polib.pofile(str(CATALOGUE)) if CATALOGUE.exists() else polib.POFile()
    catalogue = updated_catalogue(all_messages(), old)
    CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
    catalogue.save(str(CATALOGUE))
    missing = [entry.msgid for entry in catalogue if not translation_of(entry)]
    for msgid in missing:
        sys.stderr.write(f"needs a translation: {msgid!r}\n")
    sys.stderr.write(f"{len(catalogue)} messages, {len(missing)} without a translation\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
