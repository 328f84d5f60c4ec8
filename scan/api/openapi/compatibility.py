"""Paths in Etherscan's and Sourcify's forms, whose publishers document what they mean."""

from collections.abc import Collection, Mapping

from scan.api.openapi.schemas import (
    OPTIONAL_HEADERS,
    RATE_HEADERS,
    Json,
    headers,
    ref,
)

ETHERSCAN_TAG, SOURCIFY_TAG = "Etherscan's form", "Sourcify"
ETHERSCAN_DOCS = {"url": "https://docs.etherscan.io", "description": "Etherscan's API"}
SOURCIFY_DOCS = {"url": "https://docs.sourcify.dev/docs/api", "description": "Sourcify's API v2"}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

_ETHERSCAN = """\
`module`, `action` and their parameters as Etherscan documents them: in the query, in a form, or in
both; names in any letter case. Every response has HTTP 200; `status` is "0" for an empty list and
for a refusal, whose reason is in `result`, also over the limit (with Retry-After). module=proxy
returns the node's JSON-RPC. Lists have pages of at most 10,000 rows (getLogs 1,000) at any depth,
with `X-Total-Count`. An action that is not offered says so.

"""


def etherscan_paths(actions: Mapping[str, Collection[str]]) -> Json:
    """`actions` are those offered, by module."""
    offered = "\n".join(f"- `{module}`: {', '.join(names)}" for module, names in actions.items())
    form = {"content": {kind: {"schema": {"type": "object"}} for kind in FORMS}}
    paths: Json = {}
    for path, version in (("/api", ""), ("/v2/api", "V2")):
        shared: Json = {
            "tags": [ETHERSCAN_TAG],
            "summary": f"An action in Etherscan's form{', version 2' if version else ''}",
            "responses": {"200": {"$ref": "#/components/responses/Etherscan"}},
        }
        paths[path] = {
            "get": {**shared, "operationId": f"getEtherscan{version}"},
            "post": {**shared, "operationId": f"postEtherscan{version}", "requestBody": form},
        }
    paths["/api"]["get"]["description"] = _ETHERSCAN + offered
    return paths


_SOURCIFY = (
    ("get", "/v2/contract/{chain_id}/{address}", "getSourcifyContract", "A verified contract",
     ("chainId", "contractAddress"), (200, 400, 404)),
    ("post", "/v2/verify/{chain_id}/{address}", "submitSourcifyVerification",
     "Verify by standard JSON", ("chainId", "contractAddress"), (202, 400, 404, 409, 413, 415)),
    ("post", "/v2/verify/metadata/{chain_id}/{address}", "submitSourcifyMetadata",
     "Verify by sources and metadata", ("chainId", "contractAddress"),
     (202, 400, 404, 409, 413, 415)),
    ("get", "/v2/verify/{verification_id}", "getSourcifyVerification", "A verification",
     ("verificationId",), (200, 404)),
    ("get", "/chains", "listSourcifyChains", "The chain that is indexed", (), (200,)),
)  # fmt: skip


def sourcify_paths(base_path: str) -> Json:
    """Each path also stands below /server, as clients of Sourcify's server ask for it."""
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
                for status in (*statuses, 401, 429, 503)
            },
        }
        if method == "post":
            schema = {"type": "object", "description": "As Sourcify documents it."}
            content = {"application/json": {"schema": schema}}
            operation["requestBody"] = {"required": True, "content": content}
        paths[path] = {"servers": servers, method: operation}
    return paths


def _response(description: str, *names: str) -> Json:
    return {
        "description": description,
        "headers": headers(*names),
        "content": {"application/json": {"schema": {"description": "As documented there."}}},
    }


COMPATIBILITY_RESPONSES: Json = {
    "Etherscan": _response("Success or refusal.", *RATE_HEADERS, *OPTIONAL_HEADERS),
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
            "As submitting returned it.",
            {"type": "string", "pattern": "^[0-9a-fA-F-]+$"},
        ),
    )
}
