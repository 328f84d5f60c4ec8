"""Storage by name: the variables of contracts whose compiler's layout of the storage is known.

Input: layouts of verified contracts, slots that a transaction changed, words of its trace, and the
node's storage. Output: names and values of changed slots, the endpoint /contracts/:address/storage,
and the tab "Storage" of a contract's page. Start with queries.py, then
layout.py (what a stored layout says), slot_names.py (from a slot to a variable), both pure, and
variable_values.py (from a variable to its slots). compiled_sources makes what is stored.
"""
