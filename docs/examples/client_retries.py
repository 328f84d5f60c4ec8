"""Requests that wait when the limit is reached or the service is away for a moment.

    python client_retries.py http://127.0.0.1:8000 30

Uses the Python client that `make release` generates from the OpenAPI document.
"""

import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from scan_client import Client
from scan_client.api.statistics import get_stats

PASSING = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)
LONGEST_WAIT_S = 120.0


def with_retries(
    request: Callable[..., Any], *arguments: Any, attempts: int = 5, **options: Any
) -> Any:
    """The parsed response. 429, 502 and 503 say in Retry-After when to try again."""
    for attempt in range(attempts):
        response = request(*arguments, **options)
        if response.status_code not in PASSING or attempt == attempts - 1:
            break
        wait_s = float(response.headers.get("Retry-After", 2**attempt))
        time.sleep(min(wait_s, LONGEST_WAIT_S))
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        raise RuntimeError(response.parsed.to_dict()["error"])
    return response.parsed


if __name__ == "__main__":
    base_url, count = sys.argv[1:]
    client = Client(base_url=base_url)
    for _ in range(int(count)):
        stats = with_retries(get_stats.sync_detailed, client=client)
    print("newest block", stats.latest_block)
