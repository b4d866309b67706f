"""Queries answered by a Neo4j that somebody runs, over bolt: read sessions only, with a timeout."""

from __future__ import annotations

from itertools import islice
from typing import Any

import neo4j
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from neo4j import graph
from neo4j.exceptions import ClientError, DriverError, Neo4jError

from hub.access.principals import Principal
from hub.core.errors import InvalidInput, Unavailable
from knowledge.graph.cypher.query import PreparedQuery, QueryTimeout

CONNECT_TIMEOUT_S = 5.0


class Neo4jBackend:
    """One session per query, in access mode READ. The user in NEO4J_USER should have no right to write either."""

    name = "neo4j"

    def run(self, principal: Principal, query: PreparedQuery) -> tuple[list[dict[str, Any]], bool]:
        """Run the query in a read transaction that the server ends after the timeout."""
        config = settings.CONFIG
        auth = (config.neo4j_user, config.neo4j_password) if config.neo4j_user else None
        try:
            with (
                neo4j.GraphDatabase.driver(
                    config.neo4j_url, auth=auth, connection_timeout=CONNECT_TIMEOUT_S, telemetry_disabled=True
                ) as driver,
                driver.session(default_access_mode=neo4j.READ_ACCESS, fetch_size=query.row_limit + 1) as session,
                session.begin_transaction(timeout=query.timeout_ms / 1000) as transaction,
            ):
                found = transaction.run(query.translated.query, dict(query.parameters))
                rows = list(islice(found, query.row_limit + 1))
        except ClientError as error:
            if "TransactionTimedOut" in (error.code or ""):
                raise QueryTimeout(
                    _("The query took longer than {timeout} ms and was stopped."), timeout=query.timeout_ms
                ) from error
            raise InvalidInput(_("cypher_query: {reason}"), code="invalid_cypher", reason=error.message) from error
        except (Neo4jError, DriverError, OSError) as error:
            raise Unavailable(
                _("Neo4j does not answer at NEO4J_URL ({reason})."),
                code="neo4j_unavailable",
                reason=type(error).__name__,
            ) from error
        records = [{name: plain(value) for name, value in zip(row.keys(), row.values(), strict=True)} for row in rows]
        return records[: query.row_limit], len(rows) <= query.row_limit


def plain(value: object) -> Any:  # noqa: ANN401 - whatever a query returns
    """A value of the driver as JSON has it, in the shapes that the hub's own copy gives."""
    if isinstance(value, graph.Node):
        properties = {name: plain(held) for name, held in value.items()}
        return {"id": properties.get("id", value.element_id), "labels": sorted(value.labels), "properties": properties}
    if isinstance(value, graph.Relationship):
        return {
            "id": value.element_id,
            "start": value.start_node.element_id if value.start_node else None,
            "end": value.end_node.element_id if value.end_node else None,
            "type": value.type,
            "properties": {name: plain(held) for name, held in value.items()},
        }
    if isinstance(value, graph.Path):
        return {"nodes": [plain(node) for node in value.nodes], "relationships": list(map(plain, value.relationships))}
    if isinstance(value, dict):
        return {str(name): plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(held) for held in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
