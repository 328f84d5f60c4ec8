"""Values that are read from time to time, those that are cached by sizes in bounded memory, and
decoders that threads make at once."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.cached_values import SizedCache, TimedValue, cached_property
from tests.support import WAIT_S, forked_python

pytestmark = pytest.mark.check


def test_a_value_is_read_again_once_it_is_old():
    values, now = iter("ab"), 1000.0
    value = TimedValue(lambda: next(values), 5.0, lambda: now)
    assert value.known is None
    assert value.get() == "a"
    now += 4.9
    assert value.get() == "a"
    now += 0.1
    assert value.known == "a"
    assert value.get() == "b" == value.known


def test_a_failed_reading_keeps_nothing_for_later():
    """Otherwise all would get an old value, or none, until the next reading is due."""
    texts, now = {}, 1000.0
    value = TimedValue(lambda: texts["here"], 5.0, lambda: now)
    for _ in range(2):
        with pytest.raises(KeyError):
            value.get()
    texts["here"] = "a"
    assert value.get() == "a"
    now += 5.0
    del texts["here"]
    with pytest.raises(KeyError):
        value.get()
    assert value.known == "a"
    texts["here"] = "b"
    assert value.get() == "b"


def cached(cache, keys):
    return "".join(key for key in keys if cache.get(key) is not None)


def test_the_least_recently_used_values_make_room():
    cache = SizedCache[str](30, least_entries=3)
    for key in "abc":
        cache.store(key, key.upper(), 10)
    assert cache.get("a") == "A"
    cache.store("d", "D", 10)
    assert cached(cache, "abcd") == "acd"
    cache.store("e", "E", 1)
    assert cached(cache, "acde") == "cde"


def test_a_value_that_is_replaced_leaves_its_room():
    cache = SizedCache[str](30, least_entries=3)
    for value in ("old", "new"):
        for key in "abc":
            cache.store(key, value, 10)
    assert [cache.get(key) for key in "abc"] == ["new"] * 3


@pytest.mark.parametrize(("size", "is_stored"), [(10, True), (11, False)])
def test_a_value_that_leaves_too_little_room_for_others_is_not_stored(size, is_stored):
    cache = SizedCache[str](30, least_entries=3)
    for key, bytes_ in (("a", 10), ("b", 10), ("large", size)):
        cache.store(key, key, bytes_)
    assert (cache.get("large") is not None) == is_stored
    assert cached(cache, "ab") == "ab"


def test_a_property_of_one_request_holds_none_of_another():
    computing, goes_on = threading.Event(), threading.Event()

    class Reads(dict):
        @cached_property
        def events(self):
            computing.set()
            return goes_on.wait(self["wait_s"])

    slow, quick = Reads(wait_s=WAIT_S), Reads(wait_s=0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: slow.events)
        assert computing.wait(WAIT_S)
        assert not quick.events and not waiting.done()
        goes_on.set()
    assert slow.events and not quick.events


FIRST_DECODINGS = """
import sys, threading, types
import msgspec
from scan.cached_values import json_decoder

def decode():
    barrier.wait()
    decoded.append(json_decoder(Outer).decode(b'{"last": {"field39": ["text"]}}').last.field39)

sys.setswitchinterval(1e-6)
for number in range(60):
    fields = [(f"field{n}", "list[str] | None", None) for n in range(40)]
    module = sys.modules["fields"] = types.ModuleType("fields")
    module.Inner = msgspec.defstruct("Inner", fields, module="fields")
    last = [*fields, ("last", "Inner | None", None)]
    Outer = msgspec.defstruct("Outer", last, module="fields")
    barrier, decoded = threading.Barrier(4), []
    threads = [threading.Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert decoded == [["text"]] * 4, decoded
"""


def test_threads_that_decode_a_type_first_wait_for_one_another():
    """One that reads a Struct's fields while another fills them ends the process by SIGSEGV."""
    done = forked_python.run([sys.executable, "-c", FIRST_DECODINGS])
    assert done.returncode == 0, done.stderr
