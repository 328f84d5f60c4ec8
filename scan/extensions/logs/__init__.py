"""Lists of logs, by emitter and topics: from the table where SCAN_LOGS has them stored, else from
stored blocks or the node.

Input: a filter, as of eth_getLogs. Output: pages of logs with their decoded events: at
/api/v1/logs, in POST /query, at /events, in the tab Events of a contract's page. Start with
queries.py, then unstored_logs.py (logs without rows).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "lists of logs, by emitter and topics, stored or from the node",
    "chain data",
    needs=("decoding",),
    paths=("events",),
)
