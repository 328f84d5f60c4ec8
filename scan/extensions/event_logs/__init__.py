"""Logs of any contract by an event's signature, which decodes them: no contract is registered, and
no ABI is known.

Input: a signature, addresses, values of indexed arguments. Output: pages of logs with their
arguments, at /api/v1/events and in POST /query, read as lists of logs are. Start with queries.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "events of any contract by their signature", "chain data", needs=("decoding", "events", "logs")
)
