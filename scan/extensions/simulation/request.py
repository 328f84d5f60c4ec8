"""A request to simulate calls: its calls and overrides of the state, checked."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scan import json_bodies, parameters
from scan.contracts.read_calls import GAS
from scan.errors import InvalidParameter
from scan.hex import to_hex

MAX_CALLS = 5
ANONYMOUS_GAS = 15_000_000  # at most, of calls without an API key
MAX_DATA = 128 * 1024  # bytes; nodes take no larger transaction into their pools
MAX_CODE = 128 * 1024  # bytes of an account's code
MAX_ACCOUNTS = 50
MAX_SLOTS = 1_000  # of all accounts together
CALL_FIELDS = ("from", "to", "value", "data", "gas")
OVERRIDE_FIELDS = ("balance", "nonce", "code", "state", "stateDiff")
NOBODY = bytes(20)

_DIGITS = re.compile(r"[0-9]{1,78}\Z", re.ASCII)
_QUANTITY = re.compile(r"0x[0-9a-f]{1,64}\Z", re.IGNORECASE)
_BYTES = re.compile(r"0x(?:[0-9a-f]{2})*\Z", re.IGNORECASE)


class SimulatedCall(NamedTuple):
    """A call; `to` is None where it creates a contract. `value` is in wei."""

    sender: bytes
    to: bytes | None
    value: int
    input: bytes
    gas: int

    def param(self) -> dict[str, str]:
        """Return the call as eth_call takes it."""
        recipient = {} if self.to is None else {"to": to_hex(self.to)}
        return {
            "from": to_hex(self.sender),
            **recipient,
            "value": hex(self.value),
            "data": to_hex(self.input),
            "gas": hex(self.gas),
        }


# By address, as eth_call takes them.
Overrides = Mapping[str, Mapping[str, Any]]


def calls_of(body: Mapping[str, Any], most_gas: int) -> list[SimulatedCall]:
    """Return the calls of a body, with at most so much gas together, of which each has its share
    by default; raises InvalidParameter."""
    calls = parameters.required(body, "calls")
    if not isinstance(calls, list) or not 1 <= len(calls) <= MAX_CALLS:
        raise InvalidParameter(f"calls must be an array of 1 to {MAX_CALLS} calls.", field="calls")
    read: list[SimulatedCall] = []
    for index, call in enumerate(calls):
        left = most_gas - sum(call.gas for call in read)
        share = left // (len(calls) - index)
        read.append(call_of(call, f"calls[{index}]", left, share))
    return read


def call_of(call: object, at: str, most_gas: int, gas: int | None = None) -> SimulatedCall:
    """Return the call that stands at a place of the body, by default with all of the gas; raises
    InvalidParameter."""
    if not isinstance(call, dict):
        raise InvalidParameter(f"{at} must be an object.", field=at)
    json_bodies.only_known(call, CALL_FIELDS, f"field of {at}")
    sender, to = call.get("from"), call.get("to")
    input_ = hex_bytes(call.get("data", "0x"), f"{at}.data", MAX_DATA)
    if to is None and not input_:
        reason = f"{at} must have to, or data to create a contract."
        raise InvalidParameter(reason, field=f"{at}.to")
    gas = quantity(call.get("gas", most_gas if gas is None else gas), f"{at}.gas")
    if gas > most_gas:
        of_key = f", or {GAS} of all calls with an API key" if most_gas < GAS else ""
        message = f"{at}.gas must be at most {most_gas}{of_key}."
        raise InvalidParameter(message, field=f"{at}.gas")
    from_address = NOBODY if sender is None else parameters.address(sender, f"{at}.from")
    recipient = None if to is None else parameters.address(to, f"{at}.to")
    value = quantity(call.get("value", 0), f"{at}.value")
    return SimulatedCall(from_address, recipient, value, input_, gas)


def overrides_of(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a body's overrides of the state, as a node takes them; raises InvalidParameter."""
    given = body.get("overrides", {})
    if not isinstance(given, dict) or len(given) > MAX_ACCOUNTS:
        message = f"overrides must be an object of at most {MAX_ACCOUNTS} addresses."
        raise InvalidParameter(message, field="overrides")
    overrides: dict[str, dict[str, Any]] = {}
    slots = 0
    for text, values in given.items():
        at = f"overrides.{text[: parameters.LONGEST_NAME]}"
        address = to_hex(parameters.address(text, at))
        if address in overrides:
            raise InvalidParameter(f"{at} is given more than once.", field=at)
        overrides[address] = account = _account(values, at)
        slots += sum(len(account.get(name, {})) for name in ("state", "stateDiff"))
    if slots > MAX_SLOTS:
        message = f"overrides must have at most {MAX_SLOTS} slots."
        raise InvalidParameter(message, field="overrides")
    return overrides


def _account(values: object, at: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise InvalidParameter(f"{at} must be an object.", field=at)
    json_bodies.only_known(values, OVERRIDE_FIELDS, f"field of {at}")
    if "state" in values and "stateDiff" in values:
        raise InvalidParameter(f"{at} may have state or stateDiff, not both.", field=at)
    readers: dict[str, Callable[[Any, str], Any]] = {
        "balance": lambda value, name: hex(quantity(value, name)),
        "nonce": lambda value, name: hex(quantity(value, name, bits=64)),
        "code": lambda value, name: to_hex(hex_bytes(value, name, MAX_CODE)),
        "state": _slots,
        "stateDiff": _slots,
    }
    return {name: readers[name](value, f"{at}.{name}") for name, value in values.items()}


def _slots(value: Any, name: str) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > MAX_SLOTS:
        message = f"{name} must be an object of at most {MAX_SLOTS} slots."
        raise InvalidParameter(message, field=name)
    return {_word(slot, name): _word(word, name) for slot, word in value.items()}


def _word(value: object, name: str) -> str:
    """Return a slot's place or value as a node takes it: 32 bytes."""
    return to_hex(quantity(value, name).to_bytes(32, "big"))


def quantity(value: object, name: str, *, bits: int = 256) -> int:
    """Return an unsigned integer from decimal digits, from 0x and hex digits, or from JSON's."""
    number = value if type(value) is int else None
    if isinstance(value, str) and _DIGITS.match(value):
        number = int(value)
    elif isinstance(value, str) and _QUANTITY.match(value):
        number = int(value, 16)
    if number is None or not 0 <= number < 2**bits:
        message = f"{name} must be a whole number below 2^{bits}, in decimal digits or in hex."
        raise InvalidParameter(message, field=name)
    return number


def hex_bytes(value: object, name: str, most: int) -> bytes:
    """Return bytes from 0x and pairs of hex digits, at most `most` bytes."""
    if not isinstance(value, str) or len(value) > 2 + 2 * most or not _BYTES.match(value):
        message = f"{name} must be 0x and pairs of hex digits, at most {most:,} bytes."
        raise InvalidParameter(message, field=name)
    return bytes.fromhex(value[2:])
