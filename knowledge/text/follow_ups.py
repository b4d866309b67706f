"""Questions that go on from the one before: それは誰が？, 期限は？, 休日は？ Each is made one that stands by itself.

No model is asked. What was talked about is what the question before says before its は (or を教えて, について); a
question that names a matter of its own is left as it is. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sudachipy import SplitMode

from knowledge.text.folding import normalise
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer

MOST_CHARACTERS = 300
"""Nobody goes on in more, and a longer text is not a question before."""

# What is asked of a matter, and is none by itself.
_RELATIONAL = """
期限 期間 期日 締切 締め切り 理由 根拠 目的 背景 部数 数 人数 件数 回数 個数 台数 枚数
費用 料金 手数料 金額 予算 価格 単価 担当 担当者 部署 責任 責任者 方法 手順 手続 手続き
方式 様式 書式 例外 罰則 通知 条件 頻度 周期 場所 先 提出 提出先 保存 保存先 保管 連絡
連絡先 送付 報告 対象 対象者 範囲 記録 結果 量 単位 承認 承認者 窓口 開始 終了 時期 時刻
時間 日時 日数 年数 上限 下限 効果 影響 種類 内容 詳細 書類 様子 違い 差 例 具体 具体的
基準 値 目標 管理 管理者 変更 確認 実施 作成 者 人 誰 方 場合 時 とき 日 月 年 こと
もの ところ ため 必要 他 ほか 事前 事後 前 後 以上 以下 以内 程度 あたり 名前 名称 意味
定義 形式 大きさ 長さ 高さ 順番 順序 状態 状況 注意 注意点 問題 問題点 課題 対策 対応
リスク 許可 申請 義務 距離 速度 精度 深さ 重さ 幅 面積 容量 必須 可能 不可
"""
RELATIONAL = frozenset(_RELATIONAL.split())
_DEMONSTRATIVE = re.compile(
    r"(?P<among>そのうち|このうち)|(?P<after>その後|このあと|そのあと)|(?P<same>同じこと|同様のこと|同様)"
    r"|(?P<of>その|この|あの|上記の|前述の|先ほどの|先程の|当該)|(?P<it>それら|これら|それ|これ|あれ|そこ|ここ)"
)
_CONNECTIVE = re.compile(r"^(?:では|じゃあ|それでは|それなら|でしたら|ちなみに|なお|また|あと)[、,\s]*")
_SUBSTITUTED = re.compile(
    r"^(?P<other>.{1,30}?)(?:"
    r"(?:の|な)?(?:場合|とき|時|ケース)(?:は|なら|だと|を教えてください|について)?(?:どう(?:ですか|なりますか|でしょうか)?)?"
    r"|(?:だと|なら(?:ば)?|でしたら)(?:どう(?:ですか|なりますか|でしょうか)?)?"
    r"|(?:は|については|に関しては|について)(?:どう(?:ですか|なりますか|でしょうか|なっていますか)?)?"
    r")[?。\s]*$"
)
_SAYS_CASE = re.compile(r"場合|とき|時は|ケース|だと|なら|でしたら|について|に関して|どう")
_ASKING = re.compile(
    r"を?(?:教えて|説明して|示して|知りたい)|(?:について|に関して|に関する)|とは(?:何|なに|どう)|って(?:何|なに)"
)
_END = re.compile(r"(?:は|が|を|とは)?[?。！!\s]*$")
_ASKED = re.compile(r"誰|何|なに|なん|いつ|どこ|どれ|どの|どう|どん|なぜ|いくら|いくつ|どちら")
# それは誰が？ leaves out what is done.
_ENDS_ASKING = re.compile(
    r"(?:誰|だれ|どこ|いつ|どの[^はがをに?]{1,10}|何[^はがをに?]{0,4})(?:が|を|に|で|へ|から|まで|までに|と)[?。]{0,3}$"
)
_CASE = re.compile(r"(?:だと|なら|(?:の|な)?(?:場合|とき|時)[はに])")
_ALSO = re.compile(r"も(?![うと])")
_BARE = re.compile(r"(?P<noun>[^はがをにでのも]+)(?:は|って)?[?。\s]*")
# その人, その書類: the matter itself, not something of it.
_NAMES_THE_TOPIC = frozenset({"人", "者", "方", "書類", "資料", "文書"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A question that stands by itself, and what was carried over into it; empty where nothing was."""

    text: str
    carried: str = ""


