"""What an embedded server says when it can't be started, reached or stopped."""

from __future__ import annotations

from hub.core.texts import Text


class EmbeddedServerError(Exception):
    """An embedded server can't do its work; the message says what is wrong, where, and what to do.

    ``text`` holds it in both languages; ``str()`` gives the English one.
    """

    def __init__(self, *, en: str, ja: str) -> None:
        super().__init__(en)
        self.text = Text(ja=ja, en=en)
