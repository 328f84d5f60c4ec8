"""What each kind of page costs: bytes, requests, time in Chromium, processor time of the server.

`python -m bench.pages URL PID` prints what the pages of a running Scan cost; PID and its
descendants are its processes. Needs Chromium, and rate limits of some thousands of requests.
"""

import statistics
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import requests

from bench.processes import family, processor_seconds
from tests.support.browser import Page, chromium

TIMES = 7
SERVER_REQUESTS = 60
LOADED = """
(() => {
  const [page] = performance.getEntriesByType("navigation");
  const all = [page, ...performance.getEntriesByType("resource")];
  const sent = all.filter((entry) => entry.transferSize);
  return {
    bytes: sent.reduce((sum, entry) => sum + entry.transferSize, 0),
    requests: sent.length,
    ms: page.domContentLoadedEventEnd - page.startTime,
  };
})()
"""


class Visit(NamedTuple):
    size: int
    requests: int
    ms: float


class Cost(NamedTuple):
    """`new_ms` and `cached_ms`: processor time of server and database for a response that is
    rendered, and for one in the server's cache."""

    kind: str
    first: Visit
    again: Visit
    new_ms: float
    cached_ms: float


def main(url: str, pid: int) -> None:
    session = requests.Session()
    with chromium() as page:
        costs = [_cost(page, session, url, pid, *kind) for kind in kinds(session, url)]
    print("| Page | First visit | Again | DOMContentLoaded | Server, new | Cached |")
    print("|---|---|---|---|---|---|")
    for cost in costs:
        first, again = (f"{v.size / 1000:.1f} kB, {v.requests}" for v in (cost.first, cost.again))
        loaded = f"{cost.first.ms:.0f} and {cost.again.ms:.0f} ms"
        server = f"{cost.new_ms:.1f} ms | {cost.cached_ms:.1f} ms"
        print(f"| {cost.kind} | {first} | {again} | {loaded} | {server} |")


def kinds(session: requests.Session, url: str) -> Iterator[tuple[str, str]]:
    """Names and paths; those of records from the newest that the API has."""

    def records(path: str, name: str) -> list[dict[str, Any]]:
        answer = session.get(f"{url}/api/v1{path}", timeout=30).json()
        return list(answer.get(name, []))

    yield from (("home", "/"), ("blocks", "/blocks"), ("transactions", "/txs"))
    newest = records("/transactions?limit=100", "transactions")
    person = newest[0]["fromAddress"]
    yield "block", f"/block/{newest[0]['blockNumber']}"
    for failed in (row for row in newest if not row["status"]):
        yield "transaction, failed", f"/tx/{failed['hash']}"
        break
    for trade in records("/dex-trades?limit=1", "trades"):
        yield "transaction, a swap", f"/tx/{trade['transactionHash']}"
        yield "call tree", f"/tx/{trade['transactionHash']}?tab=calls"
    yield "address", f"/address/{person}"
    yield "history", f"/address/{person}?tab=history"
    for contract in records("/contracts?limit=1", "contracts"):
        yield "contract, verified", f"/address/{contract['address']}?tab=contract"
        yield "bytecode", f"/address/{contract['address']}?tab=bytecode"
    for token in records("/tokens?limit=1", "tokens"):
        yield "token", f"/token/{token['address']}"
        yield "holders", f"/token/{token['address']}?tab=holders"
    for pool in records("/pools?limit=1", "pools"):
        yield "pool", f"/pool/{pool['address']}"
    yield from (("tokens", "/tokens"), ("contracts", "/contracts"), ("pools", "/dex"))
    yield from (("gas", "/gas"), ("charts", "/charts"), ("search", "/search?q=token"))
    yield from (("watch list", "/watchlist"), ("keys", "/keys"), ("not found", "/nothing"))


def _cost(page: Page, session: requests.Session, url: str, pid: int, kind: str, path: str) -> Cost:
    first, again = [], []
    for _ in range(TIMES):
        page.call("Network.clearBrowserCache")
        first.append(_visit(page, url + path))
        again.append(_visit(page, url + path))
    mark = "&" if "?" in path else "?"
    new = _server_ms(session, pid, [f"{url}{path}{mark}={n}" for n in range(SERVER_REQUESTS)])
    cached = _server_ms(session, pid, [url + path] * SERVER_REQUESTS)
    return Cost(kind, _median(first), _median(again), new, cached)


def _visit(page: Page, url: str) -> Visit:
    page.open(url)
    loaded = page.evaluate(LOADED)
    visit = Visit(loaded["bytes"], loaded["requests"], loaded["ms"])
    page.open("about:blank")
    return visit


def _median(visits: list[Visit]) -> Visit:
    sizes, counts, times = zip(*visits, strict=True)
    return Visit(
        int(statistics.median(sizes)), int(statistics.median(counts)), statistics.median(times)
    )


def _server_ms(session: requests.Session, pid: int, urls: list[str]) -> float:
    before = _processor_seconds(pid)
    for url in urls:
        session.get(url, timeout=60, headers={"Accept": "text/html"})
    return 1000 * (_processor_seconds(pid) - before) / len(urls)


def _processor_seconds(pid: int) -> float:
    """Of a process and all below it."""
    children = [child for child in family(pid) if child != pid]
    return processor_seconds(pid) + sum(map(_processor_seconds, children))


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), int(sys.argv[2]))
