"""The audit trail as a file for auditors: CSV, a JSON object a line, or CEF for what collects events."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.audit.events import EventFilter, details_for, list_events
from hub.core.errors import InvalidInput

CHUNK = 2000
COLUMNS = (
    *("id", "at", "kind", "action", "principal", "user_id", "resource", "details", "door", "address", "agent"),
    *("purpose", "request_id", "code"),
)
# A spreadsheet takes texts that begin so for formulas.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


class ExportFormat(NamedTuple):
    """How one kind of file is written: what is before the lines, each line, its type and the end of its name."""

    write: Callable[[AuditEvent, dict[str, Any]], str]
    content_type: str
    suffix: str
    head: str = ""


def export_events(
    principal: Principal, wanted: EventFilter, *, file_format: str
) -> tuple[Iterator[bytes], ExportFormat]:
    """Give the lines that the caller may read, oldest first, in parts of a file; the trail notes that it was taken.

    Raises Forbidden without the scope audit, InvalidInput for another format.
    """
    principal.require(Scope.AUDIT)
    form = FORMATS.get(file_format)
    if form is None:
        raise InvalidInput(
            _("format: {value!r} is not one of {allowed}."), value=file_format[:40], allowed=", ".join(FORMATS)
        )
    events = list_events(principal, wanted).order_by("id")
    record_event(principal, "AUDIT_EXPORT", "", format=file_format, asked=wanted.asked())
    return _parts(principal, form, events.iterator(chunk_size=CHUNK)), form


def _parts(principal: Principal, form: ExportFormat, events: Iterable[AuditEvent]) -> Iterator[bytes]:
    yield form.head.encode()
    lines: list[str] = []
    for event in events:
        lines.append(form.write(event, details_for(principal, event)))
        if len(lines) == CHUNK:
            yield "".join(lines).encode()
            lines = []
    yield "".join(lines).encode()


def facts_of(event: AuditEvent, details: dict[str, Any]) -> dict[str, Any]:
    """Give what a file says of a line, by the names of its columns."""
    facts = {name: getattr(event, name) for name in COLUMNS}
    return facts | {"at": event.at.isoformat(), "details": details}


def _csv_row(values: Iterable[object]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([_cell(value) for value in values])
    return target.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _as_csv(event: AuditEvent, details: dict[str, Any]) -> str:
    return _csv_row(facts_of(event, details).values())


def _as_json(event: AuditEvent, details: dict[str, Any]) -> str:
    return json.dumps(facts_of(event, details), ensure_ascii=False) + "\n"


def _as_cef(event: AuditEvent, details: dict[str, Any]) -> str:
    """A line in the Common Event Format, version 0: header fields with | escaped, then names and values."""
    facts: dict[str, Any] = {
        "rt": round(event.at.timestamp() * 1000),
        "externalId": event.pk,
        "suser": event.principal,
        "suid": event.user_id,
        "src": event.address if event.address and ":" not in event.address else None,
        "c6a2": event.address if event.address and ":" in event.address else None,
        "c6a2Label": "Source IPv6 Address" if event.address and ":" in event.address else None,
        "requestClientApplication": event.agent,
        "cs1": event.resource,
        "cs2": event.door,
        "cs3": event.request_id,
        "cs4": event.purpose,
        "cs5": event.code,
        "msg": json.dumps(details, ensure_ascii=False),
    }
    header = "|".join(_cef_header(text) for text in ("Hub", "Knowledge hub", "1", event.action, event.action))
    labels = {"resource": "cs1", "door": "cs2", "requestId": "cs3", "purpose": "cs4", "code": "cs5"}
    facts |= {f"{name}Label": label for label, name in labels.items() if facts[name]}
    severity = 5 if event.action in {"LOGIN_FAILED", "LOGIN_LOCKED"} else 3
    extension = " ".join(f"{name}={_cef_value(value)}" for name, value in facts.items() if value not in (None, ""))
    return f"CEF:0|{header}|{severity}|{extension}\n"


def _cef_header(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\r", " ").replace("\n", " ")


def _cef_value(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace("=", "\\=")
    return text.replace("\r", "\\r").replace("\n", "\\n")


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat(_as_csv, "text/csv; charset=utf-8", "csv", "\ufeff" + _csv_row(COLUMNS)),
    "jsonl": ExportFormat(_as_json, "application/x-ndjson", "jsonl"),
    "cef": ExportFormat(_as_cef, "text/plain; charset=utf-8", "cef"),
}
