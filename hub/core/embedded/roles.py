"""The role that a hub uses its embedded PostgreSQL with: no superuser, and not the owner of the audit trail.

The superuser, whom the hub's own system user may become too, makes the role, the extension and the databases. All
tables are the role's own but those of ``APPEND_ONLY``, where it may add rows and read them, and neither change nor
remove any. It does not own the schema either, whose owner could drop such a table.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

ROLE = "hub"
APPEND_ONLY = ("access_auditevent",)

# What warms the search index up after a start reads the server's own files, and nothing outside of its data folder.
_READ_FILES = "pg_read_binary_file(text, bigint, bigint, boolean)"
_FOREIGN_TABLES = """
SELECT c.oid::regclass::text, c.relkind FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND c.relowner <> %(role)s::regrole AND NOT c.relname = ANY(%(append_only)s)
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'a', 'i'))
"""


def make_role(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Create the role unless it is there. For an autocommit connection to any database of the server."""
    if superuser.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
        superuser.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(ROLE)))


def open_database(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Let the role work in the connection's database: the extension, the schema, and tables of before it existed."""
    role = sql.Identifier(ROLE)
    superuser.execute("CREATE EXTENSION IF NOT EXISTS vector")
    superuser.execute(sql.SQL("GRANT CREATE, USAGE ON SCHEMA public TO {}").format(role))
    superuser.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(sql.SQL(_READ_FILES), role))
    given = {"role": ROLE, "append_only": list(APPEND_ONLY)}
    for name, kind in superuser.execute(_FOREIGN_TABLES, given).fetchall():
        what = sql.SQL("SEQUENCE" if kind == "S" else "TABLE")
        superuser.execute(sql.SQL("ALTER {} {} OWNER TO {}").format(what, sql.SQL(str(name)), role))


def lend_append_only(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Give the role the append-only tables, for as long as migrations run that may change their columns."""
    for table in _existing(superuser):
        superuser.execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(sql.Identifier(table), sql.Identifier(ROLE)))


def close_append_only(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Leave the role no more than reading the append-only tables and adding to them."""
    role = sql.Identifier(ROLE)
    for table in _existing(superuser):
        name = sql.Identifier(table)
        superuser.execute(sql.SQL("ALTER TABLE {} OWNER TO CURRENT_USER").format(name))
        superuser.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(name, role))
        superuser.execute(sql.SQL("GRANT SELECT, INSERT ON {} TO {}").format(name, role))


def _existing(superuser: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    rows = superuser.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY(%s)",
        [list(APPEND_ONLY)],
    ).fetchall()
    return [str(name) for (name,) in rows]
