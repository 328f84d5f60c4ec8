"""gunicorn.conf.py, with streams of people that are short."""

from pathlib import Path

from scan.http import access

access.STREAM_S = 2.0
exec(Path("gunicorn.conf.py").read_text())
