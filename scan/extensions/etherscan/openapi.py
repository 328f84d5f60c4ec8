"""Paths of the Etherscan-compatible API, whose publisher documents the details."""

from scan.api.openapi.declarations import Json
from scan.api.openapi.errors import RATE_HEADERS, foreign_response
from scan.extensions.etherscan.actions import PUBLISHED

TAG = "Etherscan"
TAGS = (
    {
        "name": TAG,
        "description": "The Etherscan-compatible API.",
        "externalDocs": {"url": "https://docs.etherscan.io", "description": "Etherscan's API"},
    },
)
RESPONSES = {
    "Etherscan": foreign_response(
        "Success or error.", *RATE_HEADERS, "X-Scan-Block", "X-Scan-Balances-Since"
    ),
}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

_ETHERSCAN = """\
`module`, `action` and their parameters are as in Etherscan's documentation, in the query string, in
a form or in both, with names in any letter case. Every response has HTTP 200; `status` is "0" for
empty lists and for errors, with the message in `result`; over the rate limit with Retry-After.
module=proxy returns the node's JSON-RPC response. Lists have `X-Total-Count` and pages of at most
10,000 rows (getLogs 1,000) at any depth. Supported actions:

"""


def outside_paths(_base_path: str) -> Json:
    supported = "\n".join(
        f"- `{module}`: {', '.join(names)}" for module, names in PUBLISHED.items()
    )
    form = {"content": {kind: {"schema": {"type": "object"}} for kind in FORMS}}
    paths: Json = {}
    for path, version in (("/api", ""), ("/v2/api", "V2")):
        shared: Json = {
            "tags": [TAG],
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
            "tags": [TAG],
            "summary": "The indexed chain",
            "operationId": "listEtherscanChains",
            "responses": {"200": {"$ref": "#/components/responses/Etherscan"}},
        }
    }
    return paths