def resolve_follow_up(question: str, before: str) -> FollowUp:
    """Make a question stand by itself, with what the one before (which stands by itself) is about."""
    asked, earlier = normalise(question).strip(), normalise(before).strip()
    unchanged = FollowUp(text=question.strip())
    if not asked or not earlier or max(len(asked), len(earlier)) > min(MOST_CHARACTERS, MAX_INPUT_CHARACTERS):
        return unchanged
    topic = topic_of(earlier)
    if not topic:
        return unchanged
    is_led_on = bool(_CONNECTIVE.match(asked))
    rest = _CONNECTIVE.sub("", asked)
    found = _DEMONSTRATIVE.search(rest)
    if found is not None:
        text = _with_topic(rest, found, topic)
        if _ENDS_ASKING.search(rest):
            text = _with_predicate(text, earlier)
    elif other := _substituted(rest, topic, is_led_on=is_led_on):
        text = _instead(other, topic, earlier)
    elif _is_about_nothing_new(rest, earlier):
        text = _of_topic(rest, topic)
    else:
        return unchanged
    return FollowUp(text=text, carried=topic)


def topic_of(question: str) -> str:
    """Say what a question that stands by itself is about; empty where that can't be told."""
    text = normalise(question).strip()
    if found := _ASKING.search(text):
        return _END.sub("", text[: found.start()])
    particles = (end for begin, end, word, kind in _words(text) if word == "は" and kind[0] == "助詞" and begin > 0)
    at = next(particles, None)
    left = text[: at - 1] if at else ""
    if left and not _ASKED.search(left):
        return re.sub(r"(?:な)?の$", "", left).rstrip("、 ")
    named = [word for _begin, _end, word, kind in _words(_END.sub("", text)) if kind[0] in ("名詞", "接尾辞")]
    return "".join(named) if len(named) < 2 else _END.sub("", _without_asking(text))


def _without_asking(text: str) -> str:
    """What stands before the word that asks, without its particle."""
    found = _ASKED.search(text)
    return re.sub(r"[はがをにで、]$", "", text[: found.start()] if found else text) or text


def _with_topic(rest: str, found: re.Match[str], topic: str) -> str:
    before, after = rest[: found.start()], rest[found.end() :]
    if found["among"]:
        return f"{before}{topic}のうち{after}"
    if found["after"]:
        return f"{before}{topic}の後{after}"
    if found["same"]:
        return f"{before}{topic}と同じこと{after}"
    if found["it"]:
        return f"{before}{topic}{after}"
    noun = next((word for _begin, _end, word, kind in _words(after) if kind[0] == "名詞"), "")
    if noun and after.startswith(noun) and (noun in topic or noun in _NAMES_THE_TOPIC):
        return f"{before}{topic}{after[len(noun) :]}"
    return f"{before}{topic}の{after}"


def _with_predicate(text: str, earlier: str) -> str:
    """Add what the question before says is done: from the verb behind what it asked with, if it has one."""
    asked = _ASKED.search(earlier)
    words = [one for one in _words(earlier) if asked and one[0] >= asked.end()]
    verb = next((number for number, one in enumerate(words) if one[3][0] == "動詞"), None)
    if verb is None:
        return text
    done = verb - 1 if verb and "サ変可能" in words[verb - 1][3][2] else verb
    at = len(text.rstrip("?。 "))
    return text[:at] + earlier[words[done][0] :].rstrip("?。 ") + text[at:]


