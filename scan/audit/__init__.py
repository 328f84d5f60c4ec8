"""`scan audit`: is what is indexed exact?

Enters: the tables, and a node with --node. Leaves: differences, repaired where they are derived.
Start with derived_tables.py (counted anew); node_comparison.py compares blocks with the node's.
"""
