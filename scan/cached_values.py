"""Values that are kept: computed once, or anew from time to time, without a lock; decoders of JSON;
and a cache of immutable values in bounded memory, which evicts the least recently used.

functools.cached_property has one lock for all instances before Python 3.12: a request that waited
for the node inside one held the same property of all other requests.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, ItemsView, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Generic, NamedTuple, Self, TypeVar, overload

from msgspec.json import Decoder  # noqa: TID251

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class cached_property(Generic[T]):
    """A decorator of methods: the first access of an instance computes the value, and keeps it.
    Threads that come at the same time compute it each, and get the same one."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, _owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> Self | T:
        if instance is None:
            return self
        # What stands in the instance goes before what its class has, as this sets nothing.
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value


class LazyMapping(Mapping[K, V]):
    """A mapping that is made when it is first read. What extensions bring is such a one: importing
    a module reads nothing of the registry."""

    def __init__(self, make: Callable[[], Mapping[K, V]]) -> None:
        self._made = cache(make)

    def __getitem__(self, key: K) -> V:
        return self._made()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._made()

    def __iter__(self) -> Iterator[K]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def items(self) -> ItemsView[K, V]:
        return self._made().items()


class LazySequence(Sequence[V]):
    """A sequence that is made when it is first read, as a LazyMapping is."""

    def __init__(self, make: Callable[[], Iterable[V]]) -> None:
        self._made = cache(lambda: tuple(make()))

    @overload
    def __getitem__(self, index: int) -> V: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[V, ...]: ...

    def __getitem__(self, index: int | slice) -> V | tuple[V, ...]:
        return self._made()[index]

    def __iter__(self) -> Iterator[V]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


_decoder: Callable[[Any], Any] = cache(Decoder)
_making_decoders = threading.Lock()


def json_decoder(type_: type[T]) -> Decoder[T]:
    """Return the decoder of a type, which msgspec.convert() may read from here on, too.

    One thread at a time makes them: the first decoder of a Struct fills what all others of it read,
    and runs Python meanwhile. A thread that decoded by half of it ended the process by SIGSEGV.
    """
    with _making_decoders:
        decoder: Decoder[T] = _decoder(type_)
    return decoder


class _Kept(NamedTuple, Generic[T]):
    value: T
    until: float


class TimedValue(Generic[T]):
    """What `read` returned, read again once it is `age_s` seconds old.

    A failed reading is raised and keeps nothing for later: the next request reads again, and
    `known` stays what was read last."""

    def __init__(
        self, read: Callable[[], T], age_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._clock = clock
        self._age_s = age_s
        self._kept: _Kept[T] | None = None

    def get(self) -> T:
        """Return the value. Threads that come while it is old read it each."""
        cached = self._kept
        if cached is None or self._clock() >= cached.until:
            self._kept = cached = _Kept(self._read(), self._clock() + self._age_s)
        return cached.value

    @property
    def known(self) -> T | None:
        """What was read last, however old; None where nothing was read yet."""
        return None if self._kept is None else self._kept.value


_V = TypeVar("_V")


class SizedCache(Generic[_V]):
    """A thread-safe cache; the caller estimates the size of a value in bytes."""

    def __init__(self, most_bytes: int, *, least_entries: int = 16) -> None:
        """Values that would leave no room for `least_entries` of their size are not stored."""
        self._most_bytes = most_bytes
        self._most_entry_bytes = most_bytes // least_entries
        self._bytes = 0
        self._entries: OrderedDict[Hashable, tuple[_V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> _V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def newest(self, count: int) -> list[Hashable]:
        """Return the keys that were used last."""
        with self._lock:
            return [*islice(reversed(self._entries), count)]

    def store(self, key: Hashable, value: _V, size: int) -> None:
        if size > self._most_entry_bytes:
            return
        with self._lock:
            _, old_size = self._entries.pop(key, (None, 0))
            self._entries[key] = (value, size)
            self._bytes += size - old_size
            while self._bytes > self._most_bytes:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._bytes -= dropped
