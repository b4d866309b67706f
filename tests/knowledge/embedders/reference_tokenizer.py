"""The tokenizer of multilingual-e5 put together from parts of the `tokenizers` package, to compare with."""

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from knowledge.embedders.bundled.weights import Vocabulary

# What sentencepiece's nmt_nfkc rules do beyond NFKC. Source: sentencepiece builder.cc, BuildNmtNFKCMap.
DROPPED = "[\\x01-\\x08\\x0b\\x0e-\\x1f\\x7f\\x8f\\x9f]"
SPACES = "[\\t\\n\\f\\r\\u00a0\\u1680\\u2000-\\u200f\\u2028\\u2029\\u202f\\u205f\\u2581\\u3000\\ufeff\\ufffd]| {2,}"


def build_reference(vocabulary: Vocabulary, *, typed_specials_are_text: bool = True) -> Tokenizer:
    """Build a tokenizer for text that is in NFKC already.

    With `typed_specials_are_text` the special pieces get names that no normalised text can contain.
    """
    special = {vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unknown}
    pieces = [
        ("\n" + piece if typed_specials_are_text and (i in special or piece == "<mask>") else piece, score)
        for i, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    ]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(DROPPED), ""),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always", split=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", vocabulary.bos), ("</s>", vocabulary.eos)],
    )
    return tokenizer
