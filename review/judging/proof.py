"""Which quotes of a document prove something against a finding. Pure."""

from __future__ import annotations

import re

from knowledge.text.folding import normalise
from knowledge.text.quoting import fold_quote
from review.judging.unseen import Unfit
from review.types import Span

# A shorter quote proves nothing, wherever it stands.
LEAST_PROOF = 8
# A sentence about the review, or about how good the document is, treats nothing.
_ABOUT_REVIEW = re.compile(
    r"指摘(?:事項)?(?:は|を|が|も)?(?:不要|無用|なし|無い|ない|しな|取り下げ|覆|撤回)"
    r"|(?:審査|レビュー|査読|監査|確認)(?:は|を|が|も)?(?:済|完了|不要|通過)"
    r"|(?:本|この|当)(?:文書|書|設計書|計画書|資料)(?:は|が|で|に|の)[^。]{0,30}(?:完全|満た|満足|適合|合格|十分|問題(?:は|が)?な)"
    r"|(?:要件|要求|基準|規程|ガイドライン)(?:は|を|に)(?:すべて|全て)?(?:満た|適合|準拠)し(?:て|た)"
)


def is_proof(text: str, unfit: Unfit, span: Span, *, is_about_history: bool = False) -> bool:
    """Tell whether a quote is long enough, stands where a reader reads it, and is not about the review itself.

    ``unfit`` is what of the text proves nothing; the change history does where it ``is_about_history``.
    """
    quoted = text[span.start : span.end]
    if len(fold_quote(quoted)) < LEAST_PROOF or unfit.holds(span, is_about_history=is_about_history):
        return False
    return not _ABOUT_REVIEW.search(normalise("".join(quoted.split())))
