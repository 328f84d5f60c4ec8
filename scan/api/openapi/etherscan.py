"""Etherscan's form at /api and /v2/api; see scan/etherscan and docs/clients.md."""

from scan.api.openapi.parts import (
    ADDRESS_EXAMPLE,
    AT_LEAST_BLOCK,
    HASH_EXAMPLE,
    OPTIONAL_HEADERS,
    RATE_HEADERS,
    Json,
    headers,
    number,
    one_of,
    query,
    record,
    ref,
    text,
)

TAG = "Etherscan's form"
ACTIONS = {
    "account": "balance balancemulti txlist txlistinternal tokentx tokennfttx token1155tx"
    " tokenbalance addresstokenbalance",
    "contract": "getabi getsourcecode getcontractcreation verifysourcecode checkverifystatus"
    " verifyproxycontract checkproxyverification",
    "block": "getblocknobytime",
    "transaction": "getstatus gettxreceiptstatus",
    "token": "tokeninfo tokenholderlist tokenholdercount",
    "stats": "tokensupply",
    "logs": "getLogs",
    "proxy": "eth_blockNumber eth_getBlockByNumber eth_getTransactionByHash"
    " eth_getTransactionReceipt eth_getTransactionCount eth_getCode eth_getStorageAt eth_call"
    " eth_estimateGas eth_gasPrice eth_sendRawTransaction",
}

_DESCRIPTION = """\
What tools written for Etherscan ask: `module`, `action` and their parameters in the query, in a
form (url-encoded or multipart), or in both; names in any letter case.

Every response has HTTP 200. `status` is "1" for a success; "0" for an empty list, which has
`result` [], and for a refusal, whose reason is in `result`: also over the limit ("Max rate limit
reached", with Retry-After). Every value in rows is text. module=proxy returns the node's JSON-RPC.

Lists take `page` (from 1) and `offset` (a page's size, at most 10,000; of getLogs 1,000) at any
depth; `startblock` and `endblock` belong to the range; `sort` is asc or desc. `X-Total-Count` has
the number of rows on all pages where it is known. A key is sent as `apikey`, or as elsewhere; an
unknown one counts as none.

An action that is not named here is answered `Error! Missing Or invalid Action name`.

"""

_PARAMETERS = (
    ("module", text("The group of actions.", "account")),
    ("action", text("What is asked for; see the description.", "txlist")),
    ("chainid", text("This chain's id, where one is given.", "31337")),
    ("apikey", text("An API key.", "YourApiKeyToken")),
    ("address", text("Of most actions of account, contract and logs.", ADDRESS_EXAMPLE)),
    ("contractaddress", text("A token's contract, or the one to verify.", ADDRESS_EXAMPLE)),
    ("txhash", text("A transaction, instead of the address, of txlistinternal.", HASH_EXAMPLE)),
    ("startblock", text("The first block of a list.", "0")),
    ("endblock", text("The last block of a list.", "9999999999")),
    ("page", text("The page, from 1.", "1")),
    ("offset", text("How many rows a page has.", "100")),
    ("sort", text("asc or desc.", "asc")),
)


def _operation(name: str, summary: str) -> Json:
    actions = "\n".join(f"- `{module}`: {names}" for module, names in ACTIONS.items())
    return {
        "operationId": name,
        "tags": [TAG],
        "summary": summary,
        "description": _DESCRIPTION + actions,
        "security": [{}, {"ApiKey": []}, {"Bearer": []}],
        "parameters": [
            *(query(name, dict(schema)) for name, schema in _PARAMETERS),
            AT_LEAST_BLOCK,
        ],
        "responses": {
            "200": {
                "description": "Success or refusal.",
                "headers": headers(*RATE_HEADERS, *OPTIONAL_HEADERS),
                "content": {
                    "application/json": {
                        "schema": {"anyOf": [ref("EtherscanReply"), ref("JsonRpcReply")]},
                        "example": {"status": "1", "message": "OK", "result": "100000000"},
                    }
                },
            }
        },
    }


def _posted(name: str, summary: str) -> Json:
    form = {"description": "The same parameters as in the query."}
    kinds = ("application/x-www-form-urlencoded", "multipart/form-data")
    body = {"content": {kind: {"schema": form} for kind in kinds}}
    return {**_operation(name, summary), "requestBody": body}


ETHERSCAN_PATHS: Json = {
    "/api": {
        "get": _operation("getEtherscan", "An action in Etherscan's form"),
        "post": _posted("postEtherscan", "An action in Etherscan's form, by a form"),
    },
    "/v2/api": {
        "get": _operation("getEtherscanV2", "The same, for clients of Etherscan's version 2"),
        "post": _posted("postEtherscanV2", "The same by a form, for clients of version 2"),
    },
}

ETHERSCAN_SCHEMAS: Json = {
    "EtherscanReply": record(
        "A success or a refusal.",
        {
            "status": one_of("1 for a success.", ("1", "0")),
            "message": text("OK, NOTOK, or that a list is empty.", "OK"),
            "result": {"description": "As the action has it.", "examples": ["100000000"]},
        },
    ),
    "JsonRpcReply": record(
        "The node's response, of module=proxy; either result or error.",
        {
            "jsonrpc": one_of("The version.", ("2.0",)),
            "id": number("Always 1.", 1),
            "result": {"description": "The node's.", "examples": ["0x10d4f"]},
            "error": {
                "type": "object",
                "description": "The node's: code, message and data.",
                "examples": [{"code": 3, "message": "execution reverted", "data": "0x"}],
            },
        },
        optional=("result", "error"),
    ),
}  # fmt: skip
