"""The targets of bench/README.md: each met or not, by the number that is furthest from it."""

import statistics
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench.ingest import memory_growth

TEN_MILLION = 10_000_000
SHORT_TABLES = {"blocks", "tokens"}  # whose last page is not far from the first


class Target(NamedTuple):
    """`met` is None where this run could not tell."""

    text: str
    met: bool | None
    result: str


class Ratio(NamedTuple):
    value: float
    where: str


def judge(results: dict[str, Any]) -> list[Target]:
    return [
        *_serving(results.get("serving")),
        *_ingest(results.get("ingest")),
        *_storage(results.get("storage")),
    ]


def _serving(serving: dict[str, Any] | None) -> Iterator[Target]:
    if not serving or not serving["cases"]:
        return
    every = serving["cases"]
    limited = [case for case in every if "bare" in case["servers"]]
    repeated = [case for case in limited if case["place"] != "any"]
    new = [case for case in limited if case["place"] == "any"]
    first = [case for case in repeated if case["place"] == "first"]
    last = [case for case in repeated if case["place"] == "last"]
    yield _least("repeated pages: ahead of FastAPI with asyncpg", 1.0, _rates(repeated, "fastapi"))
    yield _least("uncached pages: 0.85 of plain Flask", 0.85, _rates(new, "plain"))
    yield _least("3 times the ORM service on page 1", 3.0, _rates(first, "orm"))
    deep = [case for case in last if case["name"] not in SHORT_TABLES]
    yield _least("100 times the ORM service on the last page", 100.0, _rates(deep, "orm"))
    last_in_database = "last page at most 1.5 times the first, in the database"
    yield _most(last_in_database, 1.5, _ends(every))
    small = f"at most 1.2 times a chain of {serving['small']:,} transactions"
    yield _most(small, 1.2, [_times(case, "small") for case in limited])
    if serving["hottest"]:
        yield _hottest(serving)


def _rates(cases: list[dict[str, Any]], other: str) -> list[Ratio]:
    """Our requests a second over another's, in the cases that it is measured in."""
    return [
        Ratio(ratio(case["servers"], other, "per_s"), _where(case))
        for case in cases
        if other in case["servers"]
    ]


def _times(case: dict[str, Any], other: str) -> Ratio:
    """How long our median request takes over how long another's takes."""
    return Ratio(ratio(case["servers"], other, "p50_ms"), _where(case))


def ratio(servers: dict[str, Any], other: str, what: str) -> float:
    """The median of the rounds' ratios: what disturbs a round disturbs both sides of it."""
    pairs = zip(servers["scan"]["rounds"], servers[other]["rounds"], strict=True)
    return statistics.median(ours[what] / max(theirs[what], 1e-3) for ours, theirs in pairs)


def _ends(cases: list[dict[str, Any]]) -> list[Ratio]:
    """Time of the last page over time of the first in the database, by list."""
    at = {(case["name"], case["place"]): case["servers"]["pgbench"]["p50_ms"] for case in cases}
    return [
        Ratio(at[name, "last"] / max(at[name, "first"], 1e-3), name)
        for name, place in at
        if place == "last" and (name, "first") in at
    ]


def _hottest(serving: dict[str, Any]) -> Target:
    where, slowest = max(serving["hottest"].items(), key=lambda case: case[1])
    entries = serving["facts"]["hot_transactions"]
    text = "an address with 10 M transactions: under 5 ms in the database"
    result = f"{slowest:.2f} ms ({where}) with {entries:,} transactions"
    return Target(text, slowest < 5 if entries >= 0.99 * TEN_MILLION else None, result)


def _ingest(ingest: dict[str, Any] | None) -> Iterator[Target]:
    if not ingest:
        return
    speed = ingest["transactions_per_s"]
    share = speed / ingest["raw_copy"]["transactions_per_s"]
    yield Target("indexing at 0.3 of a raw COPY", share >= 0.3, f"{share:.2f}")
    yield Target("indexing 15,000 transactions/s", speed >= 15_000, f"{speed:,.0f}")
    growth = memory_growth(ingest["samples"])
    result = "too short a run" if growth is None else f"{growth:.2f} times a third of the way"
    long_enough = growth is not None and ingest["transactions"] >= 1_000_000
    text = "the indexer's memory flat over 1 M transactions"
    yield Target(text, growth < 1.1 if growth and long_enough else None, result)


def _storage(storage: dict[str, Any] | None) -> Iterator[Target]:
    if not storage:
        return
    for text, most, name in (
        ("at most 450 bytes per transaction, with shares", 450, "bytes_per_transaction"),
        ("at most 400 bytes per token transfer", 400, "bytes_per_token_transfer"),
    ):
        yield Target(text, storage[name] <= most, f"{storage[name]:.0f}")


def _least(text: str, least: float, ratios: list[Ratio]) -> Target:
    return _worst(text, ratios, min, lambda value: value >= least)


def _most(text: str, most: float, ratios: list[Ratio]) -> Target:
    return _worst(text, ratios, max, lambda value: value <= most)


def _worst(
    text: str,
    ratios: list[Ratio],
    choose: Callable[[list[Ratio]], Ratio],
    holds: Callable[[float], bool],
) -> Target:
    if not ratios:
        return Target(text, None, "nothing measured")
    met = [ratio for ratio in ratios if holds(ratio.value)]
    worst = choose(ratios)
    result = f"{len(met)} of {len(ratios)} cases, worst {worst.value:.2f} ({worst.where})"
    return Target(text, len(met) == len(ratios), result)


def _where(case: dict[str, Any]) -> str:
    return f"{case['name']}, {case['place']}"
