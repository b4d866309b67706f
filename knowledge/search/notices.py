"""What a search says to people about a partial or weak answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.core.texts import Text
from knowledge.types.notices import Notice

_MOST_NAMED = 5

QUERY_CUT = Notice(
    code="query_cut",
    ja="質問が長いため、ベクトル検索は先頭部分だけ、全文検索は特徴的な語だけを使いました。",
    en="The query is long: vector search used its beginning only, lexical search its first or rarest words only.",
)
LEXICAL_EMPTY = Notice(
    code="lexical_empty",
    ja="質問に検索できる語がないため、全文検索は使われませんでした。",
    en="The query has no words to look for, so lexical search had no part in the answer.",
)
LEXICAL_UNAVAILABLE = Notice(
    code="lexical_unavailable",
    ja="全文検索が使えないため、ベクトル検索だけで答えました。",
    en="Lexical search failed; vector search alone answered.",
)
PASSAGE_FACTS_UNAVAILABLE = Notice(
    code="passage_facts_unavailable",
    ja="全文検索の索引が読めないため、同じ文章の重複と目次を見分けずに並べました。",
    en="The lexical index can't be read; passages with the same text and tables of contents were not told apart.",
)
PASSAGES_UNRANKED = Notice(
    code="passages_unranked",
    ja="ベクトルも全文検索の索引も読めないため、文書内の箇所を関連の強い順に並べられませんでした。",
    en="Neither vectors nor the lexical index can be read, so the document's passages stand in its own order.",
)
SYNONYMS_UNAVAILABLE = Notice(
    code="synonyms_unavailable",
    ja="オントロジーが読めないため、同義語なしで検索しました。言い換えた語で書かれた文書は見つからないことがあります。",
    en="The ontologies can't be read; the search went on without synonyms, and may miss texts that use other words.",
)
PHRASES_UNAVAILABLE = Notice(
    code="phrases_unavailable",
    ja="全文検索の索引が読めないため、引用された語句は文章を一つずつ読んで探しました。隣り合う二つの文章にまたがるものは見つかりません。",
    en="The lexical index can't be read; passages were read one by one for the quoted phrase. One that lies across the "
    "border of two is not found.",
)
RERANKER_UNAVAILABLE = Notice(
    code="reranker_unavailable",
    ja="並べ替えモデル（RERANKER_MODEL）が使えないため、検索のスコアの順に並べました。",
    en="The reranker (RERANKER_MODEL) is not available; results stand in the order of their scores.",
)
EMBEDDER_MISMATCH = Notice(
    code="vector_unavailable",
    ja="保存済みのベクトルを作った埋め込みモデルが設定と異なるため、全文検索だけで答えました。",
    en="The configured embedding model did not make the stored vectors; lexical search alone answered.",
)
NO_GOOD_EVIDENCE = Notice(
    code="no_good_evidence",
    ja="質問に答える十分な根拠は見つかりませんでした。",
    en="No good evidence for this query was found.",
)
UNCALIBRATED = Notice(
    code="uncalibrated_scores",
    ja="この埋め込みモデルのスコアは較正されていません。しきい値 0.7 は目安になりません。",
    en="Scores of this embedding model are not calibrated; a threshold of 0.7 has no measured meaning.",
)
PHRASE_NOT_FOUND = Notice(
    code="phrase_not_found",
    ja="「」または引用符で囲まれた語句をそのまま含む文章はありません。囲みを外すと、近い文章を探せます。",
    en="No passage has the quoted phrase as it stands. Leave out the quotes to find similar passages.",
)
PHRASE_DIVIDED = Notice(
    code="phrase_divided",
    ja="囲まれた語句を一つで含む文章はなく、隣り合う二つの文章にまたがっています。続けてお読みください。",
    en="No single passage has the quoted phrase: it lies across the border of two neighbours. Read them together.",
)
NOTHING_TO_SEARCH = Notice(
    code="nothing_to_search",
    ja="検索できる文書のうち、条件に合うものがありません。絞り込みの値と、コレクションの閲覧権限を確かめてください。",
    en="No document that you may search passes the filter. Check its values, and your rights to the collection.",
)
PHRASE_CUT = Notice(
    code="phrase_cut",
    ja="引用された語句を含みうる文章が多いため、質問に近いものだけを調べました。",
    en="Many passages may have the quoted phrase; only those most like the query were looked at.",
)
OUTPUT_CUT = Notice(
    code="output_budget",
    ja="出力の上限（HUB_OUTPUT_BUDGET_CHARS）に達したため、残りは次のページにあります。",
    en="The output limit (HUB_OUTPUT_BUDGET_CHARS) was reached; the rest is on the next page.",
)
DOCUMENT_CUT = Notice(
    code="document_cut",
    ja="文書が出力の上限（HUB_OUTPUT_BUDGET_CHARS）より長いため、先頭だけを返しました。",
    en="A document is longer than the output limit (HUB_OUTPUT_BUDGET_CHARS); only its beginning is returned.",
)

# Which part a search went on without, by the code of its notice.
PARTS: Mapping[str, str] = {
    "vector_unavailable": "vector",
    LEXICAL_UNAVAILABLE.code: "lexical",
    PASSAGE_FACTS_UNAVAILABLE.code: "lexical",
    PHRASES_UNAVAILABLE.code: "phrases",
    SYNONYMS_UNAVAILABLE.code: "synonyms",
    RERANKER_UNAVAILABLE.code: "reranker",
}


_NO_REASON = Text(ja="", en="")


def vector_unavailable(reason: Text = _NO_REASON) -> Notice:
    return Notice(
        code="vector_unavailable",
        ja=f"ベクトル検索が使えないため、全文検索だけで答えました。{reason.ja}",
        en=f"Vector search is not available; lexical search alone answered. {reason.en}".strip(),
    )


def codes_not_found(codes: Sequence[str]) -> Notice:
    named = [code.upper() for code in codes[:_MOST_NAMED]]
    more = " …" if len(codes) > _MOST_NAMED else ""
    return Notice(
        code="code_not_found",
        ja=f"「{'」「'.join(named)}」{more}を含む文章は見つかりませんでした。",
        en=f"No passage was found that has {', '.join(named)}{more}.",
    )