def _substituted(rest: str, topic: str, *, is_led_on: bool) -> str:
    """The case that a question puts in place of the one before; empty where it puts none."""
    found = _SUBSTITUTED.match(rest)
    if found is None or _ASKED.search(found["other"]):
        return ""
    other = found["other"].strip()
    if not other or not any(kind[0] == "名詞" for *_place, kind in _words(other)):
        return ""
    if "の" in other and not _SAYS_CASE.search(rest):
        return ""  # 監査の頻度は: a matter of its own
    is_parallel = any(part[-1:] == other[-1:] for part in re.split("の", topic)[:-1])
    if is_parallel or ((is_led_on or _SAYS_CASE.search(rest[len(other) :])) and not _is_relational(other)):
        return other
    return ""


def _instead(other: str, topic: str, earlier: str) -> str:
    """The question before with another case: that of the part which ends alike, else of its first."""
    parts = topic.split("の")
    predicate = earlier[len(topic) :] if earlier.startswith(topic) else ""
    if len(parts) == 1 and not any(kind[0] in ("動詞", "助動詞") for *_place, kind in _words(other)):
        return f"{other}の{topic}{predicate}"
    if any(kind[0] in ("動詞", "助動詞") for *_place, kind in _words(other)):
        return f"{topic}は{other}とき{predicate}"
    at = next((number for number, part in enumerate(parts[:-1]) if part[-1:] == other[-1:]), 0)
    return "の".join([*parts[:at], other, *parts[at + 1 :]]) + predicate


def _is_about_nothing_new(rest: str, earlier: str) -> bool:
    """Whether all that a question names is what one asks of a matter, or was named before.

    So is a word alone (バージョンは), what is asked as well (評価基準も), another case (ピーク時だといくつ), and
    an action that something leads up to (解除まで).
    """
    groups = _compounds(rest)
    bare = _BARE.fullmatch(rest)
    if bare and len(groups) == 1 and len(groups[0]) == 1 and bare["noun"] == groups[0][0]:
        return True
    if groups and all("".join(group) in RELATIONAL for group in groups[1:]):
        after = rest[rest.find("".join(groups[0])) + len("".join(groups[0])) :]
        if _ALSO.match(after) or _CASE.match(after) or (_is_action(groups[0]) and re.match(r"まで|には|後", after)):
            return True
    for group in groups:
        text = "".join(group)
        if text in earlier or text in RELATIONAL or all(word in RELATIONAL or word in earlier for word in group):
            continue
        return False
    return True


def _is_relational(text: str) -> bool:
    return all("".join(group) in RELATIONAL or all(word in RELATIONAL for word in group) for group in _compounds(text))


def _is_action(group: list[str]) -> bool:
    return len(group) == 1 and any("サ変可能" in kind[2] for *_place, kind in _words(group[0]))


def _compounds(text: str) -> list[list[str]]:
    """Nouns that stand together, each group with its words; those that ask, count or are done (設定する) are none."""
    groups: list[list[str]] = []
    last = -1
    words = _words(text)
    for number, (begin, end, word, kind) in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else None
        if "サ変可能" in kind[2] and following and following[3][4].startswith("サ行変格"):
            continue
        is_noun = (kind[0] == "名詞" and kind[1] != "数詞") or (kind[0] == "接尾辞" and kind[1] == "名詞的")
        if not is_noun or _ASKED.match(word) or "副詞可能" in kind[2]:
            continue
        if begin == last:
            groups[-1].append(word)
        else:
            groups.append([word])
        last = end
    return groups


def _of_topic(rest: str, topic: str) -> str:
    first = next(iter(_compounds(rest)), [])
    if not first or not rest.startswith(first[0]):
        return f"{topic}は{rest}"
    parts = topic.split("の")
    # 督促状の期限, and then 部数は: the number of the reminders, not of the term
    if len(parts) > 1 and parts[-1] in RELATIONAL and not re.match(r"理由|根拠|例外|条件|目的|詳細|具体", rest):
        topic = "の".join(parts[:-1])
    return f"{topic}の{rest}"


def _words(text: str) -> list[tuple[int, int, str, tuple[str, ...]]]:
    return [
        (one.begin(), one.end(), one.surface(), tuple(one.part_of_speech()))
        for one in tokenizer().tokenize(text, SplitMode.B)
    ]
