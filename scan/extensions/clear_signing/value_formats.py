"""Values as ERC-7730's formats show them; a format that does not fit a value's type shows nothing.

What is shown is bounded: texts of callers stand in quotation marks, and are cut.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from scan.ethereum import display_text
from scan.ethereum.display_text import clean
from scan.extensions.clear_signing.descriptor_formats import one_line
from scan.extensions.clear_signing.value_paths import DoesNotFit, TypedValue, bytes_of
from scan.extensions.transaction_details.explanations.summary_parts import (
    COIN,
    Asset,
    Names,
    Part,
    address_part,
    asset_part,
    collection_part,
    in_quotes,
    token_part,
)
from scan.hex import BadHex, data, to_hex
from scan.parameters import LAST_TIME_S
from scan.queries.network import name_of

MAX_CHARACTERS = 200
MAX_DECIMALS = 255
ADDRESS_BYTES = 20
PREFIXES = dict(zip(range(-24, 25, 3), "y,z,a,f,p,n,µ,m,,k,M,G,T,P,E,Z,Y".split(","), strict=True))
_NUMBER = re.compile(r"[0-9]{1,78}|0x[0-9a-fA-F]{1,64}", re.ASCII)

Params = Mapping[str, Any]


def formatted(name: str, typed: TypedValue, params: Params, names: Names) -> tuple[str, Part]:
    """Return the format in which a value is shown, `raw` where the other does not fit, with what
    it shows."""
    format_ = FORMATS.get(name)
    if format_ is not None:
        try:
            return name, format_(typed, params, names)
        except DoesNotFit:
            pass
    return "raw", raw(typed)


def raw(typed: TypedValue) -> Part:
    """Show a value as it is."""
    match typed.type.kind:
        case "address":
            return Part(display_text.checksummed(typed.value), "address", typed.value)
        case "string":
            return Part(in_quotes(clean(typed.value, MAX_CHARACTERS)), "text")
        case "bool":
            return Part("true" if typed.value else "false", "text")
    return Part(cut(str(typed.value)), "text")


def as_key(typed: TypedValue) -> str:
    """Return a value as keys and lists of a descriptor have it."""
    return str(typed.value).lower()  # of booleans, true and false


def cut(text: str) -> str:
    """Return a text of at most MAX_CHARACTERS."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def address_of(value: object) -> str | None:
    """Return an address that a parameter names, in lower case; None if it is none."""
    if isinstance(value, TypedValue):
        content = bytes_of(value) if value.type.kind in ("address", "bytes", "bytesN") else b""
        return f"0x{content.hex()}" if len(content) == ADDRESS_BYTES else None
    try:
        return to_hex(data(value, ADDRESS_BYTES))
    except BadHex:
        return None


