"""Logs without personal data and secrets, in every process and with every handler: records are masked as they are made.

Handlers and formatters of others (the web server's, Celery's, a test's) get the masked record, so that none has to be
told. Importing the settings installs it.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType

from hub.core.masking import mask

LONGEST = 20_000
"""The most characters of a message, and of a traceback's end, that are looked through and logged."""


class MaskedRecord(logging.LogRecord):
    """A record whose message, arguments and traceback are masked. Numbers stay numbers."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # whatever the standard library gives
        if isinstance(self.args, tuple):
            self.args = tuple(_masked(value) for value in self.args)
        elif isinstance(self.args, dict):
            self.args = {name: _masked(value) for name, value in self.args.items()}
        if self.exc_info and self.exc_info[0] is not None:
            self.exc_text = masked_traceback(*self.exc_info)  # formatters take it as it is
        if self.stack_info:
            self.stack_info = mask(self.stack_info)

    def getMessage(self) -> str:
        """Give the message with its arguments in it, masked again: a label may be in one and its value in the other."""
        return mask(_shortened(super().getMessage()))


def masked_traceback(kind: type[BaseException], error: BaseException | None, place: TracebackType | None) -> str:
    """Give a traceback as text, without its last line end, masked."""
    return mask("".join(traceback.format_exception(kind, error, place))[-LONGEST:].rstrip("\n"))


def _masked(value: object) -> object:
    """Mask what holds text; what formats ask to be a number, and what has no text of a person, stays as it is."""
    if value is None or hasattr(value, "__float__"):
        return value
    if isinstance(value, str):
        return mask(_shortened(value))
    return _MaskedObject(value)


class _MaskedObject:
    """Shows as an object does, masked."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        return mask(_shortened(str(self._value)))

    def __repr__(self) -> str:
        return mask(_shortened(repr(self._value)))

    def __getattr__(self, name: str) -> object:
        return getattr(self._value, name)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + f" … ({len(text)} characters)"


def install() -> None:
    """Have every record of this process masked, and what ends it or a thread of it shown masked. Again is no harm."""
    logging.setLogRecordFactory(MaskedRecord)
    logging.captureWarnings(True)
    sys.excepthook = _show
    threading.excepthook = lambda args: _show(args.exc_type, args.exc_value, args.exc_traceback)


def _show(kind: type[BaseException], error: BaseException | None, place: TracebackType | None) -> None:
    if sys.stderr is not None and not issubclass(kind, SystemExit):
        sys.stderr.write(masked_traceback(kind, error, place) + "\n")


install()
