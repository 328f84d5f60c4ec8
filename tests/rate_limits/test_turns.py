"""Requests that wait for a place: in turn, client by client, without a thread."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.errors import ClientBusy, Unavailable
from scan.rate_limits import turns
from scan.rate_limits.turns import (
    QUEUED_PER_CLIENT,
    QUEUED_S,
    Postponed,
    QueuedPlaces,
    RequestPlaces,
    WaitingThreads,
    thread,
)

pytestmark = pytest.mark.check


def test_clients_have_their_turns_one_after_the_other():
    places = QueuedPlaces(1, 1, busy="busy")
    assert places.take("holder")
    queued = [places.queue(client) for client in "aaaabbc"]
    order, holder = [], "holder"
    for _ in queued:
        places.give_back(holder)
        [turn] = [turn for turn in queued if turn.has_place and turn not in order]
        order.append(turn)
        holder = str(turn.client)
    assert "".join(str(turn.client) for turn in order) == "abcabaa"
    places.give_back(holder)
    assert places.taken == 0 and not places._queues


def test_one_client_leaves_a_place_to_others_however_many_of_its_requests_wait():
    places = WaitingThreads()
    queued = [places.queue("a") for _ in range(3 + QUEUED_PER_CLIENT)]
    assert sum(turn.done() for turn in queued) == 3
    with pytest.raises(ClientBusy):
        places.queue("a")
    assert places.take("b") and not places.take("a") and not places.take("c")
    # Who comes later is served after those who wait, and clients in turn.
    later = places.queue("c")
    queued[0].leave()
    assert queued[3].result(0) and not later.done()
    queued[1].leave()
    assert later.result(0) and not queued[4].done()


def test_whoever_leaves_gives_back_what_it_has_or_would_have():
    places = QueuedPlaces(1, 1, busy="busy")
    first, second, third = (places.queue(client) for client in "abc")
    assert first.result(0)
    second.leave()
    first.leave()
    assert third.result(0) and not second.done()
    for _ in range(2):  # a connection may be closed twice
        third.leave()
    assert places.taken == 0 and places.take("d")


def test_who_has_waited_too_long_is_refused_for_what_it_did_itself():
    places = QueuedPlaces(2, 1, busy="busy")
    assert places.take("a") and places.take("b")
    for client, kind in (("a", ClientBusy), ("c", Unavailable)):
        turn = places.queue(client)
        turn.check(turn._ends_at - 0.1)
        assert not turn.done()
        turn.check(turn._ends_at + QUEUED_S)
        with pytest.raises(kind):
            turn.require()
    assert not places._queues


def test_a_request_keeps_its_place_from_one_thread_to_the_next_until_its_end():
    places, other = WaitingThreads(1, 1), QueuedPlaces(1, 1, busy="busy")
    held, late = RequestPlaces(), RequestPlaces()
    with held, places.place_in_turn("a"):
        with places.place_in_turn("a"):  # it has it
            pass
        assert places.taken == 1
        with held:  # as a request within another one
            assert thread.request is held
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(getattr, thread, "request").result() is None
    assert places.taken == 0 and thread.request is None
    assert places.take("b")
    with pytest.raises(Postponed) as postponed, late, other.place_in_turn("a"):
        places.place_in_turn("a").__enter__()
    assert other.taken == 1  # it goes on with what it has
    turn = late.queue(postponed.value)
    places.give_back("b")
    assert turn.result(0)
    late.require_turn()
    with pytest.raises(ZeroDivisionError), late, places.place_in_turn("a"):
        raise ZeroDivisionError
    assert places.taken == other.taken == 0


def test_who_waits_for_a_costly_place_leaves_its_ordinary_one_to_others():
    places, held = WaitingThreads(), RequestPlaces()
    assert places.costly.take("a")
    with pytest.raises(Postponed) as postponed, held, places.place_in_turn("a"):
        places.costly_place_in_turn("a").__enter__()
    assert postponed.value.places is places.costly and places.taken == 0
    # A request inside another one waits in no thread, and keeps what the other one has.
    with held, places.place_in_turn("a"):
        with pytest.raises(ClientBusy), held:
            places.costly_place_in_turn("a").__enter__()
        assert places.taken == 1
        with pytest.raises(Postponed):
            places.costly_place_in_turn("a").__enter__()
    assert places.taken == 0 and places.costly.taken == 1
    turn = held.queue(postponed.value)
    places.costly.give_back("a")
    assert turn.result(0)
    held.require_turn()
    with held, places.costly_place_in_turn("a"):
        assert places.taken == places.costly.taken == 1
    assert places.taken == places.costly.taken == 0


def test_a_thread_that_serves_no_request_waits_itself(monkeypatch):
    places = WaitingThreads(1, 1)
    with ThreadPoolExecutor(1) as pool, places.place_in_turn("a"):
        waiting = pool.submit(lambda: [*map(bool, [places.queue("b").result(30)])])
        while "b" not in places._queues:
            pass
        monkeypatch.setattr(turns, "QUEUED_S", 0.0)
        with pytest.raises(Unavailable), places.place_in_turn("c"):
            pass
    assert waiting.result() == [True]
