"""Token lists in the form of https://uniswap.org/tokenlist.schema.json: read, written, and imported
into the database with their logos, several of which are fetched at once from untrusted servers.

Pages show a list's text: a token whose text is longer than the schema allows, or not printable, is
left out. Characters of names and symbols are not restricted further, as chains have tokens that the
schema's patterns exclude.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from scan import parameters
from scan.cached_values import json_decoder
from scan.database.connection import Database
from scan.errors import InvalidParameter, NotFound
from scan.ethereum.checksums import checksummed, require_checksum
from scan.extensions.items import item_metadata, picture_cost
from scan.extensions.items.item_metadata import BadContent
from scan.outbound.http_client import HttpClient, NotFetched
from scan.outbound.picture_types import SVG
from scan.queries.reader import Reader
from scan.setting_kinds import Network

MAX_LIST_BYTES = 16 * 1024 * 1024
MAX_TOKENS = 10_000  # of one chain; the schema allows as many for all chains together
MAX_LIST_NAME, MAX_NAME, MAX_SYMBOL = 60, 60, 20
MAX_LOGO_URI = 2048


class ListedToken(NamedTuple):
    """A token as a list describes it."""

    address: bytes
    name: str
    symbol: str
    decimals: int
    logo_uri: str | None


class TokenList(NamedTuple):
    """A list's tokens on one chain. `refused` has the place in the list of each token that is left
    out, and the reason."""

    name: str
    tokens: Sequence[ListedToken]
    refused: Sequence[tuple[int, str]]


class _File(msgspec.Struct):
    name: str
    tokens: list[msgspec.Raw]


class _Chain(msgspec.Struct):
    chainId: int


class _Token(msgspec.Struct):
    address: str
    name: str
    symbol: str
    decimals: int
    logoURI: str | None = None


def read(content: bytes, chain_id: int) -> TokenList:
    """Return the list's tokens on a chain. Of several entries of an address, the last counts.

    Raises InvalidParameter where the content is no token list, or has no valid tokens of the chain,
    or too many.
    """
    try:
        file = json_decoder(_File).decode(content)
        chains = [json_decoder(_Chain).decode(entry).chainId for entry in file.tokens]
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise InvalidParameter("this is not a token list in the form of tokenlists.org") from None
    entries = [n for n, listed_chain in enumerate(chains) if listed_chain == chain_id]
    if not entries:
        raise InvalidParameter(f"the list has no tokens of chain {chain_id}")
    if len(entries) > MAX_TOKENS:
        raise InvalidParameter(f"the list has more than {MAX_TOKENS} tokens of chain {chain_id}")
    tokens: dict[bytes, ListedToken] = {}
    refused = []
    for index in entries:
        try:
            token = _token(file.tokens[index])
            tokens[token.address] = token
        except InvalidParameter as error:
            refused.append((index, str(error)))
    if not tokens:
        index, reason = refused[0]
        raise InvalidParameter(f"the list has no valid token: token {index}: {reason}")
    name = _text(file.name, "name of the list", MAX_LIST_NAME)
    return TokenList(name, [*tokens.values()], refused)


def _token(entry: msgspec.Raw) -> ListedToken:
    try:
        token = json_decoder(_Token).decode(entry)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise InvalidParameter("a field is missing or has the wrong type.") from None
    address = parameters.address(token.address)
    require_checksum(token.address)
    if not 0 <= token.decimals <= 255:
        raise InvalidParameter("decimals must be 0 to 255.")
    uri = token.logoURI or None
    if uri is not None and not (len(uri) <= MAX_LOGO_URI and uri.isprintable()):
        raise InvalidParameter(f"logoURI must be printable, at most {MAX_LOGO_URI} characters.")
    return ListedToken(
        address,
        _text(token.name, "name", MAX_NAME),
        _text(token.symbol, "symbol", MAX_SYMBOL),
        token.decimals,
        uri,
    )


def _text(value: str, name: str, most: int) -> str:
    """Return a text without spaces around it. Raises InvalidParameter where it is empty, too long
    or not printable, as are characters that turn the direction of text, or are invisible.
    """
    text = parameters.text(value.strip(), name, most=most)
    if not text or not text.isprintable():
        raise InvalidParameter(f"{name} must be printable and not empty.")
    return text


def write(tokens: Sequence[ListedToken], chain_id: int, now: datetime) -> bytes:
    """Return a token list of these tokens as JSON."""
    listed: list[dict[str, Any]] = []
    for token in tokens:
        fields = token._asdict()
        uri = fields.pop("logo_uri")
        fields["address"] = checksummed(f"0x{token.address.hex()}")
        listed.append({"chainId": chain_id, **fields} | ({"logoURI": uri} if uri else {}))
    file = {
        "name": "Scan",
        "timestamp": now.isoformat(timespec="seconds"),
        "version": {"major": 1, "minor": 0, "patch": 0},
        "tokens": listed,
    }
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"


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
        self, fetcher: HttpClient, ipfs_gateway: str, gateway_networks: Sequence[Network]
    ) -> None:
        self._fetcher = fetcher
        self._gateway = ipfs_gateway
        self._gateway_networks = gateway_networks

    def get(self, uri: str) -> Logo | str:
        """Return the logo at a URI, or the reason why there is none, which quotes no content."""
        try:
            content = item_metadata.from_data_uri(uri, MAX_LOGO_BYTES)
            if content is None:
                remote = item_metadata.remote_url(uri, self._gateway)
                allowed = self._gateway_networks if remote.is_of_gateway else ()
                content = self._fetcher.get(remote.url, MAX_LOGO_BYTES, allowed)
            picture = item_metadata.picture(content)
            if picture.content_type != SVG and not (
                0 < picture_cost.pixels(content, picture.content_type) <= MAX_PIXELS
            ):
                return f"The picture has more than {MAX_PIXELS} pixels, or none."
        except (NotFetched, BadContent) as error:
            return str(error)
        return Logo(sha256(content).digest(), picture.content_type, content)


BATCH_LOGOS = 40  # in memory at once


def store(database: Database, token_list: TokenList) -> int:
    """Store a list in place of an earlier one of its name. Return how many tokens it no longer
    has."""
    tokens = token_list.tokens
    with database.transaction() as tx:
        removed = tx.execute(
            "token_lists/listed_tokens_delete",
            list=token_list.name,
            kept=[token.address for token in tokens],
        )
        tx.execute(
            "token_lists/listed_tokens_put",
            list=token_list.name,
            addresses=[token.address for token in tokens],
            names=[token.name for token in tokens],
            symbols=[token.symbol for token in tokens],
            decimals=[token.decimals for token in tokens],
            logo_uris=[token.logo_uri for token in tokens],
        )
        tx.execute("token_lists/logos_delete_unused")
    return removed


def remove(database: Database, name: str) -> int:
    """Remove a list; return how many tokens it had."""
    with database.transaction() as tx:
        removed = tx.execute("token_lists/listed_tokens_delete", list=name, kept=[])
        tx.execute("token_lists/logos_delete_unused")
    return removed


def fetch_logos(
    database: Database, fetcher: LogoFetcher, uris: Sequence[str], failures: Counter[str]
) -> Iterator[int]:
    """Fetch and store logos in batches, and yield the size of each. After an interruption, stored
    batches stay. `failures` counts the reasons of URIs without a logo."""
    for first in range(0, len(uris), BATCH_LOGOS):
        batch = uris[first : first + BATCH_LOGOS]
        with ThreadPoolExecutor(FETCHING_THREADS, "logos") as threads:
            results = [*zip(batch, threads.map(fetcher.get, batch), strict=True)]
        failures.update(reason for _, reason in results if isinstance(reason, str))
        if logos := {uri: logo for uri, logo in results if isinstance(logo, Logo)}:
            database.rows(
                "token_lists/logos_put",
                uris=[*logos],
                digests=[logo.digest for logo in logos.values()],
                content_types=[logo.content_type for logo in logos.values()],
                contents=[logo.content for logo in logos.values()],
            )
        yield len(batch)


def get(reader: Reader, digest: bytes) -> Logo:
    """Return the logo with this SHA-256; raises NotFound."""
    content_type, content = reader.row("queries/logos_get", digest=digest)
    if content is None:
        raise NotFound("There is no such logo.")
    return Logo(digest, content_type, bytes(content))
