"""Chooses the connections to close where the bytes of all take too much memory: those of the client
with most. Clients that receive and send without delay lose none to others."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

C = TypeVar("C")  # a connection


def first_of_largest(sizes: Mapping[C, int], client_of: Callable[[C], str]) -> C:
    """Return the first connection of the client whose connections have most bytes together."""
    clients = {conn: client_of(conn) for conn in sizes}
    of_client = _by_client(sizes, clients)
    return max(sizes, key=lambda conn: of_client[clients[conn]])


def beyond(sizes: Mapping[C, int], client_of: Callable[[C], str], most: int) -> list[C]:
    """Return the connections to close until the others have at most `most` bytes: each is the
    largest one of the client that has most bytes at that point."""
    total, left, chosen = sum(sizes.values()), dict(sizes), []
    if total <= most:
        return []
    clients = {conn: client_of(conn) for conn in sizes}
    of_client = _by_client(sizes, clients)
    while total > most:
        largest = max(left, key=lambda conn: (of_client[clients[conn]], left[conn]))
        size = left.pop(largest)
        of_client[clients[largest]] -= size
        total -= size
        chosen.append(largest)
    return chosen


def _by_client(sizes: Mapping[C, int], clients: Mapping[C, str]) -> Counter[str]:
    of_client: Counter[str] = Counter()
    for conn, size in sizes.items():
        of_client[clients[conn]] += size
    return of_client
