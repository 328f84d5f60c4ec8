"""The REST API under /api/v1, and /healthz, /readyz and /metrics beside it.

Input: a request that passed scan/http. Output: JSON, mostly as PostgreSQL made it for
scan/queries.
Start with blocks_and_transactions.py. openapi/ documents every endpoint.
"""
