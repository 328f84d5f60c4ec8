"""Contract ABIs and read-only calls.

Enters: a function's name and JSON arguments; or calldata and logs with the ABIs that may fit.
Leaves: the decoded result or revert; the method or event with its named arguments.
Start with read_calls.py (the whole call), then function_calls.py (overloads, calldata, reverts),
abi.py (types, encoding, decoding), abi_json.py (JSON to values and back), proxy_contracts.py; for
methods and events with transaction_details.py, then contract_abis.py, abi_decoding.py and
decoding_budget.py.
"""
