"""gunicorn.conf.py, with another time-out of a request's statement."""

import os
from pathlib import Path

from scan.http import services

services.STATEMENT_TIMEOUT_MS = int(os.environ["STATEMENT_TIMEOUT_MS"])
exec(Path("gunicorn.conf.py").read_text())
