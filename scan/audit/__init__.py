"""Checks that the indexed data is exact, and derives it again, for `scan audit` and `scan rebuild`.

Input: the tables, stored blocks, and with --node a node. Output: differences; tables that hold what
follows from others. Start with derived_tables.py (recomputation); block_comparison.py compares rows
with blocks, which stored_source.py makes without a node; rebuild.py derives tables from them.
"""
