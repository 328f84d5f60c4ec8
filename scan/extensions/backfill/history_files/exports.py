"""What `scan export` writes besides tables."""

from scan.extensions.exports.hooks import Exports

HOOKS = Exports(files={"history": "scan.extensions.backfill.history_files.history_export"})
