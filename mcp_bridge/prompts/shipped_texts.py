"""The texts that ship for the MCP prompts, in both languages: what is written while nobody has curated another one."""

from __future__ import annotations

from mcp_bridge.prompts.templates import Template

SHIPPED: dict[Template, dict[str, str]] = {
    Template.REVIEW: {
        "ja": """以下の{document_type}をレビューしてください。

対象文書の document_id: {document_id}

重点チェック領域:
{focus_areas}

報告する最低重要度: {severity}（critical > major > minor > info）

手順:
1. get_check_items で、この文書種別のチェック項目を確認する。
2. review_document を実行する。status が queued または running なら、get_review で結果を待つ。
3. 指摘事項を重要度の順に示す。各指摘には、箇所（section_path、ページ、行）と原文の引用（evidence.quote）を付ける。
4. skipped または error のチェックは合格として扱わず、判定できなかった理由とともに別に示す。
5. 各指摘に是正提案を付ける。文書に書かれていないことを推測で補わない。
""",
        "en": """Review the following document: {document_type}.

Its document_id: {document_id}

Look at these areas first:
{focus_areas}

Least severity to report: {severity} (critical > major > minor > info)

Steps:
1. Read the check items of this document type with get_check_items.
2. Call review_document. While status is queued or running, wait for the result with get_review.
3. List the findings by severity. Give each its place (section_path, page, lines) and the quote (evidence.quote).
4. Checks that are skipped or error are not passed: list them apart, with the reason why they are undecided.
5. Give each finding a suggestion. Do not fill in by guessing what the document does not say.
""",
    },
    Template.SUGGESTION: {
        "ja": """次の指摘事項に対する是正提案を書いてください。

指摘事項: {finding}

関連コンテキスト（文書からの引用）: {context}

参照ガイドライン: {guideline}

条件:
- 何を、どこに、どのように書き直すかを具体的に示す。
- 文書の文体（である調・ですます調）に合わせた記載例を一つ付ける。
- 数値や固有名詞が文書に無い場合は作らず、「【要確認】」と書く。
- 参照ガイドラインがある場合は、どの条項を満たすための提案かを示す。
""",
        "en": """Write a suggestion that repairs this finding.

Finding: {finding}

Context (quoted from the document): {context}

Guideline: {guideline}

Conditions:
- Say precisely what to write, where, and how.
- Give one example in the document's own style.
- Where the document has no figure or name, do not invent one: write [to be confirmed].
- With a guideline, say which article the suggestion satisfies.
""",
    },
    Template.QUERY: {
        "ja": """次のチェック項目について、文書から根拠となる箇所を探すための検索クエリを作ってください。

チェック項目: {check_item}

文書コンテキスト: {document_context}

条件:
- クエリは 3〜5 個。文書に書かれていそうな言い回し、同義語や略語を使ったもの、短いキーワードだけのものを必ず含める。
- それぞれを search で実行し、見つからなければ vector_search を threshold 0.5 で試す。
- 見つかった箇所は、引用、文書名、章節、ページとともに示す。見つからないときは、探した語を挙げて「記載なし」とする。
""",
        "en": """Write search queries that find the evidence for this check item in the documents.

Check item: {check_item}

Document context: {document_context}

Conditions:
- 3 to 5 queries: one in words that the document is likely to use, one with synonyms or abbreviations, one of short
  keywords only.
- Run each with search; if nothing is found, try vector_search with threshold 0.5.
- Give each passage with its quote, document, section and page. If there is none, say so and name what was looked for.
""",
    },
    Template.SYNTHESIS: {
        "ja": """次の検索結果を、一つのコンテキストに統合してください。

Vector 検索結果: {vector_results}

Graph 検索結果: {graph_results}

最大コンテキスト長: {max_context_length} トークン

条件:
- 同じ内容は一度だけ書く。出典（文書名、章節、ページ、chunk_id、グラフの経路）は、まとめたものすべてを付ける。
- 原文は言い換えず、引用として残す。数値、条項番号、固有名詞は変えない。
- 検索結果どうしが食い違う箇所は、どちらかに寄せず、両方を出典とともに並べて「【相違】」と書く。
- score の高いもの、Vector と Graph の両方に現れるものから順に並べる。長さを超えるときは下位から省き、省いた件数を書く。
- 検索結果にないことは書かない。
""",
        "en": """Join these search results into one context.

Results of the vector search: {vector_results}

Results of the graph search: {graph_results}

Greatest length: {max_context_length} tokens

Conditions:
- Write the same content once, with all its sources (document, section, page, chunk_id, path in the graph).
- Keep the documents' words as quotes. Do not change figures, article numbers and names.
- Where results contradict each other, do not choose: put both side by side with their sources, marked [differs].
- Order by score; what both searches found comes first. When it gets too long, leave out from the end and say how many.
- Add nothing that the results do not say.
""",
    },
    Template.COVERAGE_OF_STRUCTURE: {
        "ja": """文書の構造が、必須カテゴリを網羅しているかを確認してください。

文書構造: {document_structure}

必須カテゴリ: {required_categories}

深さ: {depth}

手順:
1. 必須カテゴリごとに、対応する章節（見出しの階層）を挙げ、記載あり、見出しのみ、なしを区別する。
2. 名称が違っても内容が同じ見出しは対応ありとし、そう見なした理由を書く。
3. なしのカテゴリごとに、置くべき場所と、書くべき内容を示す。文書に無い数値や名称は作らず「【要確認】」と書く。
4. 見出しの階層の飛びや重複があれば、直し方を示す。
""",
        "en": """Check whether the structure of a document covers the categories that it must treat.

Structure of the document: {document_structure}

Categories that it must treat: {required_categories}

Depth: {depth}

Steps:
1. For each category name the section (path of headings) that treats it; tell treated, heading only and missing apart.
2. A heading with another name but the same content counts: say why.
3. For each missing category say where it belongs and what to write. Write [to be confirmed] for unknown figures.
4. Where headings skip a level or repeat, say how to repair them.
""",
    },
    Template.COVERAGE_OF_DOCUMENT: {
        "ja": """文書の網羅性を、オントロジーに基づいて検証してください。

対象文書の document_id: {document_id}
ドメイン: {domain}
検証の種類: {check_type}

手順:
1. check_ontology_coverage を、上の document_id、domain、check_type で実行する。
2. coverage_rate を示し、missing_items を重要度の順に、status（missing、mentioned、empty）を区別して示す。
3. mentioned と empty は、evidence.quote を引用して、なぜ記載と見なせないかを説明する。
4. 不足している項目ごとに、expected_location と、書くべき内容を示す。文書に無い数値や名称は作らず「【要確認】」と書く。
5. hierarchy_issues があれば、見出しの直し方を示す。
""",
        "en": """Check what a document covers, against an ontology.

Its document_id: {document_id}
Domain: {domain}
Kind of check: {check_type}

Steps:
1. Call check_ontology_coverage with the document_id, domain and check_type above.
2. Give coverage_rate, and missing_items by severity; tell missing, mentioned and empty apart.
3. For mentioned and empty, quote evidence.quote and say why it does not count as treated.
4. For each gap give expected_location and what to write. Write [to be confirmed] for unknown figures and names.
5. If there are hierarchy_issues, say how to repair the headings.
""",
    },
    Template.REASONING_RESULT: {
        "ja": """オントロジーの推論結果を解釈してください。

推論結果: {inference_result}

検証コンテキスト: {context}

{explain}

条件:
- 推論結果が、検証コンテキストについて何を意味するかを述べる。推論にないことは「オントロジーからは導けない」とする。
- 矛盾（consistency_result が false、violations）があれば、一件ずつ説明し、直し方を示す。
- confidence の低い事実は、断定せずその値とともに示す。
""",
        "en": """Explain what was inferred from an ontology.

What was inferred: {inference_result}

What is being verified: {context}

{explain}

Conditions:
- Say what the result means for what is being verified. What was not inferred does not follow: say so.
- Where there is a contradiction (consistency_result false, violations), explain each and how to repair it.
- Give facts of low confidence with that figure, not as certain.
""",
    },
    Template.REASONING_QUESTION: {
        "ja": """オントロジーの推論結果をもとに、次の問いに答えてください。

ドメイン: {domain}
推論の種類: {inference_type}
対象クラス: {target_class}
問い: {question}

手順:
1. reason_ontology を、上の ontology_domain、inference_type、target_class で実行する。
2. 答えを述べ、根拠として inferred_facts の chain を示す。導かれていないことは「オントロジーからは導けない」とする。
3. consistency_result が false なら、violations を一件ずつ説明し、直し方を示す。
""",
        "en": """Answer a question from what follows from an ontology.

Domain: {domain}
Kind of inference: {inference_type}
Class: {target_class}
Question: {question}

Steps:
1. Call reason_ontology with the ontology_domain, inference_type and target_class above.
2. Answer, and give the chain of the inferred_facts that it rests on. What does not follow is not known: say so.
3. If consistency_result is false, explain each of the violations and how to repair it.
""",
    },
}
