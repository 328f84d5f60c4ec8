"""Older blocks, stored beside indexing."""

from scan.commands.hooks import Indexing
from scan.extensions.backfill.body_command import run_beside

HOOKS = Indexing(run=run_beside)
