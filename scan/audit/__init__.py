"""Checks that the indexed data is exact, for `scan audit`.

Input: the tables, and with --node a node. Output: differences; derived values can be repaired.
Start with derived_tables.py (recomputation); node_comparison.py compares blocks with the node's.
"""
