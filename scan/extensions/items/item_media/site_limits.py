"""Limits on the documents that are fetched from one site, and from all slow sites together."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from scan.outbound.document_fetcher import Document

MAX_SITES = 1000
MAX_WAITING_OF_SITE = 12
MAX_RUNNING_OF_SITE = 2
MAX_RUNNING_OF_SLOW_SITES = 2  # together
DOCUMENTS_PER_MINUTE = 60  # from one site, whose operator did not agree to be read
SLOW_S = 4.0
SLOW_FOR_S = 300.0  # after a document that took longer than SLOW_S


@dataclass
class _Site:
    waiting: int = 0
    running: int = 0
    slow_until: float = 0.0
    accepted_at: deque[float] = field(default_factory=lambda: deque(maxlen=DOCUMENTS_PER_MINUTE))


class SiteLimits:
    """The documents of each site that wait or are fetched. Only one thread at a time may use it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._sites: dict[str, _Site] = {}

    def accept(self, document: Document) -> bool:
        """Return whether a document may wait, and count it if so."""
        site = self._site(document.site)
        if site is None or site.waiting >= MAX_WAITING_OF_SITE:
            return False
        if not document.is_chosen and self._is_at_rate(site):
            return False
        site.waiting += 1
        site.accepted_at.append(self._now())
        return True

    def may_start(self, document: Document) -> bool:
        site, now = self._sites[document.site], self._now()
        if site.running >= MAX_RUNNING_OF_SITE:
            return False
        if document.is_chosen or now >= site.slow_until:
            return True
        slow = (other for other in self._sites.values() if now < other.slow_until)
        return sum(other.running for other in slow) < MAX_RUNNING_OF_SLOW_SITES

    def start(self, document: Document) -> None:
        site = self._sites[document.site]
        site.waiting -= 1
        site.running += 1

    def finish(self, document: Document, seconds: float) -> None:
        site = self._sites[document.site]
        site.running -= 1
        if seconds > SLOW_S and not document.is_chosen:
            site.slow_until = self._now() + SLOW_FOR_S

    def _site(self, name: str) -> _Site | None:
        """Return a site; None where too many others are still in use."""
        if name not in self._sites and len(self._sites) >= MAX_SITES:
            self._sites = {n: site for n, site in self._sites.items() if self._is_needed(site)}
            if len(self._sites) >= MAX_SITES:
                return None
        return self._sites.setdefault(name, _Site())

    def _is_at_rate(self, site: _Site) -> bool:
        is_full = len(site.accepted_at) == DOCUMENTS_PER_MINUTE
        return is_full and self._now() < site.accepted_at[0] + 60.0

    def _is_needed(self, site: _Site) -> bool:
        now = self._now()
        is_recent = bool(site.accepted_at) and now < site.accepted_at[-1] + 60.0
        return bool(site.waiting or site.running) or now < site.slow_until or is_recent
