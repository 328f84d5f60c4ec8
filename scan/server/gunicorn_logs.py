"""gunicorn's log lines in the form of Scan's."""

import logging
from typing import Any

from gunicorn.glogging import Logger

from scan.observability import logs
from scan.settings import Settings


class GunicornLogs(Logger):  # type: ignore[misc]  # gunicorn has no types
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        logs.configure(Settings.from_environment())
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True
        self.error_log.setLevel(logging.INFO)
