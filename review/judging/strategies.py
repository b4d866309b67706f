"""How a check is to be supported by retrieval, and the name and the words for what was really consulted. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hub.core.texts import Text
from review.types import STRATEGY_BY_TYPE, Consulted, Master

# What a result says of its strategy besides those that a check item may name.
NOTHING, RULES, MODEL = "none", "rules", "model"
_PASSAGES = frozenset({Consulted.VECTOR, Consulted.LEXICAL})
_BY_SOURCE = {Consulted.VECTOR: "vector_rag", Consulted.GRAPH: "graph_rag", Consulted.ONTOLOGY: "ontology"}
_READ = {
    Master.TOPICS: Text(ja="オントロジーの記載事項", en="the ontology's topics"),
    Master.ARTICLES: Text(ja="指針の条項", en="the guidelines' articles"),
    Master.RELATED: Text(ja="関連文書", en="the related documents"),
}
_ANSWERED = {
    Consulted.VECTOR: Text(ja="意味による検索", en="search by meaning"),
    Consulted.LEXICAL: Text(ja="語による検索", en="search by words"),
    Consulted.GRAPH: Text(ja="ナレッジグラフ", en="the knowledge graph"),
    Consulted.ONTOLOGY: Text(ja="オントロジー", en="the ontology"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The strategy by which a check is to be supported, and why this one."""

    strategy: str
    reason: Text


def plan_strategy(*, check_type: str, strategy: str, forced: str | None) -> Plan:
    """Return the strategy that the caller forces, or the item's own, or that of its type."""
    if forced:
        return Plan(
            strategy=forced,
            reason=Text(ja=f"呼び出し側が方式「{forced}」を指定した。", en=f"The caller forced {forced}."),
        )
    by_type = STRATEGY_BY_TYPE.get(check_type, "hybrid")
    if strategy and strategy != by_type:
        return Plan(
            strategy=strategy,
            reason=Text(
                ja=f"チェック項目に方式「{strategy}」が指定されている。", en=f"The check item names {strategy}."
            ),
        )
    reason = Text(
        ja=f"方式「{by_type}」はチェック種別「{check_type}」の既定。",
        en=f"{by_type} is the default for checks of type {check_type}.",
    )
    return Plan(strategy=by_type, reason=reason)


def strategy_of(consulted: Collection[Consulted]) -> str:
    """Name what was consulted: the source of retrieval, hybrid for several; rules or model where there was none.

    >>> strategy_of([Consulted.RULES]), strategy_of([Consulted.VECTOR, Consulted.LEXICAL, Consulted.MODEL])
    ('rules', 'vector_rag')
    """
    sources = {Consulted.VECTOR if each in _PASSAGES else each for each in consulted} & set(_BY_SOURCE)
    if len(sources) > 1:
        return "hybrid"
    for source in sources:
        return _BY_SOURCE[source]
    if Consulted.MODEL in consulted:
        return MODEL
    return RULES if Consulted.RULES in consulted else NOTHING


def reason_of(
    consulted: Collection[Consulted], *, reads: Collection[Master] = (), paths: int = 0, plan: Plan | None = None
) -> Text:
    """Say what decided a check and what it was decided with; ``plan`` where a strategy led to it."""
    said = [plan.reason] if plan else []
    if Consulted.RULES in consulted:
        said.append(_by_rules([_READ[master] for master in Master if master in reads]))
    retrieved = [text for source, text in _ANSWERED.items() if source in consulted and _is_retrieved(source, plan)]
    if retrieved:
        said.append(_listed(retrieved, ja="{} から集めた。", en="Gathered from {}."))
    if paths:
        said.append(
            Text(ja=f"グラフの経路 {paths} 件を根拠に示す。", en=f"Paths of the knowledge graph in evidence: {paths}.")
        )
    if Consulted.MODEL in consulted:
        said.append(Text(ja="言語モデルが判定した。", en="A language model judged."))
    if not said:
        said.append(Text(ja="何も実行していない。", en="Nothing was run."))
    return Text(ja="".join(text.ja for text in said), en=" ".join(text.en for text in said))


def _is_retrieved(source: Consulted, plan: Plan | None) -> bool:
    """Tell whether a source was asked for the check, and not read by a rule."""
    return plan is not None or source in _PASSAGES


def _by_rules(read: list[Text]) -> Text:
    if not read:
        return Text(ja="規則だけで判定した。検索は要らない。", en="Rules alone; they need no retrieval.")
    return _listed(read, ja="規則が文書を {} と照らした。", en="Rules held the document against {}.")


def _listed(texts: list[Text], *, ja: str, en: str) -> Text:
    return Text(ja=ja.format("、".join(text.ja for text in texts)), en=en.format(", ".join(text.en for text in texts)))
