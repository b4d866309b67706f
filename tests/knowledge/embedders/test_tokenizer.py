import pytest
from tokenizers import Tokenizer as ReferenceTokenizer

from knowledge.embedders.base import prepare_text
from knowledge.embedders.bundled.tokenizer import LONGEST_STRETCH, Tokenizer
from knowledge.embedders.bundled.weights import Weights, find_weights

from .reference_tokenizer import build_reference


@pytest.fixture(scope="module")
def reference() -> ReferenceTokenizer:
    return build_reference(Weights(find_weights()).vocabulary)


def test_real_texts_get_the_tokens_of_the_tokenizers_package(
    tokenizer: Tokenizer, reference: ReferenceTokenizer, real_texts: list[str]
) -> None:
    prepared = [prepare_text(text, prefix="passage: ") for text in real_texts]

    different = [text for text in prepared if tokenizer.encode(text) != reference.encode(text).ids]

    assert len(prepared) >= 450
    assert different == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ｶﾞｽ会社のﾊﾟｿｺﾝ",
        "か\u3099くせいのは\u309aん",
        "①②③㈱㍿",
        "ＡＢＣ\u3000１２３",
        "👍🏽お疲れ様です👨‍👩‍👧",
        "a\t\nb   c",
        "日\u200b本",
        "〜～ー−",
        "𠮷野家の神社 \ufa19",
        "a\0b\x01\x7f",
        "\ufeffabc",
        "a\u2581b",
        "e\u0301 A\u030a \u1112\u1161\u11ab",
        "\ue000\ue001未知\ue002",
        "\ue000\ue001 \ue002 \ue003\ue004",
        "ーーーーーーー〜〜〜〜〜",
        "----------|||||||||||..........",
        "ああああああああああああああ、ああああああああ",
        "第12345678901234567890条（1,234,567,890円）",
    ],
)
def test_odd_characters_get_the_tokens_of_the_tokenizers_package(
    tokenizer: Tokenizer, reference: ReferenceTokenizer, text: str
) -> None:
    prepared = prepare_text(text, prefix="query: ")

    assert tokenizer.encode(prepared) == reference.encode(prepared).ids


@pytest.mark.parametrize("special", ["<s>", "</s>", "<pad>", "<unk>", "<mask>"])
def test_special_tokens_typed_in_a_text_are_plain_text(
    tokenizer: Tokenizer, reference: ReferenceTokenizer, special: str
) -> None:
    control = {*range(4), 250_001}

    ids = tokenizer.encode(f"取り消し線は{special}自由に{special}書く")

    assert control.isdisjoint(ids[1:-1])
    assert ids == reference.encode(f"取り消し線は{special}自由に{special}書く").ids


def test_encode_stops_at_max_tokens_and_keeps_the_end_token(tokenizer: Tokenizer) -> None:
    whole = tokenizer.encode("申請書を提出する。" * 200)

    cut = tokenizer.encode("申請書を提出する。" * 200, max_tokens=512)

    assert len(cut) == 512
    assert cut == [*whole[:511], whole[-1]]


def test_count_equals_the_length_of_encode(tokenizer: Tokenizer, japanese_passages: list[str]) -> None:
    for text in japanese_passages[:20]:
        assert tokenizer.count(text) == len(tokenizer.encode(text))


def test_a_long_text_without_spaces_has_as_many_tokens_as_its_sentences(tokenizer: Tokenizer) -> None:
    sentence = "行政手続における申請は書面により行う。"
    text = sentence * (2 * LONGEST_STRETCH // len(sentence) + 1)

    assert tokenizer.count(text) == pytest.approx(tokenizer.count(sentence * 100) * len(text) / 1900, rel=0.03)


def test_a_stretch_beyond_the_longest_is_counted_in_parts(tokenizer: Tokenizer) -> None:
    tokens = [tokenizer.count("-" * length) - 2 for length in (LONGEST_STRETCH, 3 * LONGEST_STRETCH)]

    assert tokens[1] == pytest.approx(3 * tokens[0], rel=0.01)


def test_a_character_that_expands_eighteenfold_is_safe(tokenizer: Tokenizer) -> None:
    prepared = prepare_text("\ufdfa" * 4000, prefix="passage: ")

    assert len(prepared) == len("passage: ") + 18 * 4000
    assert tokenizer.count(prepared) > 4000
