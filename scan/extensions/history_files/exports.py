"""What `scan export` writes besides tables."""

FILES = {"history": "scan.extensions.history_files.history_export"}
