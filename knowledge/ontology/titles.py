"""Recognising a topic by a heading's wording."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from hub.core.patterns import StoredPattern, stored_pattern
from knowledge.text.folding import fold_compact
from knowledge.text.outline import bare_title
from knowledge.types.requirements import Topic

_CONJUNCTION = re.compile(r"[・、,，／/&＆]|及び|および|並びに|ならびに|(?<=[^まひもほ])と(?![のしなり])")
# What may follow a topic's name in a heading that is about that topic: 性能 + 目標値, 機能要件 + 一覧.
_TAIL = re.compile(
    # No entry begins another with a third in between (仕様 + 書): a heading of such words is read in one way only.
    r"(?:(?:の|に関する|について(?:の)?)?(?:設計|要件|要求|仕様|定義|方針|計画|概要|一覧|構成|事項|条件|考え方|対策"
    r"|管理|体制|戦略|プロセス|フロー|手順|ルール|ポリシー|指針|区分|種別|種類|詳細|定め|案|観点|制約|想定|前提|考慮(?:点|事項)?|留意(?:点|事項)|注意(?:点|事項)|方策|施策|措置|基準値?|目標値?|準備|用意|取り?扱い|運用|確保|方式|方法|項目|内容|説明|図|表|リスト|トレーサビリティ|マトリク?ス|編|書"
    r"|overview|list|plan|design|policy|requirements?))*+(?:について)?"
)
_MIN_TAIL_SYNONYM = 3
HEADING_CUE = "# "
_LONGEST_LINE = 25
_AROUND = "*_【】[]＜＞<>「」■●◆○□▼・ 　"
_SENTENCE = re.compile(r"[。、，：:|]|(?:する|します|ます|です|である|した|ない|ること)$")


def reads_as_heading(line: str) -> bool:
    """Return whether a line of running text may head what follows: short, and no sentence.

    >>> reads_as_heading("１　趣旨"), reads_as_heading("【目的】"), reads_as_heading("本書の目的を示す。")
    (True, True, False)
    >>> reads_as_heading("**処理フロー:**"), reads_as_heading("期限: 3日")
    (True, False)
    """
    plain = line.strip().strip(_AROUND).removesuffix("：").removesuffix(":").strip(_AROUND)
    return 0 < len(plain) <= _LONGEST_LINE and not _SENTENCE.search(plain)


def names_topic(title: str, topic: Topic) -> bool:
    """Return whether a heading names the topic: as a whole, as the head of a compound, or as one of several named.

    A short synonym (目的, 役割) must be the whole name, since 各層の役割 is not about roles; a longer one may end it.
    A cue that begins with ``#`` describes such headings by a pattern.

    :raises PatternTooSlow: a cue or exclusion takes too long. :raises PatternRefused: one can't be compiled.
    """
    return headings_about(topic).include(title)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicHeadings:
    """The headings that name a topic, ready to be asked of many."""

    exclusions: tuple[StoredPattern, ...]
    names: _Names
    patterns: tuple[StoredPattern, ...]

    def include(self, title: str) -> bool:
        """Return whether a heading names the topic, as `names_topic` does."""
        bare = bare_title(title)
        parts = title_parts(bare)
        named = any(self.names.fit(part) for part in parts)
        described = (bare, *parts[1:])
        if not named and not any(pattern.occurs_in(each) for pattern in self.patterns for each in described):
            return False  # asked first, since nearly every heading names something else
        return not any(pattern.occurs_in(bare) for pattern in self.exclusions)


@lru_cache(maxsize=256)
def headings_about(topic: Topic) -> TopicHeadings:
    """Return the headings that name a topic; hold it where many titles are asked about, for topics are slow to hash."""
    marked = (cue.removeprefix(HEADING_CUE) for cue in topic.cues if cue.startswith(HEADING_CUE))
    where = _where(topic)
    return TopicHeadings(
        exclusions=tuple(stored_pattern(pattern, where=where) for pattern in topic.exclusions),
        names=_names(topic),
        patterns=tuple(stored_pattern(pattern, where=where, ignore_case=True) for pattern in marked),
    )


def passage_cues(topic: Topic) -> tuple[StoredPattern, ...]:
    """Return the patterns for passages among a topic's cues; those that begin with ``#`` are for headings."""
    cues = (cue for cue in topic.cues if not cue.startswith(HEADING_CUE))
    return tuple(stored_pattern(cue, where=_where(topic), ignore_case=True) for cue in cues)


def _where(topic: Topic) -> str:
    return f"ontology topic {topic.code}"


@lru_cache(maxsize=2048)
def title_parts(bare: str) -> tuple[str, ...]:
    """Return the folded heading and, where it joins several names (運用・保守要件), each of them; also without の."""
    parts = [fold_compact(bare), *(fold_compact(part) for part in _CONJUNCTION.split(bare) if part)]
    parts += [part.replace("の", "") for part in parts]
    return tuple(dict.fromkeys(part for part in parts if part))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """A topic's folded names, and those of them that may end a heading."""

    all: frozenset[str]
    starts: tuple[str, ...]
    ends: tuple[str, ...]

    def fit(self, part: str) -> bool:
        """Return whether a folded heading is a name, ends with one, or goes on as a heading about it does."""
        if part in self.all or part.endswith(self.ends):
            return True
        # Asked for all at once first: nearly every heading begins with none of them.
        if not part.startswith(self.starts):
            return False
        return any(part.startswith(name) and _TAIL.fullmatch(part, len(name)) for name in self.starts)


def _names(topic: Topic) -> _Names:
    names = tuple(dict.fromkeys(fold_compact(name) for name in (*topic.synonyms, topic.label_ja, topic.label_en)))
    ends = tuple(name for name in names if len(name) >= _MIN_TAIL_SYNONYM and not name.isascii())
    return _Names(all=frozenset(names), starts=names, ends=ends)
