"""Whose bytes go where those of all clients take too much memory."""

import pytest

from scan.server.connection_limits import beyond, first_of_largest

pytestmark = pytest.mark.check

# By connection; its first letter is the client.
SIZES = {"a1": 5, "b1": 3, "b2": 4, "c1": 6, "b3": 1}


def client_of(conn):
    return conn[0]


def test_the_first_of_the_client_with_most_together_is_chosen():
    assert first_of_largest(SIZES, client_of) == "b1"


DROPPED = [
    (19, []),
    (18, ["b2"]),
    (15, ["b2"]),
    (14, ["b2", "c1"]),
    (9, ["b2", "c1"]),
    (8, ["b2", "c1", "a1"]),
    (0, ["b2", "c1", "a1", "b1", "b3"]),
]


@pytest.mark.parametrize(("most", "chosen"), DROPPED)
def test_what_goes_is_each_time_of_the_client_with_most_then(most, chosen):
    assert beyond(SIZES, client_of, most) == chosen
