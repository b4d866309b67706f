"""Texts that are stored or returned in Japanese and in English at once. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text in both languages; `hub.core.languages.shown` chooses the caller's."""

    ja: str
    en: str
