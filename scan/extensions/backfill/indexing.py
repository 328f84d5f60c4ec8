"""What the indexer has done beside it, older blocks, and before it, a bulk backfill in a process of
its own: so its memory is free again afterwards, and it can be ended in the middle of a statement.
"""

import tempfile
import threading
from importlib.util import find_spec

from scan.commands.hooks import AutomaticBackfill, Indexing
from scan.commands.long_work import DONE, run_to_end
from scan.extensions.backfill.backfill_command import INSTALL, PACKAGES, REFUSED
from scan.extensions.backfill.body_backfill import run_beside
from scan.extensions.backfill.settings import Settings as HistorySettings
from scan.indexer.chain_indexer import BackfillEnd
from scan.indexer.hooks import PrunedHistory
from scan.settings import Settings

GRACE_S = 5.0
MAX_REASON_BYTES = 2000


def run(settings: Settings, stop: threading.Event) -> BackfillEnd:
    """Run `scan backfill chain` to its end, or until `stop` is set."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        return BackfillEnd(f"{', '.join(missing)} not installed: {INSTALL}", is_refused=True)
    with tempfile.TemporaryFile() as reason:
        arguments = ("backfill", "chain", "--automatic")
        code = run_to_end(settings, stop, *arguments, grace_s=GRACE_S, stdout=reason)
        reason.seek(0)
        text = reason.read(MAX_REASON_BYTES).decode(errors="replace").strip()
    if code == DONE:
        return BackfillEnd()
    return BackfillEnd(text or f"it ended with exit code {code}", is_refused=code == REFUSED)


HOOKS = (
    Indexing(run=run_beside),
    AutomaticBackfill(run=run),
    PrunedHistory(
        cure="set SCAN_HISTORY to a folder or URL with era1 or ere files",
        has_blocks=lambda settings: bool(settings.of(HistorySettings).history),
    ),
)
