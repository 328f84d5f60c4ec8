"""The decoder: calldata, logs, errors and constructor arguments that a client sends, and back.

Start with decoded_data.py (candidates, and which arguments are calls), then views.py (calldata of a
function and its arguments, endpoints, pages).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "a decoder of calldata, logs, errors and typed data; an encoder of calls",
    "contracts",
    needs=("decoding", "contract_details"),
    paths=("decode", "encode"),
)
