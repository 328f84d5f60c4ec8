"""Building blocks of the document: fields, parameters, responses, operations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scan.database.lists import begins_late
from scan.http.list_format import TYPES
from scan.parameters import MAX_LIMIT
from scan.queries.filters import TOKEN_TYPES

Json = dict[str, Any]

ADDRESS_EXAMPLE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
TOKEN_EXAMPLE = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
LOGO_EXAMPLE = 64 * "0"
HASH_EXAMPLE = "0x008ad7f8a3b7c2a5d4e1f60718293a4b5c6d7e8f90a1b2c3d4e5f60feafb5801"
TIME_EXAMPLE = "2026-01-31T23:59:59Z"
AMOUNT_EXAMPLE = "1000000000"

SAFE_INTEGER = 2**53 - 1
BIGINT = 2**63 - 1

ALWAYS = (400, 401, 429, 503)  # of every operation: its `default` response
WITH_BODY = (413, 415)
ABOUT_THE_CHAIN = ("Chain", "Contracts")  # tags of operations that read the index


# Types of most fields; a field refers to one of them and adds its description.
SCALARS: Json = {
    "Count": {
        "type": "integer",
        "format": "int64",
        "minimum": 0,
        "maximum": BIGINT,
        "description": "An integer of 63 bits.",
        "examples": [17],
    },
    "Amount": {
        "type": "string",
        "pattern": "^(0|[1-9][0-9]{0,77})$",
        "examples": [AMOUNT_EXAMPLE],
        "description": "A uint256 in decimal digits.",
    },
    "HexAddress": {
        "type": "string",
        "pattern": "^0x[0-9a-f]{40}$",
        "examples": [ADDRESS_EXAMPLE],
        "description": "A lower-case address.",
    },
    "Hash": {
        "type": "string",
        "pattern": "^0x[0-9a-f]{64}$",
        "examples": [HASH_EXAMPLE],
        "description": "32 bytes.",
    },
    "HexBytes": {
        "type": "string",
        "pattern": "^0x([0-9a-f]{2})*$",
        "examples": ["0x"],
        "description": "Bytes.",
    },
    # Not date-time: test chains have years after 9999.
    "Moment": {
        "type": "string",
        "examples": [TIME_EXAMPLE],
        "description": "ISO 8601, UTC.",
        "pattern": "^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
    },
    "Time": {
        "type": ["string", "integer"],
        "examples": [TIME_EXAMPLE, 1767225660],
        "description": "ISO 8601 in UTC, or Unix seconds.",
    },
    "Symbol": {
        "type": ["string", "null"],
        "maxLength": 50,
        "examples": ["WETH"],
        "description": "The token's symbol; null for a token without transfers.",
    },
    "Decimals": {
        "type": ["integer", "null"],
        "minimum": 0,
        "maximum": 255,
        "examples": [18],
        "description": "The token's decimals; null for a token without transfers.",
    },
    "Flag": {"type": "boolean", "description": "A boolean.", "examples": [True]},
    "AnyCaseAddress": {
        "type": "string",
        "pattern": "^0[xX][0-9a-fA-F]{40}$",
        "description": "An address in any letter case.",
        "examples": [ADDRESS_EXAMPLE],
    },
    "AnyCaseHash": {
        "type": "string",
        "pattern": "^0[xX][0-9a-fA-F]{64}$",
        "description": "32 bytes in any letter case.",
        "examples": [HASH_EXAMPLE],
    },
    "Id": {
        "type": "integer",
        "format": "int64",
        "minimum": 1,
        "maximum": SAFE_INTEGER,
        "description": "A random number below 2^53.",
        "examples": [4503599627370496],
    },
    "Total": {
        "type": "integer",
        "format": "int64",
        "minimum": 0,
        "description": "The exact number on all pages.",
        "examples": [354],
    },
    "Next": {
        "type": ["string", "null"],
        "description": "The cursor of the next page; null if no records follow.",
    },
    "TokenType": {
        "type": "string",
        "enum": [*TOKEN_TYPES],
        "examples": [TOKEN_TYPES[0]],
        "description": "ERC-20, ERC-721 or ERC-1155.",
    },
    "MethodId": {
        "type": ["string", "null"],
        "pattern": "^0x[0-9a-f]{8}$",
        "description": "The called function's selector, the first 4 bytes of the input. Null if"
        " there are fewer, and for a contract creation.",
        "examples": ["0xa9059cbb"],
    },
}
# Types of fields that may be null.
SCALARS |= {
    f"{name}OrNull": {
        "anyOf": [{"$ref": f"#/components/schemas/{name}"}, {"type": "null"}],
        "description": f"{SCALARS[name]['description']} Or null.",
    }
    for name in (
        *("Amount", "AnyCaseAddress", "Count", "Flag", "Hash", "HexAddress", "HexBytes", "Moment"),
        "TokenType",
    )
}  # fmt: skip


def _scalar(name: str, description: str, example: object = None) -> Json:
    """Return a reference to a scalar, with the example if it differs from the scalar's own."""
    own = example is not None and [example] != SCALARS[name]["examples"]
    return {**ref(name), "description": description, **({"examples": [example]} if own else {})}


