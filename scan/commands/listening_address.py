"""Whether this machine has HOST and a port is free, before a command listens there."""

import errno
import socket
import threading
import time

from scan.environment import host as host_kind
from scan.errors import SettingError
from scan.observability import metrics
from scan.settings import Settings

WAIT_S = 5.0


def require_free_port(settings: Settings, stop: threading.Event | None = None) -> None:
    """Wait until PORT at HOST is free: after a kill -9 the last run's children release it a moment
    later. Raises SettingError."""
    _require(settings.host, "PORT", settings.port, stop or threading.Event())


def serve_metrics(settings: Settings, port: int | None) -> None:
    """Serve GET /metrics at HOST in a thread; without a port do nothing. Raises SettingError."""
    if port is not None:
        _require(settings.host, "--metrics-port", port, threading.Event())
        metrics.serve(settings.host, port)


def _require(host: str, name: str, port: int, stop: threading.Event) -> None:
    deadline = time.monotonic() + WAIT_S
    while (error := _bind_error(host, port)) is not None:
        reason = error.strerror or str(error)
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise SettingError("HOST", host, f"must be {host_kind.right}: {reason}")
        if error.errno == errno.EACCES or time.monotonic() > deadline or stop.is_set():
            raise SettingError(name, str(port), f"must be a free port: {reason}")
        stop.wait(0.2)


def _bind_error(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None
