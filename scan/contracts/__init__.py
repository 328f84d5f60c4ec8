"""Contract ABIs and read-only calls.

Input: a function's name and JSON arguments; or calldata and logs with possible ABIs.
Output: the decoded result or revert; the method or event with its named arguments.
Start with read_calls.py (calls, and the encoding of them), then revert_reasons.py, abi.py (types,
encoding, decoding), abi_json.py (values from and to JSON, lookup of functions), abi_decoding.py
(methods and events) and proxy_contracts.py. account_state.py has balances, code, and the node that
is called, transaction_contents.py transactions with their inputs and receipts.
"""
