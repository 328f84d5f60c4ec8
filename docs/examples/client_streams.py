"""Token transfers as they happen; after a lost connection it goes on where it was.

    python client_streams.py http://127.0.0.1:8000 10

Prints as many events as asked for. Generated clients do not read event streams: this takes the
standard library alone.
"""

import json
import sys
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

RECONNECT_S = 1.0


def events(base_url: str, last_event_id: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, id and data of each. Keep the id of the last one that was processed."""
    while True:
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        request = Request(f"{base_url}/api/v1/stream?types=token_transfers", headers=headers)
        try:
            with urlopen(request, timeout=60) as stream:
                for name, identifier, data in _parsed(stream):
                    last_event_id = identifier or last_event_id
                    if data is not None:
                        yield name, identifier, data
        except HTTPError as error:
            if error.code < 500 and error.code != HTTPStatus.TOO_MANY_REQUESTS:
                raise RuntimeError(error.read().decode()) from error  # waiting mends nothing
        except OSError:
            pass  # the service restarts, or the connection is lost: Last-Event-ID resumes
        time.sleep(RECONNECT_S)


def _parsed(stream: Any) -> Iterator[tuple[str, str, Any]]:
    name, identifier, data = "message", "", []
    for line in stream:
        field, _, value = line.decode().rstrip("\n").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "id":
            identifier = value
        elif field == "data":
            data.append(value)
        elif not line.strip():
            if data or identifier:
                yield name, identifier, json.loads("\n".join(data)) if data else None
            name, identifier, data = "message", "", []


if __name__ == "__main__":
    address, count = sys.argv[1:]
    for number, (name, _, data) in enumerate(events(address), 1):
        print(name, json.dumps(data))  # `removed` events take back what a fork took
        if number == int(count):
            break
