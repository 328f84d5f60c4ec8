"""Where the gas of a transaction went, and what calls of a contract's functions usually take.

Input: the node's trace of a transaction, decoded; gas of the newest calls of a contract. Output:
records of the API, and a tab of a transaction's page with a picture of its calls. Start with
gas_of_calls.py.
"""