def number_of(value: object) -> int | None:
    """Return a number of a descriptor, given as such, in digits or in hex."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 2**256 else None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(value, 16 if value.startswith("0x") else 10)
    return None


def _integer(typed: TypedValue) -> int:
    if typed.type.kind not in ("uint", "int") or typed.type.decimals:
        raise DoesNotFit("it is no integer")
    return int(typed.value)


def _natural(typed: TypedValue) -> int:
    if (value := _integer(typed)) < 0:
        raise DoesNotFit("it is negative")
    return value


def _address(typed: TypedValue) -> str:
    address = address_of(typed)
    if address is None:
        raise DoesNotFit("it is no address")
    return address


def _address_name(typed: TypedValue, params: Params, names: Names) -> Part:
    address = _address(typed)
    senders = params.get("senderAddress")
    if address in map(address_of, senders if isinstance(senders, list) else [senders]):
        return Part("Sender", "text")
    part = address_part(names, address)
    is_named = bool(names.of(address).get("label") or names.of(address).get("contract"))
    return part if is_named else Part(display_text.checksummed(address), "address", address)


def _amount(typed: TypedValue, params: Params, names: Names) -> Part:
    return asset_part(names, COIN, _natural(typed))


def _token_amount(typed: TypedValue, params: Params, names: Names) -> Part:
    value = _natural(typed)
    if {"chainId", "chainIdPath"} & params.keys():
        raise DoesNotFit("its token may be of another chain")
    token = address_of(params.get("tokenPath", params.get("token")))
    natives = params.get("nativeCurrencyAddress")
    is_coin = token in map(address_of, natives if isinstance(natives, list) else [natives])
    if token is None or not (is_coin or names.token(token)):
        raise DoesNotFit("the token is not known")
    part = asset_part(names, COIN if is_coin else Asset(token), value)
    threshold = number_of(params.get("threshold"))
    if threshold is None or value < threshold:
        return part
    unit = names.coin if is_coin else token_part(names, token).text
    return part._replace(text=f"{one_line(params.get('message')) or 'Unlimited'} {unit}")


def _nft_name(typed: TypedValue, params: Params, names: Names) -> Part:
    number = str(_natural(typed))
    collection = address_of(params.get("collectionPath", params.get("collection")))
    if collection is None or not names.token(collection):
        raise DoesNotFit("the collection is not known")
    part = collection_part(names, collection)
    return part._replace(text=f"{part.text} #{number}", type="item", token_id=number)


def _token_ticker(typed: TypedValue, params: Params, names: Names) -> Part:
    address = _address(typed)
    if {"chainId", "chainIdPath"} & params.keys() or not names.token(address):
        raise DoesNotFit("the token is not known")
    return token_part(names, address)


def _date(typed: TypedValue, params: Params, names: Names) -> Part:
    value = _natural(typed)
    if params.get("encoding") != "timestamp" or value > LAST_TIME_S:
        raise DoesNotFit("it is no time")
    return Part(f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC", "text")


def _duration(typed: TypedValue, params: Params, names: Names) -> Part:
    minutes, seconds = divmod(_natural(typed), 60)
    hours, minutes = divmod(minutes, 60)
    return Part(f"{hours:02}:{minutes:02}:{seconds:02}", "text")


def _unit(typed: TypedValue, params: Params, names: Names) -> Part:
    value, decimals = _integer(typed), number_of(params.get("decimals", 0))
    if decimals is None or decimals > MAX_DECIMALS:
        raise DoesNotFit("its decimals are no number")
    base, prefix = one_line(params.get("base")), ""
    if params.get("prefix") is True and value:
        exponent = len(str(abs(value))) - 1 - decimals
        power = min(max(exponent // 3 * 3, min(PREFIXES)), max(PREFIXES))
        prefix, decimals = PREFIXES[power], decimals + power
    number = display_text.in_units(value * 10 ** max(-decimals, 0), max(decimals, 0))
    return Part(f"{cut(number)}{prefix}{base}", "text")


def _enum(typed: TypedValue, params: Params, names: Names) -> Part:
    values = params.get("$ref")
    text = one_line(values.get(as_key(typed))) if isinstance(values, dict) else ""
    if not text:
        raise DoesNotFit("the enumeration does not have it")
    return Part(text, "text")


def _chain_id(typed: TypedValue, params: Params, names: Names) -> Part:
    return Part(name_of(str(_natural(typed)), ""), "text")


FORMATS: Mapping[str, Callable[[TypedValue, Params, Names], Part]] = {
    "addressName": _address_name,
    "amount": _amount,
    "chainId": _chain_id,
    "date": _date,
    "duration": _duration,
    "enum": _enum,
    "nftName": _nft_name,
    "tokenAmount": _token_amount,
    "tokenTicker": _token_ticker,
    "unit": _unit,
}


def addresses_shown(typed: TypedValue, params: Params) -> Sequence[str]:
    """Return the addresses whose names and tokens formats may show."""
    keys = ("tokenPath", "token", "collectionPath", "collection")
    values = (typed, *(params[key] for key in keys if key in params))
    return [address for value in values if (address := address_of(value)) is not None]
