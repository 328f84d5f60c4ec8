"""Which document is fetched next: bounded in all, and for each site that documents come from."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from scan.webhooks import urls

MAX_WAITING = 32  # documents, of all sites
MAX_WAITING_OF_SITE = 12
MAX_RUNNING_OF_SITE = 2
MAX_RUNNING_OF_SLOW_SITES = 2  # together
MAX_SITES = 1000
DOCUMENTS_PER_MINUTE = 60  # of one site, which did not ask to be read
SLOW_S = 4.0
SLOW_FOR_S = 300.0  # after a document that took longer than SLOW_S


class Document(NamedTuple):
    """A document to fetch; `url` is one that urls.parse() takes. `is_chosen`: the operator chose
    its server, which has no limit of rate and is never one of the slow sites."""

    url: str
    most_bytes: int
    is_chosen: bool

    @property
    def site(self) -> str:
        """The last two labels of its host: names below them cost their owner nothing."""
        parsed = urls.parse(self.url)
        return parsed.host if parsed.literal else ".".join(parsed.host.split(".")[-2:])


@dataclass
class _Site:
    waiting: int = 0
    running: int = 0
    slow_until: float = 0.0
    accepted_at: deque[float] = field(default_factory=lambda: deque(maxlen=DOCUMENTS_PER_MINUTE))


class DocumentQueue:
    """Documents in the order of their requests, but those of sites that hold their share."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._waiting: deque[Document] = deque()
        self._sites: dict[str, _Site] = {}
        self._changed = threading.Condition()

    def put(self, document: Document) -> bool:
        """Queue a document, and return whether it is accepted."""
        with self._changed:
            site = self._site(document.site)
            if site is None or len(self._waiting) >= MAX_WAITING:
                return False
            if site.waiting >= MAX_WAITING_OF_SITE:
                return False
            if not document.is_chosen and self._is_asked_often(site):
                return False
            site.waiting += 1
            site.accepted_at.append(self._now())
            self._waiting.append(document)
            self._changed.notify()
            return True

    def take(self) -> Document:
        """Wait for a document that may be fetched now; done() is to follow."""
        with self._changed:
            while True:
                document = next(filter(self._may_run, self._waiting), None)
                if document is not None:
                    self._waiting.remove(document)
                    site = self._sites[document.site]
                    site.waiting -= 1
                    site.running += 1
                    return document
                self._changed.wait()

    def done(self, document: Document, seconds: float) -> None:
        """Note that a document was fetched, in so many seconds."""
        with self._changed:
            site = self._sites[document.site]
            site.running -= 1
            if seconds > SLOW_S and not document.is_chosen:
                site.slow_until = self._now() + SLOW_FOR_S
            self._changed.notify_all()

    def _site(self, name: str) -> _Site | None:
        if name not in self._sites and len(self._sites) >= MAX_SITES:
            self._sites = {n: site for n, site in self._sites.items() if self._is_needed(site)}
            if len(self._sites) >= MAX_SITES:
                return None
        return self._sites.setdefault(name, _Site())

    def _may_run(self, document: Document) -> bool:
        site, now = self._sites[document.site], self._now()
        if site.running >= MAX_RUNNING_OF_SITE:
            return False
        if document.is_chosen or now >= site.slow_until:
            return True
        slow = (other for other in self._sites.values() if now < other.slow_until)
        return sum(other.running for other in slow) < MAX_RUNNING_OF_SLOW_SITES

    def _is_asked_often(self, site: _Site) -> bool:
        is_full = len(site.accepted_at) == DOCUMENTS_PER_MINUTE
        return is_full and self._now() < site.accepted_at[0] + 60.0

    def _is_needed(self, site: _Site) -> bool:
        now = self._now()
        is_recent = bool(site.accepted_at) and now < site.accepted_at[-1] + 60.0
        return bool(site.waiting or site.running) or now < site.slow_until or is_recent
