"""The knowledge app in the admin: one subject per module."""

from knowledge.admin import chunks, collections, documents, ontology, records, search_page

__all__ = ["chunks", "collections", "documents", "ontology", "records", "search_page"]
