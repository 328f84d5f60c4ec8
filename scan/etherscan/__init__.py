"""Etherscan's form of an API, at /api and /v2/api, for the tools that speak it.

Enters: module, action and parameters, from the query and a form. Leaves: {status, message, result}
with HTTP 200, or the node's JSON-RPC for module=proxy.
Start with blueprint.py (one request), then actions.py (which function serves which action);
replies.py has the form. Rows come from scan/queries and are completed in transactions.py.
"""
