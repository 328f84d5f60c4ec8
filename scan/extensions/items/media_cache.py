"""Names, traits and pictures of items: from the chain at once, from elsewhere in the background, by
a queue of documents to fetch, bounded in all and for each site, and for all slow sites together."""

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scan.cached_values import SizedCache
from scan.extensions.items import item_metadata, picture_cost
from scan.outbound import allowed_urls, http_client
from scan.outbound.picture_types import SVG
from scan.setting_kinds import Network

MAX_SITES = 1000
MAX_WAITING_OF_SITE = 12
MAX_RUNNING_OF_SITE = 2
MAX_RUNNING_OF_SLOW_SITES = 2  # together
DOCUMENTS_PER_MINUTE = 60  # from one site, whose operator did not agree to be read
SLOW_S = 4.0
SLOW_FOR_S = 300.0  # after a document that took longer than SLOW_S


class Document(NamedTuple):
    """A document to fetch. `url` is one that allowed_urls.parse() accepts. `is_chosen`: the
    operator chose its server, which has no rate limit and is never one of the slow sites."""

    url: str
    most_bytes: int
    is_chosen: bool

    @property
    def site(self) -> str:
        """The last two labels of its host: their owner can make any number of names below them."""
        parsed = allowed_urls.parse(self.url)
        return parsed.host if parsed.literal else ".".join(parsed.host.split(".")[-2:])


@dataclass
class _Site:
    waiting: int = 0
    running: int = 0
    slow_until: float = 0.0
    accepted_at: deque[float] = field(default_factory=lambda: deque(maxlen=DOCUMENTS_PER_MINUTE))


MAX_WAITING = 32  # documents, of all sites


class DocumentQueue:
    """Documents in the order of their requests. Those of sites that have used their share wait."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._changed = threading.Condition()  # which guards all that follows
        self._waiting: deque[Document] = deque()
        self._sites: dict[str, _Site] = {}

    def put(self, document: Document) -> bool:
        """Queue a document, and return whether it is accepted."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                return False
            site, now = self._site(document.site), self._now()
            if site is None or site.waiting >= MAX_WAITING_OF_SITE:
                return False
            is_full = len(site.accepted_at) == DOCUMENTS_PER_MINUTE
            if is_full and now < site.accepted_at[0] + 60.0 and not document.is_chosen:
                return False
            site.waiting += 1
            site.accepted_at.append(now)
            self._waiting.append(document)
            self._changed.notify()
            return True

    def take(self) -> Document:
        """Wait for a document that may be fetched now. The caller calls done() afterwards."""
        with self._changed:
            while True:
                document = next(filter(self._may_start, self._waiting), None)
                if document is not None:
                    self._waiting.remove(document)
                    site = self._sites[document.site]
                    site.waiting -= 1
                    site.running += 1
                    return document
                self._changed.wait()

    def done(self, document: Document, seconds: float) -> None:
        """End a document that take() returned, which was fetched in so many seconds."""
        with self._changed:
            site = self._sites[document.site]
            site.running -= 1
            if seconds > SLOW_S and not document.is_chosen:
                site.slow_until = self._now() + SLOW_FOR_S
            self._changed.notify_all()

    def _may_start(self, document: Document) -> bool:
        site, now = self._sites[document.site], self._now()
        if site.running >= MAX_RUNNING_OF_SITE:
            return False
        if document.is_chosen or now >= site.slow_until:
            return True
        slow = (other for other in self._sites.values() if now < other.slow_until)
        return sum(other.running for other in slow) < MAX_RUNNING_OF_SLOW_SITES

    def _site(self, name: str) -> _Site | None:
        """Return a site; None where too many others are still in use."""
        if name not in self._sites and len(self._sites) >= MAX_SITES:
            self._sites = {n: site for n, site in self._sites.items() if self._is_needed(site)}
            if len(self._sites) >= MAX_SITES:
                return None
        return self._sites.setdefault(name, _Site())

    def _is_needed(self, site: _Site) -> bool:
        now = self._now()
        is_recent = bool(site.accepted_at) and now < site.accepted_at[-1] + 60.0
        return bool(site.waiting or site.running) or now < site.slow_until or is_recent


CACHE_BYTES = 64 * 1024 * 1024
PICTURES_BYTES = 2 * 1024 * 1024  # for the types of pictures
SHOWN_BYTES = 32 * 1024 * 1024  # for the pictures in lists
# Larger pictures are shown on their items' pages alone: a browser decodes all pictures of a list.
MAX_THUMBNAIL_BYTES = 512 * 1024
MAX_THUMBNAIL_PIXELS = 2048 * 2048
ENTRY_BYTES = 500  # memory of an entry besides its content
# The gateway and the slow sites together hold at most two each.
FETCHING_THREADS = 6
KEPT_S = 3600.0
FAILURE_KEPT_S = 300.0

OFF = "Metadata outside the chain is not fetched here."
PENDING = "It is being fetched; ask again shortly."
BUSY = "Too many documents are being fetched; ask again shortly."

log = logging.getLogger(__name__)


class Media(NamedTuple):
    """The metadata and picture of an item. `problem` says what is missing and why.

    `is_pending`: another request may return more. `is_of_chain`: only the chain can change it.
    """

    metadata: item_metadata.Metadata | None = None
    picture: item_metadata.Picture | None = None
    problem: str | None = None
    is_pending: bool = False
    is_of_chain: bool = True


class Thumbnail(NamedTuple):
    """An item in a list: the name in its metadata, and the SHA-256 of its picture."""

    name: str = ""
    digest: str | None = None


class _Content(NamedTuple):
    """A document, or why there is none."""

    body: bytes | None
    problem: str | None = None
    is_pending: bool = False
    is_of_chain: bool = True
    until: float = 0.0


