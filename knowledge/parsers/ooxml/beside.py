"""What an Office file holds beside the text that is read: files embedded in it, comments on slides."""

from __future__ import annotations

import zipfile
from pathlib import Path

from knowledge.parsers.ooxml.package import package_relations, parse_part
from knowledge.types.notices import Notice


def embedded_notices(path: Path) -> tuple[Notice, ...]:
    """Count the files that are embedded as objects; the tables that charts are drawn from are none. Empty without."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        charts = [name for name in names if "/charts/" in name and "/_rels/" not in name and name.endswith(".xml")]
        drawn_from = {target for chart in charts for target in package_relations(archive, chart).values()}
    count = sum(1 for name in names if "/embeddings/" in name and name not in drawn_from)
    if not count:
        return ()
    return (
        Notice(
            code="embedded_files_left_out",
            ja=f"埋め込まれた別ファイル（Excel の表など）{count} 件の中身は取り込んでいません。"
            "必要なら別に登録してください。",
            en=f"{count} embedded file(s), such as Excel tables, were left out. Upload them by themselves if needed.",
        ),
    )


def slide_comment_notices(path: Path) -> tuple[Notice, ...]:
    """Count the comments on slides; empty when there are none."""
    with zipfile.ZipFile(path) as archive:
        parts = [name for name in archive.namelist() if name.startswith("ppt/comments/") and name.endswith(".xml")]
        count = sum(1 for part in parts for _comment in parse_part(archive, part).iter("{*}cm"))
    if not count:
        return ()
    return (
        Notice(
            code="comments_left_out",
            ja=f"コメント {count} 件は本文に含めていません。",
            en=f"{count} comment(s) are not part of the text.",
        ),
    )
