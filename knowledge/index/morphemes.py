"""Cut folded text into words: Sudachi's normalised forms (mode A), English in its dictionary's form or stemmed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from sudachipy import Morpheme, SplitMode

from knowledge.text.codes import MAX_TERM_LENGTH
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, dictionary, tokenizer


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word (Porter2).

    >>> [stem(word) for word in ("requirements", "required", "policies", "added", "hopping", "generally")]
    ['requir', 'requir', 'polici', 'add', 'hop', 'general']
    """
    from snowballstemmer.english_stemmer import EnglishStemmer  # 0.05 s: all languages come with it

    return str(EnglishStemmer().stemWord(word))  # one per word, for it keeps the word while it works


# Source: Snowball's list of English stop words, snowballstem.org/algorithms/english/stop.txt, without short forms.
_SNOWBALL = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being
have has had having do does did doing would should could ought a an the and but if or because as until while of at by
for with about against between into through during before after above below to from up down in out on off over under
again further then once here there when where why how all any both each few more most other some such no nor not only
own same so than too very
"""
# What asks with those: how many, may one, which of whose.
_ALSO_ASKING = "can done how into long many may much must often shall whose will"

ENGLISH_STOP_WORDS = frozenset(f"{_SNOWBALL} {_ALSO_ASKING}".split())

# Of a question in English; two words may be a name or an entry of a menu (Sign in).
LEAST_WORDS = 3
_WORD = re.compile(r"(?<!\S)[a-z']+(?=[?!.,:;]*(?:\s|$))")
JAPANESE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")


def is_english(question: str) -> bool:
    """Return whether a question is in English: without a Japanese letter, and with words that only English asks with.

    >>> is_english("How often is it backed up?"), is_english("AWS Lambda VPC"), is_english("NFR-004 の on-premise 要件")
    (True, False, False)
    """
    words = _WORD.findall(question.casefold())
    return len(words) >= LEAST_WORDS and not ENGLISH_STOP_WORDS.isdisjoint(words) and not JAPANESE.search(question)


ENGLISH = re.compile("[a-z]{3,}")
HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_PIECE = re.compile(rf"(?s:.{{1,{MAX_INPUT_CHARACTERS}}}(?<=[。\n])|.{{1,{MAX_INPUT_CHARACTERS}}})")
_CELL_BORDER = re.compile(r"(?<=[ \n])\|(?=[ \n])")
# Longer lines hardly ever come a second time.
_LONGEST_KEPT = 300
_EMPTY_WORDS = frozenset({"助詞", "助動詞", "補助記号", "空白", "接続詞", "感動詞", "連体詞"})
# What a question asks with; in chunks these words are rare and would weigh the most.
_QUESTION_WORDS = frozenset(
    {"何", "誰", "何処", "どこ", "何時", "いつ", "何故", "なぜ", "どれ", "どちら", "幾ら", "幾つ"}
)
# What a sentence needs and no subject is: する, いる, よい and their like, and such nouns as long as kana write them.
_AUXILIARY = "非自立可能"
_DOES = frozenset({"する", "できる", "出来る", "致す", "いたす"})
_STEM_OF_AUXILIARY = "助動詞語幹"  # よう of どのように and そのような
_FORMAL_NOUNS = frozenset({"時", "方", "事", "こと", "物", "為", "所", "訳", "筈", "儘"})
_ENDINGS = (("ies", "y"), ("s", ""), ("es", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"))


def passage_words(folded: str) -> Iterator[str]:
    """Yield the words of a chunk, each as often as it is there."""
    for piece in _PIECE.findall(folded):
        for stretch in _stretches(piece):
            is_kept = len(stretch) <= _LONGEST_KEPT
            yield from _kept_terms(stretch) if is_kept else _terms(tokenizer().tokenize(stretch, SplitMode.A))


def question_words(folded: str) -> Iterator[str]:
    """Yield the words of a question, without those that only ask."""
    for piece in _PIECE.findall(folded):
        morphemes = tokenizer().tokenize(piece, SplitMode.A)
        yield from _terms(morpheme for morpheme in morphemes if not only_asks(morpheme))


def question_surfaces(folded: str) -> Iterator[str]:
    """Yield the words of a question as they are written, without those that only ask."""
    for piece in _PIECE.findall(folded):
        for morpheme in tokenizer().tokenize(piece, SplitMode.A):
            surface = morpheme.surface()
            is_word = morpheme.part_of_speech()[0] not in _EMPTY_WORDS and any(map(str.isalnum, surface))
            if is_word and not only_asks(morpheme):
                yield surface


def act_words(folded: str) -> Iterator[str]:
    """Yield the terms of what a question says that is done or happens: its verbs, and nouns that する makes verbs of.

    >>> list(act_words("東京駅はいつ開業しましたか")), list(act_words("予約の取消を誰が承認するか"))
    (['開業'], ['承認'])
    """
    for piece in _PIECE.findall(folded):
        morphemes = list(tokenizer().tokenize(piece, SplitMode.A))
        for one, following in zip(morphemes, [*morphemes[1:], None], strict=True):
            kind = one.part_of_speech()
            is_verb = kind[0] == "動詞" and kind[1] != _AUXILIARY
            is_done = kind[2] == "サ変可能" and following is not None and following.dictionary_form() in _DOES
            if (is_verb or is_done) and (term := _term(one.surface(), one.normalized_form())):
                yield term


def _stretches(text: str) -> Iterator[str]:
    """Part lines and table cells, which are cut into the same morphemes alone as in the whole text.

    No word reaches over a line's end, or over a pipe between blanks, and nothing but a blank can be there: so what
    is the best on one side does not depend on the other side. Each keeps the blank on either side, which its own
    first and last word depend on. Headings and cells come again and again, and are cut once.
    """
    for stretch in _CELL_BORDER.sub("\0", text).replace("\n", "\n\0\n").split("\0"):
        core = stretch.strip(" \n")
        if core:
            start = stretch.find(core)
            end = start + len(core)
            # Of several blanks, the first decides after a word; before one, a line's end and its indent are one blank.
            yield f"{stretch[: min(start, 1)]}{core}{stretch[end : end + 1]}"


@lru_cache(maxsize=8192)
def _kept_terms(stretch: str) -> tuple[str, ...]:
    return tuple(_terms(tokenizer().tokenize(stretch, SplitMode.A)))


def _terms(morphemes: Iterable[Morpheme]) -> Iterator[str]:
    says_nothing = _empty_words()
    for morpheme in morphemes:
        if not says_nothing(morpheme) and (term := _term(morpheme.surface(), morpheme.normalized_form())):
            yield term


@lru_cache(maxsize=1)
def _empty_words() -> Callable[[Morpheme], bool]:
    """Return what matches particles, signs and their like, which say nothing; faster than asking for names."""
    matcher: Callable[[Morpheme], bool] = dictionary().pos_matcher(lambda parts: parts[0] in _EMPTY_WORDS)
    return matcher


@lru_cache(maxsize=50_000)
def _term(surface: str, normalized_form: str) -> str:
    """Return the term of a word, empty when it has no letters or digits; a text has each of them many times."""
    if not any(character.isalnum() for character in surface):
        return ""
    return _without_ending(normalized_form.casefold())[:MAX_TERM_LENGTH]


def _without_ending(word: str) -> str:
    """Stem an English word, or give the term of its base form when the dictionary knows that: servers → サーバー."""
    if not ENGLISH.fullmatch(word):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            known = tokenizer().tokenize(word.removesuffix(ending) + instead, SplitMode.A)
            if len(known) == 1 and not (form := known[0].normalized_form()).isascii():
                return str(form).casefold()
    return stem(word)


def only_asks(morpheme: Morpheme) -> bool:
    """Return whether a word of a question belongs to the asking and not to what is asked for."""
    surface, form = morpheme.surface(), morpheme.normalized_form()
    if surface in ENGLISH_STOP_WORDS or form in _QUESTION_WORDS:
        return True
    return HIRAGANA.fullmatch(surface) is not None and (
        form in _FORMAL_NOUNS or morpheme.part_of_speech()[1] in (_AUXILIARY, _STEM_OF_AUXILIARY)
    )
