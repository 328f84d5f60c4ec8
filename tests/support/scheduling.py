"""Which tests run in one worker, and in which order."""

from xdist.scheduler import LoadFileScheduling

# Files whose tests share an index that takes seconds to make.
SHARED = {
    "query plans": ("/test_query_plans.py", "/test_search.py"),
    "demo": (
        *("api/test_back_in_time.py", "transaction_details/test_transaction_details.py"),
        *("demo/test_demo.py", "mcp/test_mcp.py"),
    ),
}


class SharingScheduling(LoadFileScheduling):
    """The tests of a file run in one worker; so do all of an entry of SHARED, and all of the audit,
    which share an index."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        if file.startswith("tests/extensions/audit/"):
            return "audit"
        return next((name for name, ends in SHARED.items() if file.endswith(ends)), file)
