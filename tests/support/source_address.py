"""HTTP clients from different addresses: each of loopback's addresses is a client of its own."""

import itertools

import requests
from requests.adapters import HTTPAdapter


class FromAddress(HTTPAdapter):
    """Connections from one address."""

    def __init__(self, address):
        self._address = address
        super().__init__(pool_maxsize=64)

    def init_poolmanager(self, *args, **kwargs):
        super().init_poolmanager(*args, source_address=(self._address, 0), **kwargs)


_addresses = (f"127.9.{n // 250}.{n % 250 + 1}" for n in itertools.count())


def new_client():
    """From an address that no other client of this process has."""
    session = requests.Session()
    session.mount("http://", FromAddress(next(_addresses)))
    return session
