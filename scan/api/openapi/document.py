"""The API as an OpenAPI 3.1 document; tests compare it with the code.

Records, parameters and operations are said once, in the tables of the openapi.toml files: here of
the core, in an extension's folder of that extension. schemas.py says what entries of records mean.
Filters of lists, and each entity's schemas of its query and of the answer, follow from
sql/lists.toml; [filters] of openapi.toml has the field of each kind of filters. Responses with an
error: the meaning of each status, its codes and further fields.

A parameter is a field after its place and name: `["query page", kind, text, ...]`. An operation is
a table by its operationId: its method with the path, in which `{token}` is the shared parameter of
that name; `summary`, `description`, `tag`; `parameters`, names of shared ones, of GROUPS, or
`filters of <entity>`, `without` some; `query.<name>`, its own; `body`, a record, with `examples`;
`returns`, a kind, with `headers`, `status`, `media_type` and `more_types`; `errors` besides those
of all, and `key`, whether it needs one: always or sometimes.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from scan import VERSION
from scan.api.openapi.schemas import Json, declared, field, record, ref, schemas
from scan.api.query import FILTER_KEYS as QUERIED
from scan.cached_values import LazyMapping
from scan.database.lists import all_entities, begins_late, of_kind
from scan.http.interfaces import API
from scan.http.list_formats import TYPES
from scan.http.list_responses import LISTED, ORDERED, PAGED
from scan.parameters import MAX_LIMIT
from scan.queries.entities import RANGE
from scan.queries.filter_values import FILTER_KEYS, FILTERS
from scan.server.responses import PROBLEM_TYPE

TABLE = "[filters] of scan/api/openapi/shared.toml"


@cache
def filter_schemas() -> Json:
    """Return the schemas of filters by key."""
    schemas = {}
    for filter_ in chain.from_iterable(FILTERS.values()):
        kind = f"one of {', '.join(filter_.choices)}" if filter_.choices else None
        schema = field(kind or of_kind(filter_.kind, declared("filters"), TABLE))
        schemas[filter_.key] = {**schema, "description": filter_.description}
    return schemas


def query_schemas() -> Json:
    """Return the schemas of queries and of their answers, by entity and of all together."""
    names = {entity: entity.title().replace("_", "") for entity in QUERIED}
    return {
        **{f"{name}Query": _query(entity) for entity, name in names.items()},
        **{f"{name}Answer": _answer(entity, name) for entity, name in names.items()},
        "Query": _entity_union("A query.", names, "Query"),
        "QueryAnswer": _entity_union("The result of a query.", names, "Answer"),
    }


def _query(entity: str) -> Json:
    own = {n: f for n, f in declared("queries").get(entity, {}).items() if n[0] != "_"}
    keys = QUERIED[entity] if not own else RANGE
    filters = (
        own
        | {  # those of ranges have schemas: BlockFrom
            f"{key}?": filter_schemas().get(key) or ref(key[0].upper() + key[1:]) for key in keys
        }
    )
    return record(
        {
            "_form": True,
            "entity": ["any", "The entity.", {"const": entity}],
            f"filter{'' if own else '?'}": {**filters, "_text": "All must match.", "_form": True},
            "orderBy?": "QueryOrder",
            "limit?": "QueryLimit",
            "offset?": "QueryOffset",
            "cursor?": "QueryCursor",
        }
    )


def _answer(entity: str, name: str) -> Json:
    declared_entity = all_entities().get(entity)
    has_untraced = declared_entity is not None and declared_entity.extra is not None
    return record(
        {
            "entity": ["any", "The entity.", {"const": entity}],
            "count": "QueryCount",
            "data": [f"list of {name.removesuffix('s')}", "The records.", {"maxItems": MAX_LIMIT}],
            "total": "QueryTotal",
            **({"untracedBlocks": "UntracedBlocks"} if has_untraced else {}),
            "keptFrom?": "KeptFrom",
            "unproven?": "UnprovenFields",
            **({"completeFrom?": "CompleteFrom"} if begins_late(entity) else {}),
            **declared("queries").get(entity, {}).get("_answer", {}),
            "next": "Next",
        }
    )


def _entity_union(description: str, names: dict[str, str], suffix: str) -> Json:
    schemas = {entity: ref(f"{name}{suffix}") for entity, name in names.items()}
    mapping = {entity: schema["$ref"] for entity, schema in schemas.items()}
    return {
        "description": description,
        "oneOf": [*schemas.values()],
        "discriminator": {"propertyName": "entity", "mapping": mapping},
    }


ALWAYS = (400, 401, 414, 429, 431, 503)  # of every operation: its `default` response
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

# What each status means, and its codes.
ERRORS: Mapping[int, tuple[str, tuple[str, ...]]] = LazyMapping(
    lambda: {
        int(status): (meaning, tuple(codes))
        for status, (meaning, *codes) in declared("errors").items()
    }
)


def _error(*statuses: int) -> Json:
    described = [ERRORS[status][0] for status in statuses]
    further: dict[str, Any] = {}
    if len(statuses) > 1:
        described = [f"{status}: {ERRORS[status][0]}" for status in statuses]
    else:
        further = declared("errors_with").get(str(statuses[0]), {})
    codes = [*dict.fromkeys(code for status in statuses for code in ERRORS[status][1])]
    fields = {"code": {"description": "Its code.", "enum": codes}} | {
        name: field(value) for name, value in further.items()
    }
    # As in those of success, the limit's headers are in the document's description.
    response = _response(
        " ".join(described),
        {"allOf": [ref("Error"), {"properties": fields}]},
        *RATE_HEADERS,
        *(("Retry-After",) if 502 in statuses else ()),
    )
    # Problem has the fields of Error.
    problem = {"allOf": [ref("Problem"), {"properties": fields}]} if further else ref("Problem")
    response["content"][PROBLEM_TYPE] = {"schema": problem}
    return response


def _response(description: str, schema: Json, *headers: str) -> Json:
    """Return a response with headers, and the request's id among them."""
    return {
        "description": description,
        "headers": header_references(*headers, "X-Request-Id"),
        "content": {"application/json": {"schema": schema}},
    }


