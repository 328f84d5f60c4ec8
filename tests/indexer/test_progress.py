"""How far a catch-up has come: a bar on a terminal, a line in the log."""

import pytest

from scan.indexer.progress import LONG_CATCH_UP_BLOCKS, CatchUpProgress

pytestmark = pytest.mark.check

FIRST = 7_000
BLOCKS = 2 * LONG_CATCH_UP_BLOCKS


@pytest.mark.parametrize(("blocks", "is_long"), [(BLOCKS, True), (2, False)])
def test_the_log_has_a_line_at_the_end_of_a_long_catch_up(caplog, blocks, is_long):
    caplog.set_level("INFO")
    last = FIRST + blocks - 1
    progress = CatchUpProgress(FIRST, last)
    progress.advance(last, 5)
    expected = [f"block {last} of {last} (100 %)"] * is_long
    assert [line.partition(",")[0] for line in caplog.messages] == expected
