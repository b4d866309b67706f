"""Remarks that come with a result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A remark for people about a degraded or partial answer; ``code`` is stable, the texts are not."""

    code: str
    ja: str
    en: str

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "ja": self.ja, "en": self.en}
