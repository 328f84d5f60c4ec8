"""A consumer of a stream, over a real connection: reads events as the HTML standard has it."""

import json
import time
from collections import namedtuple
from itertools import islice

import requests

from tests.support.source_address import FromAddress

MAX_QUIET_S = 60.0  # with nothing but heartbeats, which are sent every 15 s


ServerEvent = namedtuple("ServerEvent", "id type data")


class EventSource:
    """`last_id` is what it sends when it connects again; it moves on without events, too."""

    def __init__(self, server, timeout_s=30.0, **parameters):
        self.last_id = ""
        self._url = f"{server}/api/v1/stream"
        self._parameters = parameters
        self._timeout_s = timeout_s
        self._response = None
        self._session = requests.Session()
        self._session.trust_env = False

    def __enter__(self):
        self.connect()
        return self

    def __exit__(self, *_):
        self.close()

    def connect(self):
        self.close()
        self._response = self._session.get(
            self._url,
            params=self._parameters,
            headers={"Last-Event-ID": self.last_id} if self.last_id else {},
            stream=True,
            timeout=self._timeout_s,
        )
        self._lines = self._response.iter_lines(chunk_size=1)
        return self._response

    def connect_from(self, address):
        """From one of loopback's addresses."""
        self._session.mount("http://", FromAddress(address))
        return self.connect()

    def close(self):
        if self._response is not None:
            self._response.close()

    def events(self):
        """Until the connection ends, or nothing comes for the time-out; heartbeats alone fail."""
        fields = {}
        fails_at = time.monotonic() + MAX_QUIET_S
        for line in self._lines:
            assert time.monotonic() < fails_at, f"only heartbeats since {self.last_id}"
            name, _, value = line.decode().partition(": ")
            if name:
                fields[name] = value
                continue
            self.last_id = fields.get("id", self.last_id)
            if "data" in fields:
                yield ServerEvent(self.last_id, fields["event"], json.loads(fields["data"]))
                fails_at = time.monotonic() + MAX_QUIET_S
            fields = {}

    def take(self, count):
        """The next events."""
        return [*islice(self.events(), count)]