def header_references(*names: str) -> Json:
    """Return references to components of headers, which are named by their last word."""
    return {name: {"$ref": f"#/components/headers/{name.rpartition('-')[2]}"} for name in names}


def foreign_responses() -> Json:
    """Return responses whose content their interfaces' publishers document."""
    content = {"description": "See its documentation."}
    return {
        name: _response(description, content, *headers)
        for name, (description, *headers) in declared("responses").items()
    }


METHODS = frozenset(("get", "post", "patch", "delete"))
ENTRIES = METHODS | frozenset(
    """
    summary description tag parameters without query body examples returns headers status media_type
    more_types errors key
    """.split()
)
GROUPS = {"paged": PAGED, "listed": LISTED, "range": RANGE, "ordered": ORDERED}

WITH_BODY = (413, 415)
NOT_INDEXED = ("API keys", "Webhooks", "Service")  # tags of operations that do not read the index
# Tags of operations without their own, by the beginning of their path.
TAGS = {
    segment: tag
    for tag, segments in {
        "Blocks": "blocks blobs execution-requests",
        "Transactions": """transactions internal-transfers logs authorizations messages-to-l1
            user-operations""",
        "Addresses": "addresses accounts names",
        "Tokens": "tokens token-transfers logos",
        "Contracts": "contract-creations",
        "Markets": "dex-trades prices",
        "Statistics": "stats gas",
    }.items()
    for segment in segments.split()
}


ANONYMOUS: list[Json] = [{}]
KEYS: list[Json] = [{"ApiKey": []}, {"Bearer": []}]
SECURITY = {"always": KEYS, "sometimes": [*ANONYMOUS, *KEYS]}


@cache
def parameters() -> Json:
    """Return the shared parameters, and the filters of lists."""
    shared = {
        component: _parameter(location_and_name, field(schema))
        for component, (location_and_name, *schema) in declared("parameters").items()
    }
    filters = {
        f"filter-{key}": _parameter(f"query {key}", schema)
        for key, schema in filter_schemas().items()
    }
    return shared | filters


def _parameter(location_and_name: str, schema: Json) -> Json:
    location, _, name = location_and_name.partition(" ")
    keywords = {
        key: value for key, value in schema.items() if key not in ("description", "required")
    }
    required = {"required": True} if schema.get("required", location == "path") else {}
    if location == "path":  # not every reader takes the example of a schema for the parameter's
        typed = schemas()[keywords["$ref"].rpartition("/")[2]] if "$ref" in keywords else keywords
        required["example"] = typed["examples"][0]
        keywords.pop("examples", None)
    described = {"description": schema["description"], "schema": keywords}
    return {"name": name, "in": location, **required, **described}


def paths() -> Json:
    """Return the operations by path below /api/v1 and method; raises LookupError for an unknown
    entry."""
    by_path: Json = {}
    for name, operation in declared("operations").items():
        [method] = METHODS & operation.keys()
        if unknown := operation.keys() - ENTRIES:
            raise LookupError(f"[operations.{name}] of openapi.toml has unknown {sorted(unknown)}")
        path = re.sub(r"(?<={)\w+", lambda key: parameters()[key[0]]["name"], operation[method])
        by_path.setdefault(path, {})[method] = _operation(name, operation, operation[method])
    return by_path


