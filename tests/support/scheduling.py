"""Which tests run in one worker, and in which order."""

from xdist.scheduler import LoadFileScheduling


class SharingScheduling(LoadFileScheduling):
    """The tests of a file run in one worker; so do all of `seeded_template`, and all of the audit,
    which share an index."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        if file.endswith(("/test_query_plans.py", "/test_search.py")):
            return "query plans"
        return "audit" if file.startswith("tests/extensions/audit/") else file
