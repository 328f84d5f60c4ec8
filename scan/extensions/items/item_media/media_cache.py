"""Names, traits and pictures of items: from the chain at once, from elsewhere in the background."""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from scan.environment import Network
from scan.ethereum.sized_cache import SizedCache
from scan.extensions.items.item_media import dimensions, item_metadata
from scan.extensions.items.item_media.document_queue import DocumentQueue
from scan.extensions.items.item_media.item_metadata import (
    MAX_DOCUMENT_BYTES,
    MAX_PICTURE_BYTES,
    BadContent,
    Metadata,
    Picture,
    RemoteUrl,
)
from scan.outbound import public_hosts
from scan.outbound.document_fetcher import Document, DocumentFetcher, NotFetched
from scan.outbound.picture_types import SVG
from scan.outbound.public_hosts import RefusedUrl

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

    metadata: Metadata | None = None
    picture: Picture | None = None
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
        fetcher: DocumentFetcher | None,
        ipfs_gateway: str = "",
        gateway_networks: Sequence[Network] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._gateway = ipfs_gateway
        self._gateway_networks = gateway_networks
        self._now = now
        self._cache: SizedCache[_Content] = SizedCache(CACHE_BYTES)
        self._pictures: SizedCache[str | BadContent] = SizedCache(PICTURES_BYTES)
        self._shown: SizedCache[Picture] = SizedCache(SHOWN_BYTES)
        self._documents = DocumentQueue(now)
        self._pending: set[Document] = set()
        self._lock = threading.Lock()
        self._threads = 0

    def of(self, uri: str | None, token_id: int) -> Media:
        if not uri:
            return Media()
        document = self._content(item_metadata.with_id(uri, token_id), MAX_DOCUMENT_BYTES)
        if document.body is None:
            return Media(None, None, *document[1:4])
        try:
            metadata = item_metadata.parse(document.body)
        except BadContent as error:
            return Media(problem=str(error), is_of_chain=document.is_of_chain)
        if metadata.image is None:
            return Media(metadata, is_of_chain=document.is_of_chain)
        image = self._image(item_metadata.with_id(metadata.image, token_id))
        is_of_chain = document.is_of_chain and image.is_of_chain
        if image.body is None:
            return Media(metadata, None, image.problem, image.is_pending, is_of_chain)
        try:
            picture = self._picture(image.body)
        except BadContent as error:
            return Media(metadata, problem=str(error), is_of_chain=is_of_chain)
        return Media(metadata, picture, is_of_chain=is_of_chain)

    def thumbnail(self, media: Media) -> Thumbnail:
        """Return an item's name and picture for a list, and keep the picture for shown()."""
        name = media.metadata.name if media.metadata else ""
        picture = media.picture
        if picture is None or not _is_small(picture):
            return Thumbnail(name)
        digest = hashlib.sha256(picture.content).hexdigest()
        self._shown.store(digest, picture, ENTRY_BYTES + len(picture.content))
        return Thumbnail(name, digest)

    def shown(self, digest: str) -> Picture | None:
        """Return a picture of a list by its digest; None where it is no longer kept, or another
        process has it."""
        return self._shown.get(digest)

    def _picture(self, content: bytes) -> Picture:
        """Return the picture. Raises BadContent. Both results are cached, as checking an SVG takes
        long."""
        key = hashlib.sha256(content).digest()
        known = self._pictures.get(key)
        if isinstance(known, BadContent):
            raise known
        if known is not None:
            return Picture(known, content)
        try:
            picture = item_metadata.picture(content)
        except BadContent as error:
            self._pictures.store(key, error, ENTRY_BYTES)
            raise
        self._pictures.store(key, picture.content_type, ENTRY_BYTES)
        return picture

    def _image(self, uri: str) -> _Content:
        svg = item_metadata.inline_svg(uri)
        return self._content(uri, MAX_PICTURE_BYTES) if svg is None else _Content(svg)

    def _content(self, uri: str, most_bytes: int) -> _Content:
        try:
            body = item_metadata.from_data_uri(uri, most_bytes)
            if body is not None:
                return _Content(body)
            url = item_metadata.remote_url(uri, self._gateway)
        except BadContent as error:
            return _Content(None, str(error))
        if self._fetcher is None:
            return _Content(None, OFF)
        return self._fetched(url, most_bytes)

    def _fetched(self, url: RemoteUrl, most_bytes: int) -> _Content:
        """Return the content from the cache, or else have it fetched and return that it
        is pending."""
        try:
            public_hosts.parse(url.url)
        except RefusedUrl as error:
            return _Content(None, f"The URL is not allowed: {error}.")
        document = Document(url.url, most_bytes, url.is_of_gateway)
        cached = self._cache.get(document)
        if cached is not None and self._now() < cached.until:
            return cached
        with self._lock:
            if document not in self._pending:
                if not self._documents.put(document):
                    return _Content(None, BUSY, True, False)
                self._pending.add(document)
            if self._threads < FETCHING_THREADS:
                self._threads += 1
                threading.Thread(target=self._run, name="item media", daemon=True).start()
        return _Content(None, PENDING, True, False)

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
            content = _Content(body, None, False, False, self._now() + KEPT_S)
        except NotFetched as error:
            content = _Content(None, str(error), False, False, self._now() + FAILURE_KEPT_S)
        self._cache.store(
            document, content, ENTRY_BYTES + len(document.url) + len(content.body or b"")
        )


def _is_small(picture: Picture) -> bool:
    content_type, content = picture
    return len(content) <= MAX_THUMBNAIL_BYTES and (
        content_type == SVG or dimensions.pixels(content, content_type) <= MAX_THUMBNAIL_PIXELS
    )
