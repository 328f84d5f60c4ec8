"""Contract ABIs and read-only calls.

Input: a function's name and JSON arguments; or calldata and logs with possible ABIs.
Output: the decoded result or revert; the method or event with its named arguments.
Start with read_calls.py for calls, then function_lookup.py (names and overloads),
calldata_encoding.py, revert_reasons.py, abi.py (types, encoding, decoding), abi_json.py (conversion
of values from and to JSON) and proxy_contracts.py. Methods and events are decoded by
abi_index.py, abi_decoding.py and decoding_budget.py. The node that is called is that of
index_node.py.
"""
