"""The parts of a question that asks for several things, each a question by itself. Pure."""

from __future__ import annotations

import re

from knowledge.text.follow_ups import resolve_follow_up

_MOST_PARTS = 4
_LONGEST = 300
"""Longer texts are no questions of several parts, but texts that somebody pasted."""
# Of nouns alone, without hiragana: the particles of 原因となった病気 are no と that lists.
_NOUN = r"(?:[^\W\u3041-\u3096]|[\-./]){2,24}"
_AND = r"(?:と|及び|および|並びに|ならびに|、)"
_END = (
    r"(?:は(?:何(?:ですか|か)?|どう(?:なっていますか|ですか)?|それぞれ[^、。]{0,12})?"
    r"|(?:を|について)(?:それぞれ)?(?:教えて|示して|説明して)[^。]{0,6})[。?？\s]*"
)
_DIFFERENCE = re.compile(
    rf"(?P<a>[^、。?？と]{{1,40}}?)\s*{_AND}\s*(?P<b>[^、。?？と]{{1,40}}?)(?:と)?の(?P<of>[^、。?？]{{1,20}}?の)?(?:違い|差異?|相違点?|比較)"
    r"(?:は|を|について|とは|点)?[^。]{0,12}[。?？\s]*"
)
# 図書予約と会議室予約の稼働率を比べて, 本庁と支所では稼働時間はどちらが長いですか
_COMPARED = re.compile(
    rf"(?P<a>[^、。?？と]{{1,40}}?)\s*{_AND}\s*(?P<b>[^、。?？と]{{1,40}}?)(?:の|で、?は?|では、?)(?P<of>[^、。?？]{{1,20}}?)"
    r"(?:を(?:比べ|比較|対比)|は、?(?:どちら|どっち|どう違|違|異な|同じ))[^。?？]{0,16}[。?？\s]*"
)
_DIFFERENCE_EN = re.compile(
    r".*\bdifferences? between (?P<a>[^,?]{1,60}?) and (?P<b>[^,?]{1,60}?)\s*\??\s*", re.IGNORECASE
)
_LIST = re.compile(
    rf"(?P<head>(?:[^、。?？]{{1,80}}の)?)(?P<a>{_NOUN}){_AND}(?P<b>{_NOUN})(?:{_AND}(?P<c>{_NOUN}))?(?P<end>{_END})"
)
_QUESTIONS = re.compile(r"(?<![^?？。])[^?？。]{4,}[?？]+")


# 検収はいつですか、また誰がしますか: each asks, and the second one of the same thing.
_AND_ALSO = re.compile(
    r"(?P<a>[^。?？]{4,100}?か)[、。] ?(?:また|そして|それと|あと)?、? ?(?P<b>[^。?？]{2,100}?か[。?？]{0,2})"
)


def parts_of(question: str) -> list[str]:
    """Part a question that asks for several things: a comparison, things that are listed, several sentences.

    A question for one thing is its only part.

    >>> parts_of("予約Webと予約APIの動作環境の違いは？"), parts_of("障害の原因と再発防止策は")
    (['予約Webの動作環境は？', '予約APIの動作環境は？'], ['障害の原因は', '障害の再発防止策は'])
    >>> parts_of("原因と対策と期限を教えて")
    ['原因を教えて', '対策を教えて', '期限を教えて']
    >>> parts_of("予約Webと予約APIの稼働率を比べて")
    ['予約Webの稼働率は？', '予約APIの稼働率は？']
    >>> parts_of("稼働率は？保存期間は？"), parts_of("犬と猫はどこにいますか")
    (['稼働率は？', '保存期間は？'], ['犬と猫はどこにいますか'])
    >>> parts_of("検収はいつですか、また誰がしますか")
    ['検収はいつですか', '検収は誰がしますか']
    """
    text = " ".join(question.split())
    if len(text) > _LONGEST:
        return [question]
    several = [one.strip() for one in _QUESTIONS.findall(text)]
    if 2 <= len(several) <= _MOST_PARTS and "".join(several) == text.replace("? ", "?").replace("？ ", "？"):
        return several
    if found := _AND_ALSO.fullmatch(text):
        return [found["a"], resolve_follow_up(found["b"], found["a"]).text]
    if found := _DIFFERENCE.fullmatch(text):
        of = found["of"]
        return [
            f"{one.strip()}の{of.removesuffix('の')}は？" if of else f"{one.strip()}とは"
            for one in (found["a"], found["b"])
        ]
    if found := _COMPARED.fullmatch(text):
        return [f"{one.strip()}の{found['of']}は？" for one in (found["a"], found["b"])]
    if found := _DIFFERENCE_EN.fullmatch(text):
        return [f"What is {one.strip()}?" for one in (found["a"], found["b"])]
    if found := _LIST.fullmatch(text):
        return [f"{found['head']}{one}{found['end'] or 'は'}".strip() for one in found.group("a", "b", "c") if one]
    return [question]
