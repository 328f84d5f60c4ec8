"""What helps where a node has pruned the blocks that an empty index needs."""

from scan.extensions.backfill.history_files.settings import Settings as HistorySettings
from scan.indexer.hooks import PrunedHistory
from scan.settings import Settings


def has_blocks(settings: Settings) -> bool:
    """Return whether pruned blocks come from elsewhere."""
    return bool(settings.of(HistorySettings).history)


HOOKS = PrunedHistory(
    cure="set SCAN_HISTORY to a folder or URL with era1 or ere files", has_blocks=has_blocks
)
