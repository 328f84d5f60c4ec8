"""The fetching of a token list's logos, several at once, from untrusted servers."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import NamedTuple

from scan.environment import Network
from scan.extensions.items.item_media import dimensions, item_metadata
from scan.extensions.items.item_media.item_metadata import BadContent
from scan.outbound.document_fetcher import DocumentFetcher, NotFetched
from scan.outbound.picture_types import SVG

FETCHING_THREADS = 8
MAX_LOGO_BYTES = 100_000
MAX_PIXELS = 1024 * 1024  # a page shows up to a hundred logos, each of which a browser decodes


class Logo(NamedTuple):
    """A picture. `content_type` is the type of the bytes themselves, `digest` their SHA-256."""

    digest: bytes
    content_type: str
    content: bytes


class LogoFetcher:
    """A fetcher of logos by data: and https: URIs and, where there is a gateway, ipfs: URIs."""

    def __init__(
        self, fetcher: DocumentFetcher, ipfs_gateway: str, gateway_networks: Sequence[Network]
    ) -> None:
        self._fetcher = fetcher
        self._gateway = ipfs_gateway
        self._gateway_networks = gateway_networks

    def get_all(self, uris: Sequence[str]) -> dict[str, Logo | str]:
        """Return the logo at each URI, or the reason why there is none."""
        with ThreadPoolExecutor(FETCHING_THREADS, "logos") as threads:
            return dict(zip(uris, threads.map(self._get_or_reason, uris), strict=True))

    def _get_or_reason(self, uri: str) -> Logo | str:
        try:
            return self.get(uri)
        except (NotFetched, BadContent) as error:
            return str(error)

    def get(self, uri: str) -> Logo:
        """Return the logo at a URI. Raises NotFetched, and BadContent where the content is no logo;
        neither quotes the content."""
        content = item_metadata.from_data_uri(uri, MAX_LOGO_BYTES)
        if content is None:
            remote = item_metadata.remote_url(uri, self._gateway)
            allowed = self._gateway_networks if remote.is_of_gateway else ()
            content = self._fetcher.get(remote.url, MAX_LOGO_BYTES, allowed)
        picture = item_metadata.picture(content)
        if picture.content_type != SVG and not (
            0 < dimensions.pixels(content, picture.content_type) <= MAX_PIXELS
        ):
            raise BadContent(f"The picture has more than {MAX_PIXELS} pixels, or none.")
        return Logo(sha256(content).digest(), picture.content_type, content)
