"""The OpenAPI document, and whether an answer is as it says."""

from typing import Any

from openapi_schema_validator import OAS31Validator
from werkzeug.test import TestResponse

from scan.openapi import document

DOCUMENT = document()
METHODS = ("get", "post", "patch", "put", "delete")
OPERATIONS = [
    (method, path, page[method])
    for path, page in DOCUMENT["paths"].items()
    for method in METHODS
    if method in page
]


def check(schema: dict[str, Any], value: Any, at: str) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    found = OAS31Validator(whole).iter_errors(value)
    errors = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in found]
    assert not errors, (at, errors[:3])


def check_answer(method: str, path: str, answer: TestResponse) -> None:
    """Status, headers and body are among those documented, without an undocumented field."""
    documented = DOCUMENT["paths"][path][method]["responses"]
    assert str(answer.status_code) in documented, (method, path, answer.status_code, answer.text)
    described = resolved(documented[str(answer.status_code)])
    missing = {name for name in described["headers"] if name not in answer.headers}
    assert not missing, (method, path, missing)
    check(described["content"]["application/json"]["schema"], answer.json, f"{method} {path}")
    known = fields_of(described["content"]["application/json"]["schema"])
    if known:
        assert set(answer.json) <= known, (method, path)


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        found: Any = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        node = found
    return node


def fields_of(schema: dict[str, Any]) -> set[str]:
    return set(resolved(schema).get("properties", {}))
