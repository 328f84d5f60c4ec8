"""Values are cached in bounded memory, by the sizes that callers give."""

import pytest

from scan.cached_values import SizedCache

pytestmark = pytest.mark.check


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
