"""The API as an OpenAPI 3.1 document; tests compare it with the code.

Records, parameters and operations are said once, in the tables of the openapi.toml files: here of
the core, in an extension's folder of that extension. declarations.py reads them; schemas.py and
operations.py say what their entries mean.
"""

from scan import VERSION
from scan.api.openapi.declarations import Json, declared
from scan.api.openapi.errors import error_responses, foreign_responses
from scan.api.openapi.filters import query_schemas
from scan.api.openapi.operations import ANONYMOUS, KEYS, parameters, paths
from scan.api.openapi.schemas import field, schemas
from scan.http.interfaces import API


def document(base_path: str = "") -> Json:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {**declared("info"), "version": VERSION},
        "servers": [{"url": base_path or "/", "description": "This server."}],
        # Operations that require a key override this.
        "security": [*ANONYMOUS, *KEYS],
        "tags": [
            *({"name": name, **tag} for name, tag in declared("tags").items()),
            {"name": "Service", "description": "The state of the service; not rate limited."},
        ],
        "paths": {
            **{API + path: methods for path, methods in paths().items()},
            **{path: _below(base_path, page) for path, page in declared("paths").items()},
        },
        "webhooks": declared("webhooks"),
        "components": {
            "schemas": {**schemas(), **query_schemas()},
            "responses": {**error_responses(), **foreign_responses()},
            "parameters": parameters(),
            "headers": dict(map(_header, declared("headers").items())),
            "securitySchemes": declared("security"),
        },
    }


def _below(base_path: str, page: Json) -> Json:
    """Return a path outside the API, whose servers, if it has its own, are below the base path."""
    servers = [
        {"url": base_path + server["url"].rstrip("/") or "/"} for server in page.get("servers", ())
    ]
    return {**page, "servers": servers} if servers else page


def _header(declared_as: tuple[str, Json]) -> tuple[str, Json]:
    """Return the component of a header, which is named by its last word."""
    name, value = declared_as
    schema = field(value)
    description, [example] = schema.pop("description"), schema.pop("examples")
    described = {"description": description, "required": not name.endswith("?")}
    key = name.removesuffix("?").rpartition("-")[2]
    return key, {**described, "schema": schema, "example": example}