class ItemMedia:
    """Metadata and pictures of items by their URIs. Without a fetcher only data: URIs are read. No
    request waits for another server."""

    def __init__(
        self,
        fetcher: http_client.HttpClient | None,
        ipfs_gateway: str = "",
        gateway_networks: Sequence[Network] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._gateway = ipfs_gateway
        self._gateway_networks = gateway_networks
        self._now = now
        self._cache: SizedCache[_Content] = SizedCache(CACHE_BYTES)
        self._pictures: SizedCache[str | item_metadata.BadContent] = SizedCache(PICTURES_BYTES)
        self._shown: SizedCache[item_metadata.Picture] = SizedCache(SHOWN_BYTES)
        self._documents = DocumentQueue(now)
        self._pending: set[Document] = set()
        self._lock = threading.Lock()
        self._threads = 0

    def of(self, uri: str | None, token_id: int) -> Media:
        if not uri:
            return Media()
        document = self._content(
            item_metadata.item_uri(uri, token_id), item_metadata.MAX_DOCUMENT_BYTES
        )
        media = Media(is_of_chain=document.is_of_chain)
        if document.body is None:
            return media._replace(problem=document.problem, is_pending=document.is_pending)
        try:
            metadata = item_metadata.parse(document.body)
            media = media._replace(metadata=metadata)
            if metadata.image is None:
                return media
            uri = item_metadata.item_uri(metadata.image, token_id)
            if uri.lstrip().startswith("<"):  # an SVG in place of a URI
                image = _Content(uri.encode("utf-8", "replace"))
            else:
                image = self._content(uri, item_metadata.MAX_PICTURE_BYTES)
            media = media._replace(is_of_chain=document.is_of_chain and image.is_of_chain)
            if image.body is None:
                return media._replace(problem=image.problem, is_pending=image.is_pending)
            return media._replace(picture=self._picture(image.body))
        except item_metadata.BadContent as error:
            return media._replace(problem=str(error))

    def thumbnail(self, media: Media) -> Thumbnail:
        """Return an item's name and picture for a list, and keep the picture for shown()."""
        name = media.metadata.name if media.metadata else ""
        picture = media.picture
        if picture is None or not _is_small(picture):
            return Thumbnail(name)
        digest = hashlib.sha256(picture.content).hexdigest()
        self._shown.store(digest, picture, ENTRY_BYTES + len(picture.content))
        return Thumbnail(name, digest)

    def shown(self, digest: str) -> item_metadata.Picture | None:
        """Return a picture of a list by its digest; None where it is no longer kept, or another
        process has it."""
        return self._shown.get(digest)

    def _picture(self, content: bytes) -> item_metadata.Picture:
        """Return the picture. Raises BadContent. Both results are cached, as checking an SVG takes
        long."""
        key = hashlib.sha256(content).digest()
        cached = self._pictures.get(key)
        if isinstance(cached, item_metadata.BadContent):
            raise cached
        if cached is not None:
            return item_metadata.Picture(cached, content)
        try:
            picture = item_metadata.picture(content)
        except item_metadata.BadContent as error:
            self._pictures.store(key, error, ENTRY_BYTES)
            raise
        self._pictures.store(key, picture.content_type, ENTRY_BYTES)
        return picture

    def _content(self, uri: str, most_bytes: int) -> _Content:
        try:
            body = item_metadata.from_data_uri(uri, most_bytes)
            if body is not None:
                return _Content(body)
            url = item_metadata.remote_url(uri, self._gateway)
        except item_metadata.BadContent as error:
            return _Content(None, str(error))
        if self._fetcher is None:
            return _Content(None, OFF)
        return self._fetched(url, most_bytes)

    def _fetched(self, url: item_metadata.RemoteUrl, most_bytes: int) -> _Content:
        """Return the content from the cache, or else have it fetched and return that it
        is pending."""
        try:
            allowed_urls.parse(url.url)
        except allowed_urls.RefusedUrl as error:
            return _Content(None, f"The URL is not allowed: {error}.")
        document = Document(url.url, most_bytes, url.is_of_gateway)
        cached = self._cache.get(document)
        if cached is not None and self._now() < cached.until:
            return cached
        with self._lock:
            if document not in self._pending:
                if not self._documents.put(document):
                    return _Content(None, BUSY, is_pending=True, is_of_chain=False)
                self._pending.add(document)
            if self._threads < FETCHING_THREADS:
                threading.Thread(target=self._run, name="item media", daemon=True).start()
                self._threads += 1
        return _Content(None, PENDING, is_pending=True, is_of_chain=False)

    def _run(self) -> None:
        while True:
            document = self._documents.take()
            began = self._now()
            try:
                self._fetch(document)
            except Exception:
                log.exception("fetching an item's metadata failed")
            finally:
                self._documents.done(document, self._now() - began)
                with self._lock:
                    self._pending.discard(document)

    def _fetch(self, document: Document) -> None:
        assert self._fetcher is not None
        allowed = self._gateway_networks if document.is_chosen else ()
        try:
            body = self._fetcher.get(document.url, document.most_bytes, allowed)
            content = _Content(body, is_of_chain=False, until=self._now() + KEPT_S)
        except http_client.NotFetched as error:
            until = self._now() + FAILURE_KEPT_S
            content = _Content(None, str(error), is_of_chain=False, until=until)
        self._cache.store(
            document, content, ENTRY_BYTES + len(document.url) + len(content.body or b"")
        )


def _is_small(picture: item_metadata.Picture) -> bool:
    content_type, content = picture
    return len(content) <= MAX_THUMBNAIL_BYTES and (
        content_type == SVG or picture_cost.pixels(content, content_type) <= MAX_THUMBNAIL_PIXELS
    )
