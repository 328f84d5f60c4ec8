"""Paths of the Etherscan- and Sourcify-compatible APIs, whose publishers document the details."""

from collections.abc import Collection, Mapping

from scan.api.openapi.schemas import (
    OPTIONAL_HEADERS,
    RATE_HEADERS,
    Json,
    headers,
    ref,
)

ETHERSCAN_TAG, SOURCIFY_TAG = "Etherscan", "Sourcify"
ETHERSCAN_DOCS = {"url": "https://docs.etherscan.io", "description": "Etherscan's API"}
SOURCIFY_DOCS = {"url": "https://docs.sourcify.dev/docs/api", "description": "Sourcify's API v2"}
BLOCKSCOUT_TAG = "Blockscout"
BLOCKSCOUT_DOCS = {"url": "https://docs.blockscout.com", "description": "Blockscout's API v2"}
BLOCKSCOUT = """\
The Blockscout-compatible API: GET of the paths below /api/v2 that docs/compatible.md lists,
with Blockscout's parameters and objects. Lists are {items, next_page_params}; send next_page_params
back as the query string. Errors are {message}, and 422 {errors} for a parameter."""
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

_ETHERSCAN = """\
`module`, `action` and their parameters are as in Etherscan's documentation, in the query string, in
a form or in both, with names in any letter case. Every response has HTTP 200; `status` is "0" for
empty lists and for errors, with the message in `result`; over the rate limit with Retry-After.
module=proxy returns the node's JSON-RPC response. Lists have `X-Total-Count` and pages of at most
10,000 rows (getLogs 1,000) at any depth. Supported actions:

"""


def etherscan_paths(actions: Mapping[str, Collection[str]]) -> Json:
    """Return the paths of the Etherscan-compatible API; `actions` are its actions by module."""
    supported = "\n".join(f"- `{module}`: {', '.join(names)}" for module, names in actions.items())
    form = {"content": {kind: {"schema": {"type": "object"}} for kind in FORMS}}
    paths: Json = {}
    for path, version in (("/api", ""), ("/v2/api", "V2")):
        shared: Json = {
            "tags": [ETHERSCAN_TAG],
            "summary": f"Any action{', version 2' if version else ''}",
            "responses": {"200": {"$ref": "#/components/responses/Etherscan"}},
        }
        paths[path] = {
            "get": {**shared, "operationId": f"getEtherscan{version}"},
            "post": {**shared, "operationId": f"postEtherscan{version}", "requestBody": form},
        }
    paths["/api"]["get"]["description"] = _ETHERSCAN + supported
    paths["/v2/chainlist"] = {
        "get": {
            "tags": [ETHERSCAN_TAG],
            "summary": "The indexed chain",
            "operationId": "listEtherscanChains",
            "responses": {"200": {"$ref": "#/components/responses/Etherscan"}},
        }
    }
    return paths


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


def sourcify_paths(base_path: str) -> Json:
    """Return the paths of the Sourcify-compatible API, which some clients use below /server."""
    servers = [{"url": base_path or "/"}, {"url": f"{base_path}/server"}]
    paths: Json = {}
    for method, path, name, summary, parameters, statuses in _SOURCIFY:
        operation: Json = {
            "operationId": name,
            "tags": [SOURCIFY_TAG],
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


def _response(description: str, *names: str) -> Json:
    return {
        "description": description,
        "headers": headers(*names),
        "content": {"application/json": {"schema": {"description": "See its documentation."}}},
    }


COMPATIBILITY_RESPONSES: Json = {
    "Etherscan": _response("Success or error.", *RATE_HEADERS, *OPTIONAL_HEADERS),
    "Sourcify": _response("The record, or {customCode, message, errorId}.", *RATE_HEADERS),
}
COMPATIBILITY_PARAMETERS: Json = {
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
