"""The Etherscan-compatible API at /api and /v2/api.

Input: module, action and parameters, from the query string and a form. Output: {status, message,
result} with HTTP 200, or the node's JSON-RPC response for module=proxy.
Start with blueprint.py (one request), then actions.py (the function of each action) and
replies.py (responses). Rows come from scan/queries and are completed in
transactions.py and function_names.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the Etherscan-compatible API at /api and /v2/api",
    needs=(
        "chain_statistics",
        "contract_details",
        "internal_transfers",
        "logs",
        "transaction_details",
    ),
    paths=("v2/",),
)
