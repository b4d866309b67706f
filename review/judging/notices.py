"""What a review tells people about its language model."""

from __future__ import annotations

from hub.core.errors import HubError
from hub.core.languages import in_both
from knowledge.types.notices import Notice

NOT_WANTED = Notice(
    code="llm_not_wanted",
    ja="この項目の判定には言語モデルが必要ですが、このレビューは規則だけで判定する指定です（judge=rules）。",
    en="This item needs a language model, and the review was asked to judge by rules only (judge=rules).",
)
NO_SAMPLING = Notice(
    code="sampling_unavailable",
    ja="この項目は呼び出し側の言語モデル（サンプリング）で判定する指定ですが、呼び出し側に使えるモデルがないか、呼び出しの"
    "時間（wait_seconds）のうちに答えませんでした。",
    en="This item was to be judged by the caller's own language model (sampling), and the caller offered none, or it "
    "did not answer within the call's time (wait_seconds).",
)
NOT_REPEATED = Notice(
    code="callers_model_not_repeated",
    ja="元のレビューでは、依頼した人自身の言語モデルがこの項目を判定しました。その答えは残していないため、再現できません。",
    en="In the original review the own language model of who asked for it judged this item. Its answers are not kept, "
    "so they can't be repeated.",
)
SUGGESTIONS_NOT_REPEATED = Notice(
    code="llm_suggestions_not_repeated",
    ja="元のレビューの是正提案は、依頼した人自身の言語モデルによるものです。その答えは残していないため、再現できません。",
    en="The suggestions in the original review are of the own language model of who asked for it. Its answers are not "
    "kept, so they can't be repeated.",
)
BUDGET_STOP = Notice(
    code="llm_budget_stop",
    ja="言語モデルの予算（HUB_LLM_TOKEN_BUDGET、HUB_LLM_COST_BUDGET）に達したため、この項目は判定していません。"
    "それまでの結果は有効です。",
    en="The budget for language models (HUB_LLM_TOKEN_BUDGET, HUB_LLM_COST_BUDGET) is used up, so this item was not "
    "judged. The results so far hold.",
)
CONTEXT_HALVED = Notice(
    code="llm_context_halved",
    ja="言語モデルが時間内に答えなかったため、渡す本文を減らして判定しました。",
    en="The language model did not answer in time, so it judged with less of the document.",
)
EXCERPTS_ONLY = Notice(
    code="llm_excerpts_only",
    ja="文書が長いため、項目に関係する箇所だけを言語モデルに渡しました。",
    en="The document is long: the language model saw only the passages that bear on the item.",
)
SCREENING_FAILED = Notice(
    code="llm_screening_failed",
    ja="軽いモデルによる選別ができなかったため、検索の順に箇所を選びました。",
    en="The light model could not screen the passages, so they were chosen by search alone.",
)
SECTION_SUMMARIES = Notice(
    code="llm_section_summaries",
    ja="文書が長いため、節ごとの要約で全体を見渡して箇所を選びました。要約は案内にだけ使い、根拠にはしていません。",
    en="The document is long: passages were chosen with the help of summaries of its sections. Summaries only lead to "
    "passages; nothing rests on them.",
)
SUMMARIES_INCOMPLETE = Notice(
    code="llm_summaries_incomplete",
    ja="一部の節には要約がありません（モデルが使える要約を返さなかったか、モデルへの指示と読める文がある節）。"
    "その節は検索だけで選んでいます。",
    en="Some sections have no summary: the model gave none that can be used, or they hold text that speaks to models. "
    "They were looked through by search alone.",
)
NO_SUMMARIES = Notice(
    code="llm_summaries_not_made",
    ja="節ごとの要約は、予算（HUB_LLM_TOKEN_BUDGET、HUB_LLM_COST_BUDGET）に対して文書が大きいか、呼び出し側のモデルへの"
    "依頼が多くなりすぎるため作っていません。箇所は検索で選びました。",
    en="Summaries of the sections were not made: the document is large for the budget (HUB_LLM_TOKEN_BUDGET, "
    "HUB_LLM_COST_BUDGET), or the caller's model would be asked too often. Passages were chosen by search.",
)
UNVERIFIED = Notice(
    code="llm_unverified",
    ja="言語モデルが挙げた引用の一部が本文にありません。その指摘は未検証で、人の確認が必要です。",
    en="Some of the language model's quotes do not stand in the document; those findings are unverified and need a "
    "person.",
)
CANNOT_TELL = Notice(
    code="llm_cannot_tell",
    ja="言語モデルは、渡された箇所からは判定できないと答えました。人が判定してください。",
    en="The language model could not tell from the passages. A person has to decide.",
)
INSTRUCTION_IN_DOCUMENT = Notice(
    code="instruction_in_document",
    ja="言語モデルに渡した箇所に、モデルへの指示と読める文がありました。その文は渡していません。判定は人が確認してください。",
    en="The passages hold text that reads like an instruction to a model. It was withheld; a person should look at "
    "this verdict.",
)
PASS_NOT_TAKEN = Notice(
    code="llm_pass_not_taken",
    ja="言語モデルは適合としましたが、本文にモデルへの指示と読める文があるため採用していません。人が判定してください。",
    en="The language model said pass, but the document holds text that speaks to models, so it does not count. "
    "A person has to decide.",
)
BELOW_THRESHOLD = Notice(
    code="llm_below_threshold",
    ja="言語モデルの評点が、チェック項目の合格基準に達していません。",
    en="The language model's score is below the check item's threshold.",
)
VOTES_DISAGREE = Notice(
    code="llm_votes_disagree",
    ja="言語モデルの複数回の判定が一致していません。指摘ごとに、何回中何回の判定で挙がったかを示しています。",
    en="The language model's answers disagree. Each finding tells in how many of them it came.",
)
VOTES_UNDECIDED = Notice(
    code="llm_votes_undecided",
    ja="適合で全回一致せず、不適合も過半数に達していません。人が判定してください。",
    en="The answers are not all a pass, and fewer than half of them are a fail. A person has to decide.",
)
NOT_REPLAYED = Notice(
    code="llm_not_replayed",
    ja="元のレビューで言語モデルの判定がないため、再現していません。",
    en="The original review has no judgement of a language model here to replay.",
)
SUGGESTIONS_NO_MODEL = Notice(
    code="llm_suggestions_no_model",
    ja="言語モデルを使わない設定または指定のため、是正提案は規則によるものだけです。",
    en="No language model is configured or wanted, so there are only the suggestions that rules make.",
)
SUGGESTIONS_BUDGET = Notice(
    code="llm_suggestions_budget",
    ja="言語モデルの予算（HUB_LLM_TOKEN_BUDGET、HUB_LLM_COST_BUDGET）に達したため、言語モデルの是正提案は一部またはすべての"
    "指摘にありません。規則による提案は有効です。",
    en="The budget for language models (HUB_LLM_TOKEN_BUDGET, HUB_LLM_COST_BUDGET) is used up, so some or all findings "
    "have no suggestion by a model. Those that rules make hold.",
)
SUGGESTIONS_REFUSED = Notice(
    code="llm_suggestions_refused",
    ja="言語モデルの是正提案のうち、根拠の引用が本文にないものは採用していません。",
    en="Suggestions by the language model whose quotes do not stand in the document were not taken.",
)
SUGGESTIONS_LIMITED = Notice(
    code="llm_suggestions_limited",
    ja="指摘が多いため、重大な指摘にだけ言語モデルの是正提案を求めました。",
    en="There are many findings: the language model was asked for suggestions for the most severe ones only.",
)
SUGGESTIONS_WITHHELD = Notice(
    code="llm_suggestions_withheld",
    ja="言語モデルへの指示と読める文の近くの指摘は、言語モデルに渡していません。提案は規則によるものだけです。",
    en="Findings near text that reads like an instruction to a model were not shown to it; they have the suggestions "
    "of rules only.",
)
LINT_NO_MODEL = Notice(
    code="llm_lint_no_model",
    ja="言語モデルが設定されていないため、点検は規則だけで行いました（LLM_PROVIDER）。",
    en="No language model is configured (LLM_PROVIDER), so only the rules looked at the items.",
)
LINT_PARTIAL = Notice(
    code="llm_lint_partial",
    ja="時間内に言語モデルがすべての項目を点検できませんでした。もう一度実行すると、続きから点検します。",
    en="The language model did not get through all items in time. Ask again: it goes on where it stopped.",
)
LINT_BUDGET = Notice(
    code="llm_lint_budget",
    ja="言語モデルの予算（HUB_LLM_TOKEN_BUDGET、HUB_LLM_COST_BUDGET）に達したため、残りの項目は規則だけで点検しました。",
    en="The budget for language models (HUB_LLM_TOKEN_BUDGET, HUB_LLM_COST_BUDGET) is used up: only the rules looked "
    "at the remaining items.",
)
LINT_REFUSED = Notice(
    code="llm_lint_refused",
    ja="言語モデルの指摘のうち、引用が項目の文にないもの、書き換え案のないものは採用していません。",
    en="Remarks of the language model whose quotes do not stand in the item, or that propose no wording, were not "
    "taken.",
)
COMPLAINTS = {
    "no_grounds": Notice(
        code="llm_no_grounds",
        ja="言語モデルは適合としましたが、根拠の引用が本文にありません。判定は採用していません。",
        en="The language model said pass, but its quotes do not stand in the document. The verdict does not count.",
    ),
    "contradiction": Notice(
        code="llm_contradiction",
        ja="言語モデルの判定と指摘が食い違っています。判定は採用していません。",
        en="The language model's verdict and findings contradict each other. The verdict does not count.",
    ),
    "only_fabricated": Notice(
        code="llm_only_fabricated",
        ja="言語モデルの指摘の引用が、どれも本文にありません。不適合の判定は確かではありません。",
        en="None of the language model's quotes stands in the document, so its fail is not certain.",
    ),
}


def suggestions_failed(error: HubError) -> Notice:
    """Say why a model gave no suggestions for some findings."""
    said = in_both(error)
    return Notice(
        code="llm_suggestions_failed",
        ja=f"一部の指摘で、言語モデルの是正提案を得られませんでした。{said.ja}",
        en=f"The language model gave no suggestions for some findings. {said.en}",
    )


def lint_failed(error: HubError) -> Notice:
    """Say why a model did not look at some items."""
    said = in_both(error)
    return Notice(
        code="llm_lint_failed",
        ja=f"一部の項目を言語モデルが点検できませんでした。{said.ja}",
        en=f"The language model did not look at some items. {said.en}",
    )


def failed(error: HubError, *, was_asked: bool) -> Notice:
    """Say why a model gave no usable judgement; ``was_asked`` tells a failure from a request that was never sent."""
    said = in_both(error)
    before_ja = "言語モデルから使える判定を得られませんでした。" if was_asked else "言語モデルに渡していません。"
    before_en = "The language model gave no usable judgement." if was_asked else "The language model was not asked."
    return Notice(code=error.error_code, ja=f"{before_ja}{said.ja}", en=f"{before_en} {said.en}")
