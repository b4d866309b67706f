"""How a text is prepared before any embedder sees it."""

import re
import unicodedata

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
SEGMENT_LENGTH = 1024
# ASCII, kana and ideographs never compose with the character before them, so NFKC may stop there.
SEGMENT = re.compile(
    rf"(?s:.{{1,{SEGMENT_LENGTH}}}(?=[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]|\Z)"
    rf"|.{{1,{SEGMENT_LENGTH}}})"
)


def normalise(text: str) -> str:
    """Replace lone surrogates by U+FFFD and apply NFKC, so that ｶﾞ and ガ become the same.

    Works in segments: Python's NFKC needs quadratic time for a long run of combining marks (11 s for
    100,000). Equal to NFKC of the whole unless 1,024 characters follow each other without any ASCII, kana or
    ideograph among them.
    """
    text = LONE_SURROGATE.sub("\ufffd", text)
    return "".join(unicodedata.normalize("NFKC", segment) for segment in SEGMENT.findall(text))


def prepare_text(text: str, *, prefix: str) -> str:
    """Build what the model reads: prefix and normalised text, without outer white space."""
    return (prefix + normalise(text).strip()).strip()


def default_prefixes(model: str) -> tuple[str, str]:
    """Give the (query, passage) prefixes a model was trained with: E5 has them, other families do not.

    Source: model card of intfloat/multilingual-e5-large, "Each input text should start with query: or
    passage:".
    """
    is_e5 = re.search(r"(?<![a-z0-9])e5(?![0-9])", model.lower()) is not None
    return ("query: ", "passage: ") if is_e5 else ("", "")
