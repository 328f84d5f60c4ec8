"""Places for threads that wait: who waits for one. What each client and kind has is shown by
tests/http/test_prerequisites.py."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.rate_limits.concurrency import WaitingThreads

pytestmark = pytest.mark.check


def test_nobody_waits_for_a_place_while_those_who_hold_one_are_stuck() -> None:
    places = WaitingThreads()
    assert all(places.take(client) for client in "abcd")
    places._changed_hands_at -= 60
    assert places.refusal("e", wait_s=30.0) and not places.take("e", wait_s=30.0)


def test_a_place_that_is_held_for_moments_is_waited_for_by_all() -> None:
    """Of one client's eight requests at once, three had their turn and five were refused."""
    places, served, begin = WaitingThreads(), [], threading.Barrier(8)

    def read() -> None:
        begin.wait()
        with places.place("a", wait_s=20.0):
            served.append(places._taken)
            time.sleep(0.01)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(read) for _ in range(8)]:
            done.result()
    assert len(served) == 8 and max(served) == 2


def test_a_place_that_is_held_long_is_waited_for_by_few() -> None:
    places = WaitingThreads(places_in_line=1)
    places._held_s = 60.0
    assert all(places.take(client) for client in "abcd")
    assert places.refusal("e", wait_s=20.0) is None  # it would wait, not be refused
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(places.take, "e", wait_s=20.0)
        while not places._waiting:
            time.sleep(0.001)
        assert places.refusal("f", wait_s=20.0) and not places.take("f", wait_s=20.0)
        places.give_back("a")
        assert waiting.result()
