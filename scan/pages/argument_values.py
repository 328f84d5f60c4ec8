"""Decoded arguments as people read them: amounts of a token, times, large numbers."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import Argument, Decoded
from scan.pages.formatting import amount, as_json, grouped, short_amount

# The functions of ERC-20 that take an amount in the token's units, with the argument's position.
ERC20_ARGUMENTS = {
    "transfer(address,uint256)": (1,),
    "transferFrom(address,address,uint256)": (2,),
    "approve(address,uint256)": (1,),
}
# Functions, events and errors of ERC-20 tokens with an amount, by its positions.
TOKEN_AMOUNTS = {
    **ERC20_ARGUMENTS,
    "increaseAllowance(address,uint256)": (1,),
    "decreaseAllowance(address,uint256)": (1,),
    "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)": (2,),
    "mint(address,uint256)": (1,),
    "burn(uint256)": (0,),
    "burnFrom(address,uint256)": (1,),
    "Transfer(address,address,uint256)": (2,),
    "Approval(address,address,uint256)": (2,),
    "ERC20InsufficientBalance(address,uint256,uint256)": (1, 2),
    "ERC20InsufficientAllowance(address,uint256,uint256)": (1, 2),
}
# Functions that return such an amount; a number from any other function may be anything.
ERC20_RESULTS = {
    "balanceOf(address)": (0,),
    "totalSupply()": (0,),
    "allowance(address,address)": (0,),
}
ALLOWANCES = ("approve(", "Approval(", "permit(", "increaseAllowance(", "allowance(")
FEWEST_BITS_OF_MAX = 96  # the largest number of a smaller type may be a plain value
FIRST_TIME_S, LAST_TIME_S = 1_230_768_000, 4_102_444_800  # 2009 and 2100
LEAST_GROUPED = 10_000
MAX_DIGITS = 40

_INTEGER = re.compile(r"(u?)int([0-9]{1,3})\Z")
_TIME = re.compile(
    r"(deadline|timestamp|expiry|expiration|expires(at)?|valid(until|after|before)"
    r"|(start|end|unlock)time)\Z"
)
_IDENTIFIER = re.compile(r"(ids?|nonce|salt|hash|root)\Z")


class ShownValue(NamedTuple):
    """An argument's value; `raw` is the number on the chain, None where `text` has its digits."""

    text: str
    raw: str | None = None
    is_amount: bool = False


def shown_value(
    argument: Argument,
    position: int,
    signature: str = "",
    token: Mapping[str, Any] | None = None,
    *,
    is_result: bool = False,
) -> ShownValue:
    """Return the value of the argument at a position; `token` is the record of the contract whose
    function, event or error it is, where that is a token."""
    value = argument.value
    integer = _INTEGER.match(argument.type)
    if not isinstance(value, str) or integer is None:
        return ShownValue(value if isinstance(value, str) else as_json(value))
    bits = int(integer[2])
    number, is_unsigned = int(value), bool(integer[1])
    if is_unsigned and bits >= FEWEST_BITS_OF_MAX and number == 2**bits - 1:
        is_allowance = signature.startswith(ALLOWANCES)
        return ShownValue("unlimited" if is_allowance else f"largest {argument.type}", value)
    amounts = ERC20_RESULTS if is_result else TOKEN_AMOUNTS
    if (
        position in amounts.get(signature, ())
        and token
        and token["type"] == "BEP20"
        and token["decimals"]
    ):
        text = amount(number, token["decimals"])
        short = text if len(text) <= MAX_DIGITS else short_amount(number, token["decimals"])
        return ShownValue(short, value, is_amount=True)
    name = argument.name.replace("_", "").lower()
    if FIRST_TIME_S <= number < LAST_TIME_S and _TIME.search(name):
        return ShownValue(f"{datetime.fromtimestamp(number, UTC):%Y-%m-%d %H:%M:%S} UTC", value)
    if abs(number) < LEAST_GROUPED or len(value) > MAX_DIGITS or _IDENTIFIER.search(name):
        return ShownValue(value)
    return ShownValue(grouped(number), value)


def addresses_in(decoded: Decoded | None) -> Iterator[str]:
    """Yield the addresses among the arguments of a call or an event."""
    for argument in decoded.arguments if decoded else ():
        if argument.type == "address" and not argument.hashed:
            yield argument.value
