"""Names the setting that lifts a bound, to clients on a developer's own machine.

Behind a proxy every client seems to come from loopback. It is not told the setting, since its
request has a header of the proxy or another host's name, or Scan listens or trusts proxies beyond
this machine.
"""

import re

from scan.errors import ScanError
from scan.rate_limits.client_address import OF_PROXIES, is_loopback
from scan.server.wsgi_responses import Environ
from scan.settings import Settings

RAISE_REQUESTS = "SCAN_RATE_LIMIT_ANONYMOUS=100000/minute"
RAISE_PAGES = "SCAN_RATE_LIMIT_PAGES=100000/minute"
RAISE_FILES = "SCAN_RATE_LIMIT_FILES=100000/hour"
ALLOW_RECEIVERS = "SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8"
_LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.I)


def serves_own_machine(settings: Settings) -> bool:
    return settings.trusted_proxies == 0 and is_loopback(settings.host)


def is_from_own_machine(environ: Environ) -> bool:
    return (
        is_loopback(environ.get("REMOTE_ADDR") or "")
        and bool(_LOCAL_HOST.fullmatch(environ.get("HTTP_HOST", "")))
        and not any(name in environ for name in OF_PROXIES)
    )


def advise(error: ScanError, setting: str) -> None:
    """Add the setting to an error's message."""
    error.message += f" On your own machine, start Scan with {setting}."
