"""What a question asks for, read apart: the kind of thing, the thing itself, and what it is said about. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from knowledge.index.morphemes import is_english
from knowledge.text.folding import fold_terms


class Wanted(StrEnum):
    """What kind of thing answers a question."""

    NUMBER = "number"
    TIME = "time"
    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    REASON = "reason"
    WAY = "way"
    MEANING = "meaning"
    YES_NO = "yes_no"
    THING = "thing"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedThing:
    """``focus`` is the thing that is asked for as the question names it or empty, ``unit`` how it counts.

    All folded (`fold_terms`). ``focus`` of 「予約システムの稼働率の目標は？」 is 目標, ``phrase`` 稼働率の目標.
    """

    kind: Wanted
    focus: str = ""
    phrase: str = ""
    unit: str = ""


_KANJI = "\u3005\u3400-\u4dbf\u4e00-\u9fff"
_NOUN = f"[{_KANJI}\u30a1-\u30fa\u30fca-z0-9・/.+_-]"
_END = re.compile(
    r"(?:(?:を|について)?(?:教えて|説明して|示して|述べて|答えて|挙げて)(?:ください|下さい)?"
    r"|(?:(?:と)?(?:です|でしょう|でした|だろう|ます|ました|のです)?か)|です|である|だった)?[\s?。!]*\Z"
)
_UNIT = (
    r"か所|ヶ所|箇所|か月|ヶ月|カ月|か国|ヶ国|カ国|文字|ページ|パーセント|世代|営業日|キロ|メートル|時間|週間|年間|日間|分間|秒間|人中"
    r"|[秒分人名個回台円割点度桁部本枚校社通箱冊%代倍歳才位番第号級階話巻章条項件種匹頭隻艘軒棟戸票勝敗段行列丁目つ]"
)
_NUMBER = re.compile(
    rf"何\s*(?P<unit>{_UNIT})|何[{_KANJI}]{{1,2}}目|いく[つら]|幾[つら]|ど[のれ](?:[くぐ]らい|ほど|だけ|程度)"
    r"|\bhow (?P<en>many|much|long|often|large|big|high|tall|deep|wide|fast|old|far|short|small)\b"
)
_COUNTED = re.compile(rf"何\s*(?:{_UNIT})|いく[つら]|\bhow (?:many|much)\b")
_TIME = re.compile(
    r"いつ(?!も)|何\s*(?:年|月|日|曜日|世紀|時代|時)(?!間)|何\s*年度|\bwhen\b"
    r"|\b(?:what|which) (?:year|date|day|month|time|century|decade)\b"
)
_PERSON = re.compile(r"誰|だれ|どなた|何者|\bwho(?:m|se)?\b")
_PLACE = re.compile(r"どこ|何処|何[国県市州島町村区]|\bwhere\b")
_REASON = re.compile(
    r"なぜ|何故|どうして|何のため|(?:理由|原因)(?=は|が|を|って|と|で|に|[?。\s]|\Z)"
    r"|\bwhy\b|\breasons?\b|\bcauses? of\b"
)
_WAY = re.compile(
    r"どのように(?!な[っりる])|どうやって|いかに|どう(?=す|し|い|対|扱|処)"
    r"|(?:方法|手順|やり方|手続き?)(?=は|が|を|って|[?。\s]|\Z)|\bhow\b"
)
_MEANING = re.compile(
    r"\s*+[「『\"]?(?P<ja>[^「」『』\"。、]{1,40}?)[」』\"]?"
    r"(?:とは(?:何|なん|どう|どの|[?。\s]|\Z)|って何|の(?:意味|定義|読み方)(?:は|を|[?。\s]|\Z))"
    r"|what (?:is|are|does) (?:an? |the )?(?P<en>[a-z0-9-]{1,30})(?: mean| stand for)?\s*\??\Z"
)
_ASKING = re.compile(
    r"誰|だれ|どなた|何|なに|なん|どこ|いつ|どれ|どの|どん|どちら|どう|なぜ|いく[つら]|いかに|幾[つら]"
)
# 利用者は何を取り消せるか asks for no user.
_ASKS_BESIDE = re.compile(r"(?:は|が|も)、?(?:何|なに)(?:を|に|で|が|へ|から)")
_WHICH = re.compile(
    r"(?:(?:何|なん)と(?:いう|言う|呼ばれる)|どのような|どういう|どういった|どんな|どの|何の|なんの)"
    rf"(?P<focus>{_NOUN}{{1,20}})"
)
_WHAT = re.compile(rf"何(?P<focus>[{_KANJI}]{{1,4}})")
_TOPIC = re.compile(rf"(?P<phrase>(?:{_NOUN}{{1,30}}の){{0,3}}{_NOUN}{{1,30}})(?:とは|って|は|が|も|を|の)?、?\s*\Z")
_WHICH_EN = re.compile(
    r"\b(?:what|which)(?: (?:is|are|was|were|kind of|type of|sort of|the|a|an|name of))*"
    r"(?P<focus>(?: [a-z0-9-]+){1,3})"
)
_MANY_EN = re.compile(r"\bhow (?:many|much)(?P<focus>(?: [a-z0-9-]+){1,2})")
_STOP_WORDS = """
is are was were did does do has have had can could will would should of in on for to by at from with that which who and
or the a an it its they their there be been being as must may not
"""
_STOP_EN = frozenset(_STOP_WORDS.split())
# What a noun names, by how it ends: 上限値 is a number, 保存期間 one of time. Behind the bar, English nouns.
_ENDINGS = {
    Wanted.TIME: """
        期日 期限 日 日時 日程 日付 時期 時刻 時点 年 年月 年日 年度 締切 締切り 開始日 月日 世紀 時代 年代
        | date year day deadline month century
        """,
    Wanted.NUMBER: """
        期間 時間 年数 日数 寿命 間隔 頻度 周期 費 額 [^香辛調材資燃原飲食肥塗染史衣]料 料金 価格 予算 金 代金
        税 率 割合 比 [^多少小変係関]数 量 速度 長さ [身全体延波]長 高さ 深さ 重さ 広さ 面積 人口 温度 気温 容量
        サイズ 上限 下限 限度 最大 最小 閾値 しきい値 目標 目標値 水準 年齢 [^題違要欠利視観地論焦争共]点 距離 標高
        得点 順位 世代 rto rpo sla 回線速度 性能 倍率
        | number rate amount price cost fee budget percentage percent period duration time limit size population
        length height age score distance temperature speed interval
        """,
    Wanted.PERSON: """
        者 人 人物 氏名 [^国]家 [^全身延成波特助増伸]長 担当 監督 作家 選手 俳優 女優 歌手 教授 博士 大臣 大統領 首相
        王 天皇 皇帝 将軍 妻 夫 父 母 息子 娘 弟 兄 師 員
        | person author director player president manager leader king queen actor singer writer owner founder
        """,
    Wanted.PLACE: """
        場所 国 都市 [都県市区町村州島駅港] 府 地 所在地 地域 地方 拠点 先 住所 大陸 半島
        | place country city state location region town river area island
        """,
    Wanted.ORGANISATION: """
        会社 企業 組織 団体 機関 部署 部門 大学 学校 省 庁 局 課 政党 チーム 球団 クラブ ベンダー 事業者 業者
        メーカー
        | company organization organisation team university school party agency department band
        """,
    Wanted.REASON: "理由 原因 要因 背景 目的 根拠 経緯 | reason cause purpose",
    Wanted.WAY: "方法 手順 手続 手続き やり方 対応 対策 流れ | way method procedure",
    Wanted.MEANING: "意味 定義 | meaning definition",
    Wanted.YES_NO: "有無 可否 要否 是非 | availability",
}
_KIND_OF_NOUN = tuple(
    (kind, re.compile(rf"(?:{'|'.join(ja.split())})\Z|\b(?:{'|'.join(en.split())})\Z"))
    for kind, (ja, en) in ((kind, tuple(words.split("|"))) for kind, words in _ENDINGS.items())
)
_OPEN_EN = re.compile(r"\b(?:what|which|how)\b")
_YES_NO_EN = re.compile(r"(?:is|are|does|do|did|can|may|must|was|were|has|have|should)\b")
_ASKS = (
    (_REASON, Wanted.REASON),
    (_NUMBER, Wanted.NUMBER),
    (_TIME, Wanted.TIME),
    (_PERSON, Wanted.PERSON),
    (_PLACE, Wanted.PLACE),
    (_WAY, Wanted.WAY),
)


def asks_something(text: str) -> bool:
    """Return whether a text is a question, and not words to look for.

    >>> asks_something("検索は何秒以内か"), asks_something("応答時間 目標"), asks_something("稼働率の目標は？")
    (True, False, True)
    """
    folded = fold_terms(text).strip()
    if is_english(text):
        return bool(_YES_NO_EN.match(folded) or _OPEN_EN.search(folded) or any(one.search(folded) for one, _k in _ASKS))
    return bool(folded.endswith(("?", "か", "か。")) or _ASKING.search(folded))


def without_asking(question: str) -> str:
    """Return a question, folded, without how it ends: 監視の間隔 of 監視の間隔を教えてください。

    What a text says of teaching or showing has nothing in common with a question that only ends so.
    """
    return _END.sub("", fold_terms(question))


def read_asked(question: str) -> AskedThing:
    """Read what a question asks for.

    >>> asked = map(read_asked, ("検索は何秒以内か", "稼働率の目標は？", "誰が承認する？"))
    >>> [(one.kind.value, one.focus, one.unit) for one in asked]
    [('number', '検索', '秒'), ('number', '目標', ''), ('person', '', '')]
    >>> read_asked("What year was the bridge built?").kind.value, read_asked("どの国の作家か").focus
    ('time', '国')
    """
    folded = fold_terms(question)
    stem = without_asking(question)
    focus, phrase = _focus_en(folded) if is_english(question) else _focus(stem)
    unit = next((found["unit"] or "" for found in [_NUMBER.search(folded)] if found), "")
    for pattern, kind in _ASKS:
        if pattern.search(folded):
            return AskedThing(kind=kind, focus=focus, phrase=phrase, unit=unit)
    if (meaning := _MEANING.match(folded)) is not None:
        word = (meaning["ja"] or meaning["en"] or "").strip()
        return AskedThing(kind=Wanted.MEANING, focus=word, phrase=word)
    named = None if _ASKS_BESIDE.search(stem) else kind_of_noun(focus)
    if named is not None:
        return AskedThing(kind=named, focus=focus, phrase=phrase, unit=unit)
    is_open = _ASKING.search(folded) or _OPEN_EN.search(folded) or (focus and stem.endswith(focus))
    is_question = folded.rstrip("?。 ").endswith("か") or _YES_NO_EN.match(folded)
    kind = Wanted.YES_NO if is_question and not is_open else Wanted.THING
    return AskedThing(kind=kind, focus=focus, phrase=phrase, unit=unit)


def kind_asked_outright(question: str) -> Wanted | None:
    """Return the kind of value that an interrogative itself asks for: a number that is counted, a time; else None.

    A noun alone leaves it open: a 目標 may be a number, or none.

    >>> kind_asked_outright("検索は何秒以内か"), kind_asked_outright("稼働率の目標は？")
    (<Wanted.NUMBER: 'number'>, None)
    """
    folded = fold_terms(question)
    if _COUNTED.search(folded):
        return Wanted.NUMBER
    return Wanted.TIME if _TIME.search(folded) else None


def kind_of_noun(noun: str) -> Wanted | None:
    """Tell what kind of thing a noun names (folded), by how it ends; None where that tells nothing.

    >>> kind_of_noun("納品期限"), kind_of_noun("承認者"), kind_of_noun("備考")
    (<Wanted.TIME: 'time'>, <Wanted.PERSON: 'person'>, None)
    """
    return next((kind for kind, pattern in _KIND_OF_NOUN if noun and pattern.search(noun)), None)


def _focus(stem: str) -> tuple[str, str]:
    """The thing that is asked for: what stands behind どの, or the topic before what asks, or at the end."""
    if which := _WHICH.search(stem):
        return which["focus"], which["focus"]
    asking = _ASKING.search(stem)
    before = stem[: asking.start()] if asking else re.sub(r"(?:は|とは|って|も|を|が)\Z", "", stem)
    # of several topics the one next to what asks
    if topic := _TOPIC.search(before):
        phrase = topic["phrase"]
        return phrase.rpartition("の")[2], phrase
    if what := _WHAT.search(stem):
        return what["focus"], what["focus"]
    return "", ""


def _focus_en(folded: str) -> tuple[str, str]:
    found = _MANY_EN.search(folded) or _WHICH_EN.search(folded)
    words: list[str] = []
    for word in found["focus"].split() if found else ():
        if word in _STOP_EN:
            break
        words.append(word)
    return " ".join(words), " ".join(words)
