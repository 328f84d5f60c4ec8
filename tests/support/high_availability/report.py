"""Faults one after another, and what was seen of each: docs/high-availability.md sums it up."""

import statistics
import time
from collections import Counter, defaultdict, namedtuple

GOOD = ("200", "201")
NOTICED_S = 1.5  # by then a supervisor has seen that something ended
USUAL_S = 1.0  # what lies between two answers anyway
READERS = ("anonymous", "key")


MEASURED = """
    fault lasted whole_after reader_outage reader_statuses writer_outage writer_statuses
    slowest_block leaderless head_after_leader
"""


class Seen(namedtuple("Seen", MEASURED)):
    """Of one fault, from its beginning until everything was at work again; seconds."""


def suffer(stand, fault, random):
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


def line(seen):
    return (
        f"{seen.fault.part}, {seen.fault.kind}: {seen.lasted:.1f} s, whole after"
        f" {seen.whole_after:.1f} s;"
        f" readers {seen.reader_outage:.1f} s {dict(seen.reader_statuses)};"
        f" writer {seen.writer_outage:.1f} s {dict(seen.writer_statuses)};"
        f" newest block {seen.slowest_block:.1f} s; without leader {seen.leaderless:.1f} s,"
        f" indexing {seen.head_after_leader:.1f} s after"
    )


def table(all_seen):
    """Markdown, a row for each kind of fault: the worst of each column."""
    grouped = defaultdict(list)
    for seen in all_seen:
        grouped[seen.fault.part, seen.fault.kind].append(seen)
    names = (
        *("Part", "Fault", "Times", "Lasted", "Reader waits", "Reader is refused", "Writer waits"),
        *("Writer is refused", "Newest block late by", "No leader", "Head after it"),
    )
    rows = [names, ["---"] * len(names)]
    rows += [
        [*of, *cells(group)]
        for of, group in sorted(grouped.items(), key=lambda g: g[1][0].fault.number)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def cells(group):
    after_leader = [s.head_after_leader for s in group if s.leaderless > USUAL_S]
    return [
        str(len(group)),
        f"{statistics.median(s.lasted for s in group):.0f} s",
        _seconds(s.reader_outage for s in group),
        _refusals(s.reader_statuses for s in group),
        _seconds(s.writer_outage for s in group),
        _refusals(s.writer_statuses for s in group),
        _seconds(s.slowest_block for s in group),
        _seconds(s.leaderless for s in group),
        _seconds(after_leader) if after_leader else "",
    ]


def _seconds(values):
    longest = max(values)
    return f"{longest:.1f} s" if longest > USUAL_S else "-"


def _refusals(counters):
    """How many requests were not answered well, and how."""
    whole = sum(counters, Counter())
    bad = {status: count for status, count in sorted(whole.items()) if status not in GOOD}
    return ", ".join(f"{status}: {count}" for status, count in bad.items()) or "-"
