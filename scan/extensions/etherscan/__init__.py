"""The Etherscan-compatible API at /api and /v2/api.

Input: module, action and parameters, from the query string and a form. Output: {status, message,
result} with HTTP 200, or the node's JSON-RPC response for module=proxy.
Start with interface.py (one request, the function of each action), then replies.py (parameters and
responses). Rows come from scan/queries and are completed in transactions.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the Etherscan-compatible API at /api and /v2/api",
    "compatible interfaces",
    needs=("chain_statistics", "decoding", "explanations", "logs", "traces", "verification_jobs"),
    paths=("v2/",),
)
