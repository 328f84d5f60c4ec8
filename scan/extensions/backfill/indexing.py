"""Older blocks, stored beside indexing."""

from scan.commands.hooks import Indexing
from scan.extensions.backfill.older_blocks import run_beside

HOOKS = Indexing(run=run_beside)
