"""Paths of the Sourcify-compatible API, whose publisher documents the details."""

from scan.api.openapi.declarations import Json
from scan.api.openapi.errors import RATE_HEADERS, foreign_response
from scan.api.openapi.schemas import ref

TAG = "Sourcify"
TAGS = (
    {
        "name": TAG,
        "description": "The Sourcify-compatible API.",
        "externalDocs": {
            "url": "https://docs.sourcify.dev/docs/api",
            "description": "Sourcify's API v2",
        },
    },
)
RESPONSES = {
    "Sourcify": foreign_response("The record, or {customCode, message, errorId}.", *RATE_HEADERS),
}
PARAMETERS: Json = {
    name: {
        "name": sent_as,
        "in": "path",
        "required": True,
        "description": description,
        "schema": schema,
    }
    for name, sent_as, description, schema in (
        ("chainId", "chain_id", "The indexed chain.", {"type": "string", "pattern": "^[0-9]+$"}),
        ("contractAddress", "address", "The contract.", ref("AnyCaseAddress")),
        (
            "verificationId",
            "verification_id",
            "The id from the submission.",
            {"type": "string", "pattern": "^[0-9a-fA-F-]+$"},
        ),
    )
}
_SOURCIFY = (
    ("get", "/v2/contract/{chain_id}/{address}", "getSourcifyContract", "A verified contract",
     ("chainId", "contractAddress"), (200,)),
    ("post", "/v2/verify/{chain_id}/{address}", "submitSourcifyVerification",
     "Verify by standard JSON", ("chainId", "contractAddress"), (202,)),
    ("post", "/v2/verify/metadata/{chain_id}/{address}", "submitSourcifyMetadata",
     "Verify by sources and metadata", ("chainId", "contractAddress"),
     (202,)),
    ("get", "/v2/verify/{verification_id}", "getSourcifyVerification", "A verification",
     ("verificationId",), (200,)),
    ("get", "/chains", "listSourcifyChains", "The indexed chain", (), (200,)),
)  # fmt: skip


def outside_paths(base_path: str) -> Json:
    """Return the paths of the Sourcify-compatible API, which some clients use below /server."""
    servers = [{"url": base_path or "/"}, {"url": f"{base_path}/server"}]
    paths: Json = {}
    for method, path, name, summary, parameters, statuses in _SOURCIFY:
        operation: Json = {
            "operationId": name,
            "tags": [TAG],
            "summary": summary,
            "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in parameters],
            "responses": {
                str(status): {"$ref": "#/components/responses/Sourcify"}
                for status in (*statuses, "4XX", 503)
            },
        }
        if method == "post":
            schema = {"type": "object", "description": "See Sourcify's documentation."}
            content = {"application/json": {"schema": schema}}
            operation["requestBody"] = {"required": True, "content": content}
        paths[path] = {"servers": servers, method: operation}
    return paths