def text(description: str, example: str, **more: Any) -> Json:
    return {"type": "string", "description": description, "examples": [example], **more}


def number(description: str, example: int, **more: Any) -> Json:
    if not more:
        return _scalar("Count", description, example)
    schema = {key: value for key, value in SCALARS["Count"].items() if key != "description"}
    return {**schema, "description": description, "examples": [example], **more}


def flag(description: str) -> Json:
    return _scalar("Flag", description)


def amount(description: str, example: str = AMOUNT_EXAMPLE) -> Json:
    return _scalar("Amount", description, example)


def address(description: str, example: str = ADDRESS_EXAMPLE) -> Json:
    return _scalar("HexAddress", description, example)


def hash32(description: str, example: str = HASH_EXAMPLE) -> Json:
    return _scalar("Hash", description, example)


def time(description: str) -> Json:
    return _scalar("Time", description)


def range_filters() -> Json:
    """Return the fields of ranges of blocks and times, both ends included; all must hold."""
    return {
        "blockFrom": number("The first block.", 100),
        "blockTo": number("The last block.", 200),
        "timeFrom": time("The earliest time."),
        "timeTo": time("The latest time."),
    }


def hex_bytes(description: str) -> Json:
    return _scalar("HexBytes", description)


def moment(description: str) -> Json:
    return _scalar("Moment", description)


def one_of(description: str, words: Sequence[str]) -> Json:
    return {"type": "string", "description": description, "enum": [*words]}


def nullable(schema: Json) -> Json:
    if "$ref" in schema:
        return {**schema, "$ref": f"{schema['$ref']}OrNull"}
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}


def or_null(schema: Json, description: str) -> Json:
    """Return a schema of a record or null; nullable() is for schemas with a type of their own."""
    return {"anyOf": [schema, {"type": "null"}], "description": description}


def array(items: Json, description: str, **more: Any) -> Json:
    return {"type": "array", "items": items, "description": description, **more}


