"""Parts of a sentence about a transaction, from hostile names: amounts, tokens, addresses."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.ethereum.checksums import short
from scan.ethereum.text_cleaning import clean
from scan.ethereum.units import COIN_DECIMALS, shortened
from scan.pages.formatting import exchange_name
from scan.queries.filter_values import WITH_AMOUNTS

recorded = recording(__file__)

MAX_SYMBOL = 20
MAX_NAME = 40
MAX_ASSETS = 3  # named in a list
TIMES = "\u00d7"

PART_TYPES = ("coin", "token", "item", "address", "pool", "method", "text")
ZERO = "0x" + "0" * 40
# A symbol with other characters could end the amount and go on as our own sentence. Digits and
# signs would look like parts of the amount, `e9` like its exponent, and letters of other scripts
# like another token's symbol (UTS 39).
_PLAIN_SYMBOL = re.compile(r"(?!e\d+\Z)[A-Za-z][A-Za-z0-9]*(?:[.-][A-Za-z0-9]+)*…?\Z", re.I)
_WORDS = frozenset(
    {"a", "an", "and", "approved", "at", "by", "coin", "for", "from", "in", "is", "items", "more"}
    | {"nothing", "of", "on", "or", "paid", "received", "sending", "sent", "spend", "that", "the"}
    | {"k", "m", "mn", "b", "bn", "t", "thousand", "million", "billion", "trillion"}
    | {"to", "token", "tokens", "unlimited", "units", "with"}
)
_ADDRESS = re.compile(r"0x[0-9a-f]{40}")
_QUOTES = re.compile('["\u201c-\u201f\u00ab\u00bb\u2033\u2036\uff02\u275d\u275e\u301d-\u301f]')

Party = Mapping[str, Any]


class Part(NamedTuple):
    """A piece of a sentence, plain text where `type` is None. `value` is the exact amount."""

    text: str
    type: str | None = None
    address: str | None = None
    token_id: str | None = None
    value: str | None = None
    verified: bool | None = None
    larger_namesake: str | None = None

    def record(self) -> dict[str, Any]:
        fields = recorded("part", self).items()
        return {name: value for name, value in fields if value is not None}


class Asset(NamedTuple):
    """The coin (`address` is None), a token, or an item of a token."""

    address: str | None
    token_id: str | None = None


COIN = Asset(None)


class Names(NamedTuple):
    """Labels, contracts and tokens of the addresses in a sentence, and the coin's symbol."""

    parties: Mapping[str, Party]
    coin: str

    def of(self, address: str) -> Party:
        return self.parties.get(address) or {}

    def token(self, address: str) -> Mapping[str, Any]:
        return self.of(address).get("token") or {}

    def may_be_token(self, address: str) -> bool:
        """Return whether it is a token, or was one: not code without any function of one."""
        return bool(self.token(address)) or not self.of(address).get("isContract")


def in_quotes(text: str) -> str:
    """Return somebody else's words in quotation marks, without marks that could end them."""
    return f"“{_QUOTES.sub('', text)}”"


def address_part(names: Names, address: str) -> Part:
    """Show an address by its label or verified name. A token's own name is shown only where its
    source is verified: then it says more than the contract's name."""
    party = names.of(address)
    label = clean(party.get("label") or "", MAX_NAME)
    verified = clean(party.get("contract") or "", MAX_NAME)
    verified = verified and (_own_name(names, address) or verified)
    text = label or (_quoted(verified, address) if verified else short(address))
    return Part(text, "address", address)


def recipients_parts(names: Names, recipients: Collection[str]) -> list[Part]:
    if len(recipients) == 1:
        return [address_part(names, *recipients)]
    return [Part(f"{len(recipients):,} recipients")]


def contract_part(names: Names, address: str) -> Part:
    """Show a contract by its label, or by its own name if it is a token, or as address_part()."""
    name = _own_name(names, address)
    if name and not clean(names.of(address).get("label") or "", MAX_NAME):
        return Part(_quoted(name, address), "address", address)
    return address_part(names, address)


def _own_name(names: Names, address: str) -> str:
    token = names.token(address)
    return clean(token.get("name") or token.get("symbol") or "", MAX_NAME)


def token_part(names: Names, address: str) -> Part:
    return _token_part(names, address, _symbol(names, address))


