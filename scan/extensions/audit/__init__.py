"""`scan audit`: checks that the indexed data is exact.

Input: the tables, and with --node a node. Output: differences; derived values can be repaired.
Start with derived_tables.py (recomputation); node_comparison.py compares blocks with the node's.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "derived tables computed anew, blocks compared with the node (scan audit)",
    commands={
        "audit": "recompute all derived values and compare them; exits 1 if something differs"
    },
)
