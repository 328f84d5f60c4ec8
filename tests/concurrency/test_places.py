"""Places: who waits for one, in a thread, or in turn, client by client, without a thread."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from scan.concurrency import concurrency_limit, turns
from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.concurrency.turns import Postponed, QueuedPlaces, RequestPlaces
from scan.concurrency.waiting_threads import WaitingThreads
from scan.errors import ClientBusy, Unavailable
from scan.queries import reader
from tests.support.serving import wait_until

pytestmark = pytest.mark.check


@pytest.mark.parametrize("make", [reader.unbounded_statements, reader.processor_places])
def test_a_client_whose_places_are_held_long_by_now_waits_with_one_thread(make):
    """Its next requests held all other threads, as its last one had been quick."""
    now = 100.0
    places = replace(make(), clock=lambda: now)
    assert places.take("a")
    now += 2 * concurrency_limit.PLACE_WAIT_S
    with ThreadPoolExecutor(4) as pool:
        later = [pool.submit(places.take, "a", wait_s=20.0) for _ in range(4)]
        wait_until(lambda: len(places.waiting) + sum(each.done() for each in later) == 4)
        waiting = len(places.waiting)
        for _ in range(waiting):
            places.give_back("a")
        assert waiting <= 1 and sum(each.result() for each in later) == waiting


def test_a_client_whose_statements_take_long_is_refused_for_its_own_limit():
    now = 100.0
    places = replace(reader.unbounded_statements(), clock=lambda: now)
    with places.place("a"):
        now += 60.0
    with ThreadPoolExecutor(1) as pool, places.place("a"):
        waiting = pool.submit(places.take, "a", wait_s=20.0)
        wait_until(lambda: places.waiting)
        with pytest.raises(ClientBusy), places.place("a", wait_s=20.0):
            pass
        with places.place("b", wait_s=0.0):
            pass
    assert waiting.result()


def test_as_many_clients_as_places_leave_one_to_others():
    """Who has held a place gets the last free one after a pause, and any other at once."""
    now = 100.0
    places = ConcurrencyLimit(
        2, places_per_client=1, pause_factor=3.0, busy="busy", clock=lambda: now
    )
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
    require_no_queues(places, "abc")


def require_no_queues(places, clients):
    """A client that has one may not take a place."""
    assert places.taken == 0
    for client in clients:
        assert places.take(client), client
        places.give_back(client)


def test_one_client_leaves_a_place_to_others_however_many_of_its_requests_wait():
    places = WaitingThreads()
    queued = [places.queue("a") for _ in range(3 + turns.QUEUED_PER_CLIENT)]
    assert sum(turn.done() for turn in queued) == 3
    with pytest.raises(ClientBusy):
        places.queue("a")
    assert places.take("b") and not places.take("a") and not places.take("c")
    # Who has not had a place is served before those who have, whoever came first.
    later = places.queue("c")
    queued[0].leave()
    assert later.result(0) and not queued[3].done()
    queued[1].leave()
    assert queued[3].result(0) and not queued[4].done()


def test_whoever_had_no_place_waits_for_one_that_is_held_and_for_no_other_turn():
    places = QueuedPlaces(1, 1, busy="busy")
    running, *strangers = (places.queue(f"10.0.0.{number}") for number in range(4))
    running.leave()
    assert strangers[0].result(0)
    honest, neighbour = places.queue("10.2.0.1"), places.queue("10.0.0.99")
    strangers[0].leave()
    assert honest.result(0)
    honest.leave()
    assert strangers[1].result(0) and not neighbour.done()
    again = places.queue("10.2.0.1")
    strangers[1].leave()
    assert again.result(0)  # their network had one later


def test_the_number_of_places_follows_what_the_node_may_be_at():
    places = WaitingThreads()
    first, second, third = (places.costly.queue(client) for client in "abc")
    assert first.result(0) and second.result(0)
    places.have_one_costly_place(True)
    first.leave()
    assert not third.done()
    second.leave()
    assert third.result(0) and not places.costly.take("a")
    fourth = places.costly.queue("a")
    places.have_one_costly_place(False)
    assert fourth.result(0)


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
        turn.check(turn.ends_at - 0.1)
        assert not turn.done()
        turn.check(turn.ends_at + turns.QUEUED_S)
        with pytest.raises(kind):
            turn.require()
    places.give_back("a")
    places.give_back("b")
    require_no_queues(places, "abc")


def test_a_request_keeps_its_place_from_one_thread_to_the_next_until_its_end():
    places, other = WaitingThreads(1, 1), QueuedPlaces(1, 1, busy="busy")
    held, late = RequestPlaces(), RequestPlaces()
    with held, places.place_in_turn("a"):
        with places.place_in_turn("a"):  # it has it
            pass
        assert places.taken == 1
        with held:  # as a request within another one
            assert turns.thread.request is held
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(getattr, turns.thread, "request").result() is None
    assert places.taken == 0 and turns.thread.request is None
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


def test_a_thread_that_serves_no_request_waits_itself():
    places = QueuedPlaces(1, 1, busy="busy", queued_s=0.0)
    with places.place_in_turn("a"):
        waiting = places.queue("b")
        with pytest.raises(Unavailable), places.place_in_turn("c"):
            pass
    assert waiting.result(0)


def test_a_client_with_all_its_long_waits_is_told_that_they_are_its_own():
    threads = WaitingThreads()
    with threads.place_for_long("a"), threads.place_for_long("a"):
        assert isinstance(threads.refusal_for_long("a"), ClientBusy)
        with pytest.raises(ClientBusy), threads.place_for_long("a"):
            pass
        with threads.place_for_long("b"):
            assert not isinstance(threads.refusal_for_long("c"), ClientBusy | None)
