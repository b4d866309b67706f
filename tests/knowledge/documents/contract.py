"""A small contract to keep, to change and to delete."""

from __future__ import annotations

from hub.access.principals import local_operator
from knowledge.documents.deletion import delete_document
from knowledge.models import DeletionReceipt, Document

TEXT = "# 契約書\n\n## 第1条\n\n甲は乙に前橋工場の図面を貸与する。\n"


def delete(document: Document) -> DeletionReceipt:
    return delete_document(principal=local_operator(), document_id=document.public_id)
