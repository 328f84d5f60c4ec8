"""Who may call the functions of verified contracts, who that is now, and what they can do to
holders.

Input: conditions that verification has read in sources (scan/verification/permissions); accounts
and roles from the node at a block, and events of roles. Output: /contracts/:address/permissions and
a tab of the contract. Start with queries.py, then present_accounts.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "who may call the functions of verified contracts, and who that is now", needs=("logs",)
)
