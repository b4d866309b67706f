"""Names of well-known rules elsewhere, and what of ours means the same.

``textlint:`` and the npm package's name without ``textlint-rule-``; a rule inside a preset is
``textlint:preset-NAME/RULE``. The parameters make ours mean what the other rule documents as its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A rule with parameters over its defaults."""

    rule_id: str
    params: Mapping[str, Any] = field(default_factory=dict)


def _use(rule_id: str, **params: object) -> Use:
    return Use(rule_id=rule_id, params=params)


_BODY = ("body",)
_TONE_APART = ("body", "list", "heading")

# Rules that are packages of their own.
_SINGLE: dict[str, tuple[Use, ...]] = {
    "ja-no-abusage": (_use("style.misuse"),),
    "ja-no-mixed-period": (_use("style.sentence_end", predicates_only=False),),
    "ja-no-redundant-expression": (_use("style.redundant"),),
    "ja-no-successive-word": (_use("style.successive_word"),),
    "ja-no-weak-phrase": (_use("style.weak_phrase"),),
    "ja-unnatural-alphabet": (_use("style.stray_letter"),),
    "max-kanji-continuous-len": (_use("style.kanji_run", max=5),),
    "max-ten": (_use("style.comma_count"),),
    "max-comma": (_use("style.ascii_comma_count"),),
    "no-double-negative-ja": (_use("style.double_negative"),),
    "no-doubled-conjunction": (_use("style.doubled_conjunction"),),
    "no-doubled-conjunctive-particle-ga": (_use("style.doubled_conjunctive_ga"),),
    "no-doubled-joshi": (_use("style.doubled_particle", allow=()),),
    "no-dropping-i": (_use("style.i_dropping"),),
    "no-dropping-the-ra": (_use("style.ra_dropping"),),
    "no-exclamation-question-mark": (_use("style.exclamation_question"),),
    "no-filler": (_use("style.filler"),),
    "no-hankaku-kana": (_use("style.halfwidth_kana"),),
    "no-invalid-control-character": (_use("style.control_character"),),
    "no-kangxi-radicals": (_use("style.kanji_radical"),),
    "no-mix-dearu-desumasu": (_use("style.mixed_tone", plain_ends="copula", kinds=_TONE_APART),),
    "no-nfd": (_use("style.decomposed_kana"),),
    "no-synonyms": (_use("style.noun_spelling"),),
    "no-unmatched-pair": (_use("style.bracket_pair"),),
    "no-zero-width-spaces": (_use("style.zero_width"),),
    "prefer-tari-tari": (_use("style.tari"),),
    "sentence-length": (_use("style.sentence_length"),),
    "ja-hiragana-fukushi": (_use("style.kana_preferred"),),
    "ja-hiragana-hojodoushi": (_use("style.kana_preferred"),),
    "ja-hiragana-keishikimeishi": (_use("style.kana_preferred", times=True),),
}
# Published under an organisation's name, too.
_SCOPED = ("no-filler", "no-synonyms", "no-dropping-i")
_SPACING: dict[str, tuple[Use, ...]] = {
    "ja-nakaguro-or-halfwidth-space-between-katakana": (_use("style.katakana_separator"),),
    "ja-no-space-around-parentheses": (_use("style.space_brackets"),),
    "ja-no-space-between-full-width": (_use("style.space_full_full"),),
    "ja-space-after-exclamation": (_use("style.space_after_mark", marks=("！",)),),
    "ja-space-after-question": (_use("style.space_after_mark", marks=("？",)),),
    "ja-space-around-code": (_use("style.space_code"),),
    "ja-space-around-link": (_use("style.space_link"),),
    "ja-space-between-half-and-full-width": (_use("style.space_half_full"),),
}
_JTF: dict[str, tuple[Use, ...]] = {
    "1.1.1.本文": (_use("style.mixed_tone", plain_ends="copula", kinds=_BODY),),
    "1.1.2.見出し": (_use("style.heading_stop"),),
    "1.1.3.箇条書き": (
        _use("style.mixed_tone", plain_ends="copula", kinds=("list",), by_group=True),
        _use("style.list_stop"),
    ),
    "1.1.5.図表のキャプション": (_use("style.mixed_tone", plain_ends="copula", kinds=("caption",)),),
    "1.2.1.句点(。)と読点(、)": (_use("style.punctuation"),),
    "1.2.2.ピリオド(.)とカンマ(,)": (_use("style.fullwidth_point"),),
    "2.1.10.算用数字の位取りの表記": (_use("style.number_separators"),),
    "2.1.2.漢字": (_use("style.uncommon_kanji"),),
    "2.1.5.カタカナ": (_use("style.halfwidth_kana"),),
    "2.1.6.カタカナの長音": (_use("style.katakana_long_vowel", endings="all", allow=()),),
    "2.1.8.算用数字": (_use("style.fullwidth_alphanumeric", classes=("digits",)),),
    "2.1.9.アルファベット": (_use("style.fullwidth_alphanumeric", classes=("letters",)),),
    "2.2.1.ひらがなと漢字の使い分け": (_use("style.kana_preferred", conjunctions=True),),
    "2.2.2.算用数字と漢数字の使い分け": (_use("style.numerals"),),
    "2.2.3.一部の助数詞の表記": (_use("style.counter_ka"),),
    "3.1.1.全角文字と半角文字の間": (_use("style.space_half_full"),),
    "3.1.2.全角文字どうし": (_use("style.space_full_full"),),
    "3.2.カタカナ語間のスペースの有無": (_use("style.katakana_separator"),),
    "3.3.かっこ類と隣接する文字の間のスペースの有無": (_use("style.space_brackets"),),
    "4.1.1.句点(。)": (_use("style.stop_in_brackets"),),
    "4.1.3.ピリオド(.)、カンマ(,)": (_use("style.fullwidth_point"),),
    "4.2.1.感嘆符(!)": (_use("style.mark_width", marks=("!",)),),
    "4.2.2.疑問符(?)": (_use("style.mark_width", marks=("?",)),),
    "4.2.4.中黒(・)": (_use("style.mark_width", marks=("･",)),),
    "4.2.5.波線(~)": (_use("style.mark_width", marks=("~",)),),
    "4.2.6.ハイフン(-)": (_use("style.discouraged_mark", marks=("hyphen",)),),
    "4.2.7.コロン(：)": (_use("style.mark_width", marks=(":",)),),
    "4.2.8.セミコロン(;)": (_use("style.discouraged_mark", marks=("semicolon",)),),
    "4.2.9.ダッシュ(-)": (_use("style.discouraged_mark", marks=("dash",)),),
    "4.3.1.丸かっこ()": (_use("style.bracket_width", brackets=("()",)),),
    "4.3.2.大かっこ［］": (_use("style.bracket_width", brackets=("[]",)),),
    "4.3.3.かぎかっこ「」": (_use("style.bracket_pair", pairs=("「」",)),),
    "4.3.4.二重かぎかっこ『』": (_use("style.bracket_pair", pairs=("『』",)),),
    '4.3.5.二重引用符""': (_use("style.bracket_pair", pairs=('""',)),),
    "4.3.6.中かっこ{ }": (_use("style.bracket_pair", pairs=("{}",)),),
    "4.3.7.山かっこ<>": (_use("style.bracket_pair", pairs=("<>",)),),
    "4.3.8.一重引用符''": (_use("style.bracket_pair", pairs=("''",)),),
}
# The same rules by the names that the preset's index gives them.
_JTF_OTHER_NAMES = {
    "2.2.3. 一部の助数詞の表記": "2.2.3.一部の助数詞の表記",
    "3.1.1. 全角文字と半角文字の間": "3.1.1.全角文字と半角文字の間",
    "3.1.2. 全角文字どうし": "3.1.2.全角文字どうし",
    "4.2.1.感嘆符(！)": "4.2.1.感嘆符(!)",
    "4.2.2.疑問符(？)": "4.2.2.疑問符(?)",
    "4.2.5.波線(〜)": "4.2.5.波線(~)",
    "4.3.1.丸かっこ（）": "4.3.1.丸かっこ()",
    "4.3.5.二重引用符": '4.3.5.二重引用符""',
    "4.3.8.一重引用符": "4.3.8.一重引用符''",
}
# Where this preset sets other parameters than the package itself.
_TECHNICAL_WRITING_OWN: dict[str, tuple[Use, ...]] = {
    "max-kanji-continuous-len": (_use("style.kanji_run", max=6),),
    "arabic-kanji-numbers": (_use("style.numerals"),),
    "no-mix-dearu-desumasu": (
        _use("style.mixed_tone", plain_ends="copula", kinds=("body",), prefer="ですます"),
        _use("style.mixed_tone", plain_ends="copula", kinds=("list",), prefer="である"),
        _use("style.mixed_tone", plain_ends="copula", kinds=("heading",)),
    ),
}
_TECHNICAL_WRITING = (
    "sentence-length",
    "max-comma",
    "max-ten",
    "ja-no-mixed-period",
    "no-double-negative-ja",
    "no-dropping-the-ra",
    "no-doubled-conjunctive-particle-ga",
    "no-doubled-conjunction",
    "no-doubled-joshi",
    "no-nfd",
    "no-invalid-control-character",
    "no-zero-width-spaces",
    "no-exclamation-question-mark",
    "no-hankaku-kana",
    "ja-no-weak-phrase",
    "ja-no-successive-word",
    "ja-no-abusage",
    "ja-no-redundant-expression",
    "ja-unnatural-alphabet",
    "no-unmatched-pair",
)


def _all() -> dict[str, tuple[Use, ...]]:
    jtf = _JTF | {other: _JTF[name] for other, name in _JTF_OTHER_NAMES.items()}
    technical = _TECHNICAL_WRITING_OWN | {name: _SINGLE[name] for name in _TECHNICAL_WRITING}
    by_name = (
        _SINGLE
        | _SPACING
        | {f"@textlint-ja/{name}": _SINGLE[name] for name in _SCOPED}
        | {f"preset-ja-spacing/{name}": uses for name, uses in _SPACING.items()}
        | {f"preset-ja-technical-writing/{name}": uses for name, uses in technical.items()}
        | {f"preset-jtf-style/{name}": uses for name, uses in jtf.items()}
    )
    return {f"textlint:{name}": uses for name, uses in by_name.items()}


ALIASES: dict[str, tuple[Use, ...]] = _all()


def aliases_of(rule_id: str) -> tuple[str, ...]:
    """Return the aliases under which a rule of ours runs, in alphabetical order."""
    return tuple(sorted(alias for alias, uses in ALIASES.items() if any(use.rule_id == rule_id for use in uses)))