def _operation(name: str, declared_as: Json, path: str) -> Json:
    names = [*_parameter_names(declared_as, path)]
    query_fields = declared_as.get("query", {}).items()
    body: Json = {}
    if "body" in declared_as:
        examples = {name: {"value": value} for name, value in declared_as["examples"].items()}
        content = {"schema": ref(declared_as["body"]), "examples": examples}
        body = {"requestBody": {"required": True, "content": {"application/json": content}}}
    return {
        "operationId": name,
        "tags": [declared_as.get("tag") or TAGS.get(path.split("/")[1], "Queries")],
        **{key: declared_as[key] for key in ("summary", "description") if key in declared_as},
        **({"security": SECURITY[declared_as["key"]]} if "key" in declared_as else {}),
        "parameters": [
            *({"$ref": f"#/components/parameters/{name}"} for name in names),
            *(_parameter(f"query {key}", field(value)) for key, value in query_fields),
        ],
        "responses": _responses(declared_as, names),
        **body,
    }


def _parameter_names(declared_as: Json, path: str) -> Iterator[str]:
    yield from re.findall(r"{(\w+)}", path)
    for name in declared_as.get("parameters", ()):
        if name.startswith("filters of "):
            keys = FILTER_KEYS[name.removeprefix("filters of ")]
            without = declared_as.get("without", ())
            yield from (f"filter-{key}" for key in keys if key not in without)
        else:
            yield from GROUPS.get(name, (name,))
    if declared_as.get("tag") not in NOT_INDEXED:
        yield "block"


def _responses(declared_as: Json, parameter_names: list[str]) -> Json:
    is_list = "cursor" in parameter_names
    media_types = [*declared_as.get("more_types", ())]
    media_types += TYPES.values() if "format" in parameter_names else ()
    schema = {"schema": field(declared_as["returns"])}
    # Headers of all responses are in the document's description.
    headers = (*(("Link",) if is_list else ()), *declared_as.get("headers", ()))
    success: Json = {
        "description": "Success.",
        **({"headers": header_references(*headers)} if headers else {}),
        "content": {
            declared_as.get("media_type", "application/json"): schema,
            **{name: {"schema": {"type": "string"}} for name in media_types},
        },
    }
    errors = {*declared_as.get("errors", ()), *(WITH_BODY if "body" in declared_as else ())}
    errors |= {409} if is_list else set()
    errors -= {*ALWAYS}
    return {
        str(declared_as.get("status", 200)): success,
        "default": {"$ref": "#/components/responses/default"},
        **{str(code): {"$ref": f"#/components/responses/{code}"} for code in sorted(errors)},
    }


def document(base_path: str = "", *, needs_key: bool = False) -> Json:
    """Return the document; with `needs_key` nothing is served without one (SCAN_ACCESS)."""
    pages = {}  # outside the API: their servers, if they have their own, are below the base path
    for path, page in declared("paths").items():
        urls = [server["url"].rstrip("/") for server in page.get("servers", ())]
        servers = {"servers": [{"url": base_path + url or "/"} for url in urls]} if urls else {}
        pages[path] = page | servers
    return {
        "openapi": "3.1.0",
        "info": {**declared("info"), "version": VERSION},
        "servers": [{"url": base_path or "/", "description": "This server."}],
        # Operations that require a key override this.
        "security": KEYS if needs_key else [*ANONYMOUS, *KEYS],
        "tags": [
            *({"name": name, **tag} for name, tag in declared("tags").items()),
            {"name": "Service", "description": "The state of the service; not rate limited."},
        ],
        "paths": {**{API + path: methods for path, methods in paths().items()}, **pages},
        "webhooks": declared("webhooks"),
        "components": {
            "schemas": {**schemas(), **query_schemas()},
            "responses": {
                **{str(status): _error(status) for status in ERRORS if status not in ALWAYS},
                "default": _error(*ALWAYS),
                **foreign_responses(),
            },
            "parameters": parameters(),
            "headers": dict(map(_header, declared("headers").items())),
            "securitySchemes": declared("security"),
        },
    }


def _header(declared_as: tuple[str, Json]) -> tuple[str, Json]:
    """Return the component of a header, which is named by its last word."""
    name, value = declared_as
    schema = field(value)
    description, [example] = schema.pop("description"), schema.pop("examples")
    described = {"description": description, "required": not name.endswith("?")}
    key = name.removesuffix("?").rpartition("-")[2]
    return key, {**described, "schema": schema, "example": example}
