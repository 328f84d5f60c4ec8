"""Places for threads that wait: who waits for one."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.errors import ClientBusy
from scan.rate_limits import concurrency
from tests.support.serving import wait_until

pytestmark = pytest.mark.check


def test_without_a_length_of_the_line_all_wait_for_a_place():
    places = concurrency.ConcurrencyLimit(1, busy="busy")
    assert places.take("a") and not places.take("b")
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(places.take, client, wait_s=20.0) for client in "bb"]
        wait_until(lambda: len(places._waiting) == 2 or any(each.done() for each in waiting))
        for done in ("a", "b"):
            places.give_back(done)
        assert [each.result() for each in waiting] == [True, True]


def test_a_place_that_is_held_for_moments_is_waited_for_by_all(monkeypatch):
    """Of one client's eight requests at once, two or three had their turn and the others not."""
    monkeypatch.setattr(concurrency, "PLACE_WAIT_S", 20.0)  # on a busy machine each takes longer
    places, served, begin = concurrency.unbounded_statements(), [], threading.Barrier(8)

    def read():
        begin.wait()
        with places.place("a", wait_s=20.0):
            served.append(places.taken)
            time.sleep(0.01)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(read) for _ in range(8)]:
            done.result()
    assert len(served) == 8 and max(served) == 1


@pytest.mark.parametrize("make", [concurrency.unbounded_statements, concurrency.processor_places])
def test_a_client_whose_places_are_held_long_by_now_waits_with_one_thread(make, monkeypatch):
    """Its next requests held all other threads, as its last one had been quick."""
    monkeypatch.setattr(concurrency, "PLACE_WAIT_S", 0.01)
    places = make()
    assert places.take("a")
    time.sleep(0.05)
    with ThreadPoolExecutor(4) as pool:
        later = [pool.submit(places.take, "a", wait_s=20.0) for _ in range(4)]
        wait_until(lambda: len(places._waiting) + sum(each.done() for each in later) == 4)
        waiting = len(places._waiting)
        for _ in range(waiting):
            places.give_back("a")
        assert waiting <= 1 and sum(each.result() for each in later) == waiting


def test_a_client_whose_statements_take_long_is_refused_for_its_own_limit():
    places = concurrency.unbounded_statements()
    places._held_s = 60.0
    with ThreadPoolExecutor(1) as pool, places.place("a"):
        waiting = pool.submit(places.take, "a", wait_s=20.0)
        while not places._waiting:
            time.sleep(0.001)
        with pytest.raises(ClientBusy), places.place("a", wait_s=20.0):
            pass
        with places.place("b", wait_s=0.0):
            pass
    assert waiting.result()


def test_as_many_clients_as_places_leave_one_to_others(monkeypatch):
    """Who has held a place gets the last free one after a pause, and any other at once."""
    now = 100.0
    monkeypatch.setattr(concurrency.time, "monotonic", lambda: now)
    places = concurrency.ConcurrencyLimit(2, places_per_client=1, pause_factor=3.0, busy="busy")
    assert places.take("a") and places.take("b") and not places.take("c")
    now += 2.0
    places.give_back("b")
    now += 5.9
    assert not places.take("b") and places.take("c")
    places.give_back("c")
    places.give_back("a")
    assert places.take("b") and not places.take("a") and places.take("d")
    places.give_back("d")
    places.give_back("b")
    now += 60.0
    assert places.take("a") and places.take("b")
    places.give_back("a")
    assert {*places._paused_until} == {"a"}
