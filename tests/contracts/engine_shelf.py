"""Documents in a hub that has a search engine, and what workers do for it."""

from __future__ import annotations

from hub.access.principals import local_operator
from knowledge.generations import generations, sending
from knowledge.index.engine import get_engine
from knowledge.models import IndexGeneration
from knowledge.search.hybrid import search
from knowledge.types.engines import Within
from knowledge.types.search import Hit, SearchMode, SearchQuery

DESIGN = [
    "応答時間は3秒以内とする。可用性は99.9%以上とする。",
    "認証は多要素認証とし、パスワードは12文字以上とする。",
    "バックアップは毎日午前2時に取得し、90日間保存する。NFR-001を満たす。",
    "稼働率は月ごとに報告する。障害時は30分以内に復旧する。",
    "通信はTLS 1.3で暗号化する。証明書は毎年更新する。",
]
MEETING = [
    "次回の会議は4月1日に行う。応答時間の測り方を決める。",
    "可用性の目標は前回の会議で合意した。NFR-001は見直さない。",
    "バックアップの保存期間を延ばす案は見送った。",
]


def filled() -> IndexGeneration:
    """Make a generation, fill it, and have searches ask it."""
    made = generations.create_generation(principal=local_operator(), shards=3, copies=1)
    send(made)
    return generations.switch_to_generation(principal=local_operator(), generation_id=made.pk)


def send(generation: IndexGeneration) -> None:
    """Do what workers do until nothing is left to send; the pause after a failure is not waited for."""
    IndexGeneration.objects.filter(pk=generation.pk).update(lease_expires_at=None)
    while sending.work_on(generation.pk):
        pass


def in_engine(generation: IndexGeneration) -> int:
    """Count the passages that the engine has."""
    return get_engine().count(generation.collection, Within())


def by_words(text: str) -> list[Hit]:
    return list(search(local_operator(), SearchQuery(text=text, mode=SearchMode.LEXICAL)).hits)
