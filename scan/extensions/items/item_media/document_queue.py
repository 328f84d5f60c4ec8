"""The queue of documents to fetch, bounded in all, and for each site by site_limits.py."""

import threading
import time
from collections import deque
from collections.abc import Callable

from scan.extensions.items.item_media.site_limits import SiteLimits
from scan.outbound.document_fetcher import Document

MAX_WAITING = 32  # documents, of all sites


class DocumentQueue:
    """Documents in the order of their requests. Those of sites that have used their share wait."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._waiting: deque[Document] = deque()
        self._sites = SiteLimits(now)
        self._changed = threading.Condition()

    def put(self, document: Document) -> bool:
        """Queue a document, and return whether it is accepted."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING or not self._sites.accept(document):
                return False
            self._waiting.append(document)
            self._changed.notify()
            return True

    def take(self) -> Document:
        """Wait for a document that may be fetched now. The caller calls done() afterwards."""
        with self._changed:
            while True:
                document = next(filter(self._sites.may_start, self._waiting), None)
                if document is not None:
                    self._waiting.remove(document)
                    self._sites.start(document)
                    return document
                self._changed.wait()

    def done(self, document: Document, seconds: float) -> None:
        """End a document that take() returned, which was fetched in so many seconds."""
        with self._changed:
            self._sites.finish(document, seconds)
            self._changed.notify_all()
