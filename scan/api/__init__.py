"""The REST API under /api/v1, and /healthz, /readyz and /metrics beside it.

Enters: a request that passed scan/http. Leaves: JSON, mostly as one statement of sql/api made it.
Start with blocks.py, the shortest; scan/http/chain_lists.py reads all lists of it. openapi/
documents every endpoint, one file for each part of the API.
"""
