"""Parameters and operations of the document, as openapi.toml declares them.

A parameter is a field after its place and name: `["query page", kind, text, ...]`. An operation is
a table by its operationId: its method with the path, in which `{token}` is the shared parameter of
that name; `summary`, `description`, `tag`; `parameters`, names of shared ones, of GROUPS, or
`filters of <entity>`, `without` some; `query.<name>`, its own; `body`, a record, with `examples`;
`returns`, a kind, with `headers`, `status`, `media_type` and `more_types`; `errors` besides those
of all, and `key`, whether it needs one: always or sometimes.
"""

import re
from collections.abc import Iterator
from functools import cache

from scan.api.openapi.declarations import Json, declared
from scan.api.openapi.errors import ALWAYS, header_references
from scan.api.openapi.filters import filter_schemas
from scan.api.openapi.schemas import field, ref, schemas
from scan.http.list_format import TYPES
from scan.queries.filters import FILTER_KEYS

METHODS = frozenset(("get", "post", "patch", "delete"))
ENTRIES = METHODS | frozenset(
    """
    summary description tag parameters without query body examples returns headers status media_type
    more_types errors key
    """.split()
)
PAGED = ("page", "limit", "cursor")
LISTED = (*PAGED, "format")
RANGE = ("blockFrom", "blockTo", "timeFrom", "timeTo")
GROUPS = {"paged": PAGED, "listed": LISTED, "range": RANGE, "ordered": (*LISTED, *RANGE, "orderBy")}

WITH_BODY = (413, 415)
ABOUT_THE_CHAIN = ("Chain", "Contracts")  # tags of operations that read the index
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
    own = {key: value for key, value in schema.items() if key not in ("description", "required")}
    required = {"required": True} if schema.get("required", location == "path") else {}
    if location == "path":  # not every reader takes the example of a schema for the parameter's
        typed = schemas()[own["$ref"].rpartition("/")[2]] if "$ref" in own else own
        required["example"] = typed["examples"][0]
        own.pop("examples", None)
    described = {"description": schema["description"], "schema": own}
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
    own = declared_as.get("query", {}).items()
    body = {"requestBody": _body(declared_as)} if "body" in declared_as else {}
    return {
        "operationId": name,
        "tags": [declared_as.get("tag", "Chain")],
        **{key: declared_as[key] for key in ("summary", "description") if key in declared_as},
        **({"security": SECURITY[declared_as["key"]]} if "key" in declared_as else {}),
        "parameters": [
            *({"$ref": f"#/components/parameters/{name}"} for name in names),
            *(_parameter(f"query {key}", field(value)) for key, value in own),
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
    if declared_as.get("tag", "Chain") in ABOUT_THE_CHAIN:
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
            **{name: {} for name in media_types},
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


def _body(declared_as: Json) -> Json:
    examples = {name: {"value": value} for name, value in declared_as["examples"].items()}
    content = {"schema": ref(declared_as["body"]), "examples": examples}
    return {"required": True, "content": {"application/json": content}}
