"""The tools: operations of the API, with input schemas made from its OpenAPI document."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from scan.errors import InvalidParameter

Json = dict[str, Any]

# The document's operation of each tool, from which its description and schema are made.
OPERATIONS = {
    "search": "search",
    "get_network": "getStats",
    "get_block": "getBlock",
    "get_transaction": "getTransaction",
    "get_address": "getAddress",
    "get_address_history": "listAddressHistory",
    "get_address_tokens": "listAddressTokens",
    "get_token": "getToken",
    "get_token_holders": "listTokenHolders",
    "get_contract": "getContract",
    "call_contract": "callContract",
    "get_contract_events": "listContractEvents",
    "list_event_logs": "listEventLogs",
    "list_events": "listEvents",
    "query": "query",
}
# Tools return one page of JSON.
LEFT_OUT = frozenset({"format"})
# The keys of a schema that help a model; examples, formats and patterns take the most room for the
# least use.
KEPT = frozenset(
    ("type", "enum", "const", "minimum", "maximum", "maxLength", "maxItems", "default")
)


class ApiRequest(NamedTuple):
    method: str
    path: str
    query: str
    body: Json | None


class ApiResponse(NamedTuple):
    status: int
    body: bytes


class Tool(NamedTuple):
    name: str
    description: str
    input_schema: Json
    method: str
    path: str
    in_path: frozenset[str]
    in_query: frozenset[str]

    def request(self, arguments: Mapping[str, Any]) -> ApiRequest:
        """Return the request of a call; raises InvalidParameter for unknown, missing and empty
        arguments. The API checks their values."""
        unknown = sorted(set(arguments) - set(self.input_schema["properties"]))
        if unknown:
            parameter_names = ", ".join(self.input_schema["properties"])
            message = f"Unknown argument {unknown[0][:50]}; {self.name} has {parameter_names}."
            raise InvalidParameter(message)
        missing = [name for name in self.input_schema["required"] if name not in arguments]
        if missing:
            raise InvalidParameter(f"The argument {missing[0]} is required.", field=missing[0])
        path, query, body = self.path, {}, {}
        for name, value in arguments.items():
            if value is None and name not in self.input_schema["required"]:
                continue  # models send null for an argument that they leave out
            if name in self.in_path:
                text = _text(name, value)
                if not text:  # the path would be a list's
                    raise InvalidParameter(f"The argument {name} is empty.", field=name)
                if "/" in text:  # WSGI does not tell an escaped slash from one of the path
                    raise InvalidParameter(f"{name} must not have a slash.", field=name)
                path = path.replace(f"{{{name}}}", quote(text, safe=""))
            elif name in self.in_query:
                is_object = isinstance(value, dict)  # whose parameter takes it as text
                query[name] = json.dumps(value) if is_object else _text(name, value)
            else:
                body[name] = value
        sent_body = body if self.method == "POST" else None
        return ApiRequest(self.method, path, urlencode(query), sent_body)


def tools_of(document: Json) -> dict[str, Tool]:
    """Return the tools by name, in the order of OPERATIONS."""
    operations = {
        operation["operationId"]: (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict) and "operationId" in operation
    }
    return {
        name: _tool(name, *operations[operation], document)
        for name, operation in OPERATIONS.items()
        if operation in operations  # else its extension is off
    }


def _tool(name: str, method: str, path: str, operation: Json, document: Json) -> Tool:
    parameters = [_resolved(parameter, document) for parameter in operation["parameters"]]
    parameters = [
        parameter
        for parameter in parameters
        if parameter["in"] in ("path", "query") and parameter["name"] not in LEFT_OUT
    ]
    properties = {
        parameter["name"]: _schema(parameter["schema"], document, parameter["description"])
        for parameter in parameters
    }
    required = [parameter["name"] for parameter in parameters if parameter.get("required") is True]
    if "requestBody" in operation:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        schema = _schema(body, document)
        properties |= schema["properties"]
        required += schema["required"]
    return Tool(
        name=name,
        description=". ".join(
            operation[key] for key in ("summary", "description") if key in operation
        ),
        input_schema={
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
        method=method.upper(),
        path=path,
        in_path=frozenset(p["name"] for p in parameters if p["in"] == "path"),
        in_query=frozenset(p["name"] for p in parameters if p["in"] == "query"),
    )


def _schema(schema: Json, document: Json, description: str = "") -> Json:
    """Return a schema without references and alternatives of objects, which some models refuse."""
    schema = _resolved(schema, document)
    description = description or schema.get("description", "")
    if "oneOf" in schema and all("properties" in _resolved(s, document) for s in schema["oneOf"]):
        return _merged([_schema(alternative, document) for alternative in schema["oneOf"]])
    kept: Json = {key: value for key, value in schema.items() if key in KEPT}
    if description:
        kept["description"] = description
    for key in ("oneOf", "anyOf"):
        if key in schema:
            kept[key] = [_schema(alternative, document) for alternative in schema[key]]
    if "items" in schema:
        kept["items"] = _schema(schema["items"], document)
    if "properties" in schema:
        members = schema["properties"].items()
        kept["properties"] = {name: _schema(value, document) for name, value in members}
        kept["required"] = schema.get("required", [])
    return kept


def _merged(alternatives: Sequence[Json]) -> Json:
    """Return one object schema with all properties; values that tell them apart become an enum."""
    properties: Json = {}
    for alternative in alternatives:
        for name, value in alternative["properties"].items():
            properties[name] = _combined(properties[name], value) if name in properties else value
    required = [
        name
        for name in alternatives[0]["required"]
        if all(name in alternative["required"] for alternative in alternatives)
    ]
    return {"type": "object", "properties": properties, "required": required}


def _combined(first: Json, second: Json) -> Json:
    if "properties" in first and "properties" in second:
        return {**first, **_merged([first, second])}
    values = [*_values(first), *(value for value in _values(second) if value not in _values(first))]
    if not values:
        return first
    return {**{key: value for key, value in first.items() if key != "const"}, "enum": values}


def _values(schema: Json) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _resolved(value: Json, document: Json) -> Json:
    """Return what a reference refers to, with the description that stands beside the reference."""
    while "$ref" in value:
        target: Any = document
        for name in value["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        value = target | {key: member for key, member in value.items() if key != "$ref"}
    return value


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    raise InvalidParameter(f"{name} must be a string or an integer.", field=name)
