"""Token lists in the form of https://uniswap.org/tokenlist.schema.json, read and written. Pure.

Pages show a list's text: a token whose text is longer than the schema allows, or not printable, is
left out. Characters of names and symbols are not restricted further, as chains have tokens that the
schema's patterns exclude.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from scan import parameters
from scan.errors import InvalidParameter
from scan.ethereum.checksums import checksummed

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

    Raises InvalidParameter where the content is no token list, or has no tokens of the chain, or
    too many.
    """
    try:
        file = msgspec.json.decode(content, type=_File)
        chains = [msgspec.json.decode(entry, type=_Chain).chainId for entry in file.tokens]
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
    return TokenList(
        _text(file.name, "name of the list", MAX_LIST_NAME), [*tokens.values()], refused
    )


def _token(entry: msgspec.Raw) -> ListedToken:
    try:
        token = msgspec.json.decode(entry, type=_Token)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise InvalidParameter("a field is missing or has the wrong type.") from None
    address = parameters.address(token.address)
    digits = token.address[2:]
    if digits not in (digits.lower(), digits.upper()) and token.address != checksummed(
        token.address.lower()
    ):
        raise InvalidParameter("address has a wrong checksum (EIP-55).")
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