def collection_part(names: Names, address: str) -> Part:
    return _token_part(names, address, _collection(names, address))


def _token_part(
    names: Names,
    address: str,
    text: str,
    type_: str = "token",
    token_id: str | None = None,
    value: int | None = None,
) -> Part:
    """Return a part with the fields that tell its token apart from namesakes."""
    is_verified = bool(names.of(address).get("contract"))
    value_text = None if value is None else str(value)
    namesake = names.token(address).get("namesake") or {}
    return Part(text, type_, address, token_id, value_text, is_verified, namesake.get("address"))


def exchange_part(name: str | None, pool: str) -> Part:
    """Show a pool by its exchange's name, in which a factory's address is shortened."""
    text = _ADDRESS.sub(lambda match: short(match[0]), exchange_name(clean(name or "", 60)))
    return Part(text or "an exchange", "pool", pool)


def asset_part(names: Names, asset: Asset, value: int) -> Part:
    """Show an amount of an asset. The amount is never negative."""
    if asset.address is None:
        return Part(f"{shortened(value, COIN_DECIMALS)} {names.coin}", "coin", value=str(value))
    token = names.token(asset.address)
    if asset.token_id is not None:
        several = f"{shortened(value, 0)} {TIMES} " if token.get("type") in WITH_AMOUNTS else ""
        text = f"{several}{_collection(names, asset.address)} #{_short_id(asset.token_id)}"
        return _token_part(names, asset.address, text, "item", asset.token_id, value)
    symbol = _symbol(names, asset.address)
    unit = symbol if token else f"units of {symbol}"
    text = f"{shortened(value, token.get('decimals', 0))} {unit}"
    return _token_part(names, asset.address, text, value=value)


def assets_parts(names: Names, assets: Sequence[tuple[Asset, int]]) -> list[Part]:
    """Show `1 A, 2 B and 3 C`, or more than MAX_ASSETS items of one token as their number."""
    tokens = {asset.address for asset, _ in assets}
    if len(assets) > MAX_ASSETS and len(tokens) == 1 and assets[0][0].token_id is not None:
        address = str(assets[0][0].address)
        text = f"{len(assets):,} items of {_collection(names, address)}"
        return [_token_part(names, address, text)]
    parts = [asset_part(names, asset, value) for asset, value in assets[:MAX_ASSETS]]
    more = len(assets) - len(parts)
    return joined([*parts, Part(f"{more:,} more")] if more else parts)


def joined(parts: Sequence[Part]) -> list[Part]:
    """Join items with commas, and an `and` before the last one."""
    result: list[Part] = []
    for index, part in enumerate(parts):
        if index:
            result.append(Part(" and " if index == len(parts) - 1 else ", "))
        result.append(part)
    return result


def merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts with adjacent plain texts joined, and without empty ones."""
    result: list[Part] = []
    for part in parts:
        if part.type is None and result and result[-1].type is None:
            result[-1] = Part(result[-1].text + part.text)
        elif part.text:
            result.append(part)
    return tuple(result)


def _symbol(names: Names, address: str) -> str:
    """Return a token's symbol, quoted and with its address where it could be read as something
    else, such as the coin."""
    token = names.token(address)
    texts = (clean(token.get(key) or "", MAX_SYMBOL) for key in ("symbol", "name"))
    symbol = next(filter(None, texts), "")
    if not symbol:
        return f"tokens of {short(address)}"
    if (token.get("namesake") or {}).get("address"):
        return f"{in_quotes(symbol)} ({short(address)}, which is another token's symbol)"
    is_plain = _PLAIN_SYMBOL.match(symbol) and symbol.lower() not in _WORDS
    reads_as_coin = symbol.casefold() == names.coin.casefold()
    return symbol if is_plain and not reads_as_coin else _quoted(symbol, address)


def _collection(names: Names, address: str) -> str:
    token = names.token(address)
    name = clean(token.get("name") or "", MAX_NAME) or clean(token.get("symbol") or "", MAX_NAME)
    return _quoted(name, address) if name else f"token {short(address)}"


def _quoted(name: str, address: str) -> str:
    """Put a name that a contract chose in quotation marks, beside its address."""
    return f"{in_quotes(name)} ({short(address)})"


def _short_id(token_id: str) -> str:
    return token_id if len(token_id) <= 12 else f"{token_id[:6]}…{token_id[-4:]}"
