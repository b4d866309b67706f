"""Remarks that come with a result."""

from __future__ import annotations

from dataclasses import dataclass

from hub.core.texts import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Text):
    """A remark for people about a degraded or partial answer; ``code`` is stable, the texts are not."""

    code: str

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "ja": self.ja, "en": self.en}