def record(description: str, fields: Mapping[str, Json], optional: Sequence[str] = ()) -> Json:
    """Return the schema of an object in a response, whose fields are present unless optional."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": dict(fields),
        "required": [name for name in fields if name not in optional],
    }


def form(description: str, fields: Mapping[str, Json], required: Sequence[str]) -> Json:
    """Return the schema of an object in a request, where unknown fields are errors."""
    schema = record(description, fields)
    return {**schema, "required": [*required], "additionalProperties": False}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def page_of(
    name: str, item: str, description: str, total: str = "Total", *, keeps_all: bool = True
) -> Json:
    """Return the schema of a list's page; `total` is QueryTotal for a list with filters. Old rows
    of such a list, or of one without `keeps_all`, may be removed."""
    return record(
        description,
        {
            name: array(ref(item), "This page.", maxItems=MAX_LIMIT),
            "total": ref(total),
            **({} if keeps_all and total == "Total" else {"keptFrom": ref("KeptFrom")}),
            **({"completeFrom": ref("CompleteFrom")} if begins_late(name) else {}),
            "next": ref("Next"),
        },
        optional=("keptFrom", "completeFrom"),
    )


def query(name: str, schema: Json, *, required: bool = False) -> Json:
    description = schema.pop("description")
    return {
        "name": name, "in": "query", **({"required": True} if required else {}),
        "description": description, "schema": schema,
    }  # fmt: skip


def path(name: str, schema: Json) -> Json:
    description = schema.pop("description")
    return {
        "name": name, "in": "path", "required": True, "description": description, "schema": schema
    }  # fmt: skip


def any_case_address(description: str) -> Json:
    return _scalar("AnyCaseAddress", description)


def any_case_hash(description: str) -> Json:
    return _scalar("AnyCaseHash", description)


def identifier(description: str) -> Json:
    return _scalar("Id", description)


def token_type(description: str) -> Json:
    return _scalar("TokenType", description)


def extended(base: str, description: str, fields: Mapping[str, Json], **more: Any) -> Json:
    """Return a record with the fields of `base` and more."""
    own = record(description, fields, **more)
    return {
        "description": description,
        "allOf": [ref(base), {k: v for k, v in own.items() if k != "description"}],
    }


def with_fields(schema: Json, fields: Mapping[str, Json], required: Iterable[str] = ()) -> Json:
    """Return a record with more fields, which may be absent unless they are `required`."""
    if "allOf" in schema:
        *bases, own = schema["allOf"]
        return {**schema, "allOf": [*bases, with_fields(own, fields, required)]}
    return {
        **schema,
        "properties": {**schema["properties"], **fields},
        "required": [*schema["required"], *required],
    }


def shared(name: str) -> Json:
    return {"$ref": f"#/components/parameters/{name}"}


PAGE = shared("page")
LIMIT = shared("limit")
FORMAT = shared("format")
CURSOR = shared("cursor")
PAGED = (PAGE, LIMIT, CURSOR)
LISTED = (*PAGED, FORMAT)
RANGE = tuple(map(shared, ("blockFrom", "blockTo", "timeFrom", "timeTo")))
AT_LEAST_BLOCK = shared("block")
STATE_BLOCK = shared("stateBlock")
TOKEN = shared("token")
ADDRESS = shared("address")
CONTRACT = shared("contract")
TRANSACTION = shared("transaction")
TOKEN_ID = shared("tokenId")
WEBHOOK = shared("webhook")
OWNER = shared("owner")
ANONYMOUS: list[Json] = [{}]
KEYS: list[Json] = [{"ApiKey": []}, {"Bearer": []}]
OPTIONAL_HEADERS = ("X-Scan-Block",)
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def headers(*names: str) -> Json:
    """Return references to header components, which are named by the header's last word."""
    return {
        name: {"$ref": f"#/components/headers/{name.rpartition('-')[2]}"}
        for name in (*names, "X-Request-Id")
    }


def operation(
    method: str,
    name: str,
    summary: str,
    result: Json,
    *,
    tag: str = "Chain",
    description: str = "",
    parameters: Sequence[Json] = (),
    body: Json | None = None,
    errors: Sequence[int] = (),
    status: int = 200,
    needs_key: bool = False,
    may_need_key: bool = False,
    media_type: str = "application/json",
    more_types: Sequence[str] = (),
) -> Json:
    """Return {method: operation} of /api/v1, with the headers, parameters and errors of all."""
    is_list = CURSOR in parameters
    responses: Json = {
        str(status): {
            "description": "Success.",
            # Headers of all responses are in the document's description.
            **({"headers": {"Link": {"$ref": "#/components/headers/Link"}}} if is_list else {}),
            "content": {media_type: {"schema": result}, **{name: {} for name in more_types}},
        },
        "default": {"$ref": "#/components/responses/default"},
    }
    if FORMAT in parameters:
        responses[str(status)]["content"] |= {name: {} for name in TYPES.values()}
    more = {*(WITH_BODY if body else ()), *errors, *((409,) if is_list else ())}
    for code in sorted(more - {*ALWAYS}):
        responses[str(code)] = {"$ref": f"#/components/responses/{code}"}
    described: Json = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        **({"description": description} if description else {}),
        **({"security": [*ANONYMOUS, *KEYS]} if may_need_key else {}),
        **({"security": KEYS} if needs_key else {}),
        "parameters": [*parameters, *([AT_LEAST_BLOCK] if tag in ABOUT_THE_CHAIN else [])],
        "responses": responses,
    }
    if body:
        described["requestBody"] = {"required": True, "content": {"application/json": body}}
    return {method: described}


def sends(schema: Json, **examples: object) -> Json:
    """Return the content of a request body, with named examples."""
    return {
        "schema": schema,
        "examples": {name: {"value": value} for name, value in examples.items()},
    }
