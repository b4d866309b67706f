"""Every field of every REST operation, as the app's own OpenAPI names them, and the calls that put a value into one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

Json = Any
FieldPath = tuple[str | int, ...]
BOUNDARY = b"edge-of-a-part"
MARK = '"here-goes-the-value"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One field of one operation: where it is (body, form, query, path, header), and its path inside of the body."""

    method: str
    address: str
    where: str
    path: FieldPath

    def __str__(self) -> str:
        return f"{self.method} {self.address} {self.where} {'.'.join(str(part) for part in self.path)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request as a client sends it."""

    method: str
    url: str
    body: bytes = b""
    content_type: str = ""
    headers: Mapping[str, str]


class Operation:
    """One operation of the OpenAPI document, with values that reach its code."""

    def __init__(self, document: Json, address: str, method: str, examples: Mapping[str, Json]) -> None:
        self._document, self._examples = document, examples
        self.address, self.method = address, method
        self._described = document["paths"][address][method]
        self.content_type, self._schema = self._body_schema()

    def _body_schema(self) -> tuple[str, Json]:
        for content_type, described in self._described.get("requestBody", {}).get("content", {}).items():
            return content_type, described["schema"]
        return "", {}

    def _example(self, name: str) -> Json | None:
        for key in (f"{self.method} {self.address} {name}", f"{self.address} {name}", name):
            if key in self._examples:
                return self._examples[key]
        return None

    def _parameters(self) -> list[Json]:
        return list(self._described.get("parameters", ()))

    def places(self) -> Iterator[Place]:
        """Name every field: of path, query and header, of a form, and of a JSON body with all that is inside."""

        def place(where: str, *path: str | int) -> Place:
            return Place(method=self.method, address=self.address, where=where, path=path)

        for parameter in self._parameters():
            yield place(parameter["in"], parameter["name"])
        if self.content_type == "multipart/form-data":
            for name, described in self._fields(self._schema).items():
                if described.get("format") != "binary":
                    yield place("form", name)
        elif self.content_type:
            yield place("body")
            if self.content_type == "application/json":
                for path in self._paths(self._schema, ()):
                    yield place("body", *path)

    def _resolved(self, schema: Json) -> list[Json]:
        """The schemas that a value may have: references, allOf and anyOf opened."""
        if "$ref" in schema:
            return self._resolved(self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        parts = [*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
        return [one for part in parts for one in self._resolved(part)] or [schema]

    def _fields(self, schema: Json) -> dict[str, Json]:
        return {name: one for part in self._resolved(schema) for name, one in part.get("properties", {}).items()}

    def _paths(self, schema: Json, before: FieldPath) -> Iterator[FieldPath]:
        for part in self._resolved(schema):
            for name, one in part.get("properties", {}).items():
                yield (*before, name)
                yield from self._paths(one, (*before, name))
            if "items" in part:
                yield (*before, 0)
                yield from self._paths(part["items"], (*before, 0))
            if part.get("additionalProperties"):
                yield (*before, "key")

    def _ordinary(self, schema: Json, name: str) -> Json:
        """A value that the schema allows, an example by preference."""
        example = self._example(name)
        if example is not None:
            return example
        if "default" in schema and schema["default"] is not None:
            return schema["default"]
        part = self._resolved(schema)[0]
        if "enum" in part:
            return part["enum"][0]
        kind = part.get("type")
        if kind == "object":
            required = part.get("required", ())
            return {key: self._ordinary(part["properties"][key], key) for key in required}
        if kind == "array":
            return [self._ordinary(part.get("items", {}), name)]
        return {"integer": 1, "number": 0.5, "boolean": False}.get(kind, "x")

    def body(self) -> Json:
        """A JSON body that the operation takes."""
        for part in self._resolved(self._schema):
            fields = part.get("properties", {})
            names = [name for name in fields if name in part.get("required", ()) or self._example(f"+{name}")]
            return {name: self._ordinary(fields[name], name) for name in names}
        return {}

    def ordinary_call(self) -> Call:
        """A call with values that the operation takes."""
        return self.call(None, b"")

    def call(self, place: Place | None, value: bytes) -> Call:
        """A call with ``value`` (see :mod:`tests.properties.hostile`) at ``place``, and ordinary values elsewhere."""
        chosen = {(place.where, place.path[0]): value} if place is not None and place.path else {}
        address, query, headers = self.address, [], {}
        for parameter in self._parameters():
            name, where = parameter["name"], parameter["in"]
            if (where, name) in chosen:
                text = chosen[where, name]
            elif parameter.get("required") or self._example(f"+{name}"):
                text = str(self._ordinary(parameter["schema"], name)).encode()
            else:
                continue
            if where == "path":
                address = address.replace(f"{{{name}}}", quote(text or b" ", safe=""))
            elif where == "query":
                query.append(f"{name}={quote(text, safe='')}")
            else:
                headers[name] = text.decode("latin-1")
        content_type, body = self._sent(place, value)
        url = address + ("?" + "&".join(query) if query else "")
        return Call(method=self.method, url=url, body=body, content_type=content_type, headers=headers)

    def _sent(self, place: Place | None, value: bytes) -> tuple[str, bytes]:
        if self.content_type == "multipart/form-data":
            return f"multipart/form-data; boundary={BOUNDARY.decode()}", self._form(place, value)
        is_whole = place is not None and place.where == "body" and not place.path
        if is_whole:
            return self.content_type, value
        if self.content_type not in {"", "application/json"}:
            return self.content_type, str(self._example("body") or "").encode()
        if not self.content_type:
            return "", b""
        body = self.body()
        if place is None or place.where != "body":
            return self.content_type, json.dumps(body).encode()
        marked = json.dumps(_placed(body, place.path)).encode()
        return self.content_type, marked.replace(MARK.encode(), value)

    def _form(self, place: Place | None, value: bytes) -> bytes:
        required = {name for part in self._resolved(self._schema) for name in part.get("required", ())}
        lines = []
        for name, described in self._fields(self._schema).items():
            if place is not None and place.where == "form" and place.path[0] == name:
                content = value
            elif described.get("format") == "binary":
                filename, content = self._example(f"file of {self.address}") or ("x.md", b"# x\n\ny\n")
                lines.append(
                    b'--%s\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\n%s\r\n'
                    % (BOUNDARY, name.encode(), filename.encode(), content)
                )
                continue
            elif name in required or self._example(f"+{name}"):
                content = str(self._ordinary(described, name)).encode()
            else:
                continue
            lines.append(
                b'--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (BOUNDARY, name.encode(), content)
            )
        return b"".join(lines) + b"--%s--\r\n" % BOUNDARY


def _placed(body: Json, path: FieldPath) -> Json:
    """Put the mark at ``path``, with the objects and lists that lead there."""
    if not path:
        return MARK.strip('"')
    first, rest = path[0], path[1:]
    if first == 0:
        return [_placed(None, rest)]
    kept = dict(body) if isinstance(body, dict) else {}
    return {**kept, str(first): _placed(kept.get(str(first)), rest)}


def operations(document: Json, examples: Mapping[str, Json]) -> list[Operation]:
    """Every operation of the OpenAPI document."""
    return [
        Operation(document, address, method, examples)
        for address, described in document["paths"].items()
        for method in described
    ]
