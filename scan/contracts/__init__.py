"""Contract ABIs and read-only calls.

Enters: a function's name and JSON arguments. Leaves: the decoded result, or the decoded revert.
Start with read_calls.py (the whole call), then function_calls.py (overloads, calldata, reverts),
abi.py (types, encoding, decoding), abi_json.py (JSON to values and back), proxy_contracts.py.
"""
