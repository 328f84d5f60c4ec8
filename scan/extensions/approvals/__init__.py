"""What others may move of an address's tokens: approvals, what the node says of them now, and a
call that revokes each.

Input: events, from stored logs by an index of their owners, else from the node. Output:
/addresses/:address/approvals and a tab. Start with events.py, then queries.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "approvals of tokens in force, with what is at risk, to revoke", "chain data", needs=("logs",)
)
