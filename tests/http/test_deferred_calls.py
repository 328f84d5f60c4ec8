"""The calls that other threads hand to the worker's loop: none is lost, whoever floods it."""

import select
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.server.deferred_calls import MOST_READ, DeferredCalls

pytestmark = pytest.mark.check


@pytest.fixture
def calls():
    deferred = DeferredCalls()
    deferred.init()
    yield deferred
    deferred.close()


def run_all(calls):
    """As the loop does: until nothing is readable any more."""
    while select.select([calls], [], [], 0)[0]:
        calls.run_callbacks(calls)


def test_more_calls_than_the_pipe_takes_are_all_run_in_order(calls):
    count, ran = 3 * MOST_READ, []
    for number in range(count):
        calls.defer(ran.append, number)
    run_all(calls)
    assert ran == list(range(count))


def test_calls_of_threads_that_go_on_while_the_loop_runs_are_all_run(calls):
    count, ran = MOST_READ, []
    with ThreadPoolExecutor(4) as threads:
        for thread in range(4):
            threads.submit(
                lambda of=thread: [calls.defer(ran.append, (of, n)) for n in range(count)]
            )
        while len(ran) < 4 * count:
            assert select.select([calls], [], [], 10)[0]
            calls.run_callbacks(calls)
    for thread in range(4):
        assert [n for of, n in ran if of == thread] == list(range(count))


def test_a_call_that_fails_takes_no_other_with_it(calls):
    ran = []
    for number in (1, 0, 2):
        calls.defer(lambda n: ran.append(1 // n and n), number)
    with pytest.raises(ZeroDivisionError):
        run_all(calls)
    run_all(calls)
    assert ran == [1, 0]  # 1 // 2
