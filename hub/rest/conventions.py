"""A NinjaAPI with the hub's conventions built in: what :mod:`hub.site.api` mounts the apps' routers on."""

from __future__ import annotations

import threading
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError, ValidationErrorContext
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from hub.rest.auth import BearerAuth
from hub.rest.errors import InvalidFields, UnsupportedMediaType
from hub.rest.idempotency import KEY_HEADER, WRITE_METHODS, idempotent, is_read
from hub.rest.parsing import JsonParser
from hub.rest.problems import PROBLEM_MEDIA_TYPE, problem_response, respond_to_exception
from hub.rest.responses import JsonRenderer
from hub.rest.schemas import Problem

FORM_TYPES = frozenset({"multipart/form-data", "application/x-www-form-urlencoded"})
SCHEMA_REF = "#/components/schemas/{model}"


class HubAPI(NinjaAPI):
    """Bearer tokens, problem details, strict JSON and Idempotency-Key for every operation of every router."""

    def __init__(self, *, title: str, version: str, description: str = "", urls_namespace: str = "api") -> None:
        super().__init__(
            title=title,
            version=version,
            description=description,
            openapi_url="/openapi.json",
            docs_url="/docs",
            urls_namespace=urls_namespace,
            auth=BearerAuth(),
            parser=JsonParser(),
            renderer=JsonRenderer(),
        )
        self._described: dict[tuple[object, ...], OpenAPISchema] = {}
        self._describing = threading.Lock()
        # ninja's types allow a class instead of an exception; it only ever hands over what was raised
        for expected in (Exception, Http404, HttpError):
            self.add_exception_handler(expected, respond_to_exception)  # type: ignore[arg-type]
        self.add_exception_handler(ValidationError, _respond_to_invalid)  # type: ignore[arg-type]
        self.add_decorator(idempotent, mode="view")

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Turn pydantic's errors into {field, location, message, kind}; the field is what the caller wrote."""
        return ValidationError([error for context in error_contexts for error in self._field_errors(context)])

    def _field_errors(self, context: ValidationErrorContext[Any]) -> list[dict[str, str]]:
        # the body of a call with one body parameter is that parameter itself: its name means nothing to the caller
        own_name = getattr(context.model, "__read_from_single_attr__", None)
        errors = []
        for error in super().validation_error_from_error_contexts([context]).errors:
            location, *parts = (str(part) for part in error["loc"])
            if parts and parts[0] == own_name:
                parts = parts[1:]
            message = str(error["msg"]).removeprefix("Value error, ")
            field = ".".join(parts) or location
            errors.append({"field": field, "location": location, "message": message, "kind": str(error["type"])})
        return errors

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name operations by their handlers: they are what generated clients call their methods."""
        return str(operation.view_func.__name__)

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Describe the API, with the problem format of every operation and the Idempotency-Key of every write.

        Made once in each process, since it takes long and asks nobody for a token; not to be changed by who gets it.
        """
        asked = (path_prefix, *sorted((path_params or {}).items()))
        with self._describing:
            if asked not in self._described:
                self._described[asked] = self._describe(path_prefix, path_params)
            return self._described[asked]

    def _describe(self, path_prefix: str | None, path_params: dict[str, Any] | None) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        problem = Problem.model_json_schema(ref_template=SCHEMA_REF)
        schema["components"]["schemas"].update(problem.pop("$defs"), Problem=problem)
        read = self._reading_operations()
        for operations in schema["paths"].values():
            for method, operation in operations.items():
                is_write = method.upper() in WRITE_METHODS and operation["operationId"] not in read
                _describe_conventions(operation, is_write=is_write)
        return schema

    def _reading_operations(self) -> set[str]:
        """The ids of the operations that only read, whatever their method."""
        views = [view for router in self._get_bound_routers() for view in router.path_operations.values()]
        return {
            self.get_openapi_operation_id(operation)
            for view in views
            for operation in view.operations
            if is_read(operation.view_func)
        }


def _describe_conventions(operation: dict[str, Any], *, is_write: bool) -> None:
    operation["responses"]["default"] = {
        "description": "Problem details (RFC 9457)",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": SCHEMA_REF.format(model="Problem")}}},
    }
    if is_write:
        operation.setdefault("parameters", []).append(
            {
                "in": "header",
                "name": KEY_HEADER,
                "required": False,
                "schema": {"type": "string", "minLength": 1, "maxLength": 200},
                "description": "makes a repeat of the same write within 24 hours return the first answer",
            }
        )


def _respond_to_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors: list[dict[str, str]] = error.errors
    lacks_form = any(item["location"] in {"form", "file"} and item["kind"] == "missing" for item in errors)
    if lacks_form and request.content_type not in FORM_TYPES:
        refusal = UnsupportedMediaType(
            _('This call reads a body of type multipart/form-data, not "{given}".'), given=request.content_type or "-"
        )
        return problem_response(request, refusal)
    fields = ", ".join(dict.fromkeys(item["field"] for item in errors))
    shown = [{name: item[name] for name in ("field", "location", "message")} for item in errors]
    return problem_response(
        request, InvalidFields(_("These values can't be used: {fields}."), errors=shown, fields=fields)
    )
