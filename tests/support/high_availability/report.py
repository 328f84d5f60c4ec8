"""Faults one after another, and what was seen of each: the table of docs/high-availability.md."""

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from tests.support.high_availability.faults import Fault
from tests.support.high_availability.stand import Stand

NOTICED_S = 1.5  # by then a supervisor has seen that something ended
USUAL_S = 1.0  # what lies between two answers anyway
READERS = ("anonymous", "key")


class Seen(NamedTuple):
    """Of one fault, from its beginning until everything was at work again; seconds."""

    fault: Fault
    lasted: float
    whole_after: float
    reader_outage: float
    reader_statuses: Counter[str]
    writer_outage: float
    writer_statuses: Counter[str]
    slowest_block: float
    leaderless: float
    head_after_leader: float


def suffer(stand: Stand, fault: Fault, random: Random) -> Seen:
    """Raises AssertionError where not everything comes back."""
    begun = time.monotonic()
    fault.harm(stand, random.uniform(*fault.seconds))
    ended = time.monotonic()
    time.sleep(NOTICED_S)
    whole_after = stand.wait_until_whole()
    now = time.monotonic()
    load = stand.load
    leaderless, leader_at = load.longest_without_leader(begun, now)
    return Seen(
        fault,
        ended - begun,
        whole_after,
        load.longest_outage(begun, now, READERS),
        load.statuses(begun, now, READERS),
        load.longest_outage(begun, now, ("owner",)),
        load.statuses(begun, now, ("owner",)),
        load.slowest_block(begun, now),
        leaderless,
        load.first_block_after(leader_at),
    )


def line(seen: Seen) -> str:
    return (
        f"{seen.fault.part}, {seen.fault.kind}: {seen.lasted:.1f} s, whole after"
        f" {seen.whole_after:.1f} s; readers {seen.reader_outage:.1f} s {dict(seen.reader_statuses)};"
        f" writer {seen.writer_outage:.1f} s {dict(seen.writer_statuses)};"
        f" newest block {seen.slowest_block:.1f} s; without leader {seen.leaderless:.1f} s, indexing"
        f" {seen.head_after_leader:.1f} s after"
    )


def table(all_seen: Iterable[Seen]) -> str:
    """Markdown, a row for each kind of fault: the worst of each column."""
    grouped: dict[tuple[str, str], list[Seen]] = defaultdict(list)
    for seen in all_seen:
        grouped[seen.fault.part, seen.fault.kind].append(seen)
    rows = [
        "| Part | Fault | Times | Lasted | Reader: longest gap | Reader: not 200 |"
        " Writer: longest gap | Writer: not 201 | Newest block late by"
        " | Without leader | Indexing again after that |",
        "|---|---|--:|--:|--:|---|--:|---|--:|--:|--:|",
    ]
    for (part, kind), of_kind in grouped.items():
        rows.append(
            f"| {part} | {kind} | {len(of_kind)} | {statistics.median(s.lasted for s in of_kind):.0f} s"
            f" | {_seconds(max(s.reader_outage for s in of_kind))}"
            f" | {_failures(sum((s.reader_statuses for s in of_kind), Counter()))}"
            f" | {_seconds(max(s.writer_outage for s in of_kind))}"
            f" | {_failures(sum((s.writer_statuses for s in of_kind), Counter()))}"
            f" | {_seconds(max(s.slowest_block for s in of_kind))}"
            f" | {_seconds(max(s.leaderless for s in of_kind))}"
            f" | {_after_leader(of_kind)} |"
        )
    return "\n".join(rows)


def _after_leader(of_kind: list[Seen]) -> str:
    times = [s.head_after_leader for s in of_kind if s.leaderless > USUAL_S]
    return f"{max(times):.1f} s" if times else ""


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value > USUAL_S else "none"


def _failures(statuses: Counter[str]) -> str:
    """Shares of the answers that were not good ones."""
    bad = {s: n for s, n in sorted(statuses.items()) if s not in ("200", "201")}
    return ", ".join(f"{n} × {s}" for s, n in bad.items()) or "none"
