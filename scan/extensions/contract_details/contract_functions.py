"""Functions of an ABI: as the tabs Read and Write show them, with the units of their amounts, and
encoded for a wallet to sign.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from scan import json_bodies
from scan.api.renamed_fields import recording
from scan.contracts import proxy_contracts, read_calls
from scan.contracts.abi import AbiError, AbiType
from scan.contracts.abi_json import MAX_NAME, READ_ONLY, coerce, function_of, mutability_of
from scan.errors import InvalidParameter
from scan.ethereum.units import COIN_DECIMALS, GWEI_DECIMALS
from scan.hex import to_hex
from scan.queries import blocks
from scan.queries.reader import Reader

recorded = recording(__file__)

MAX_SHOWN_FUNCTIONS = 300  # of each tab
MAX_FUNCTIONS = 2000  # of an ABI, to choose them from
LONGEST_SIGNATURE = 500  # the limit of the API's functionName
_SYMBOL = re.compile(r"(?![0-9]+$)[^\s]{1,30}")  # of a token, accepted as a unit
UNITS = {"wei": 0, "gwei": GWEI_DECIMALS, "ether": COIN_DECIMALS}
MAX_SUGGESTED = 3  # units in the hint of a field
_AMOUNT = re.compile(r"(-?)([0-9]{1,78})(?:\.([0-9]{1,78}))? +([^ ]{1,100})", re.ASCII)
_NO_UNIT = re.compile(r"-?[0-9]{1,78}\.[0-9]{1,78}", re.ASCII)


# Where a type has integers, for amounts with units: INTEGER, {"items": shape} of an array, or
# [[label, shape], ...] of a tuple; None where it has none.
Shape = Any
INTEGER = "integer"


class Parameter(NamedTuple):
    name: str
    type: str
    shape: Shape = None

    @property
    def is_integer(self) -> bool:
        return bool(self.shape == INTEGER)


class Function(NamedTuple):
    """`anchor` is the function's id on the page: a proxy and its implementation may have functions
    of the same selector."""

    signature: str
    selector: str
    inputs: Sequence[Parameter]
    outputs: Sequence[Parameter]
    mutability: str
    anchor: str

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]


class Functions(NamedTuple):
    """The functions of one tab: the contract's own, and those of a proxy's implementation; how many
    more have no form, since they are too many or have unknown types or too long a signature."""

    own: Sequence[Function]
    proxied: Sequence[Function]
    left_out: int = 0

    def named(self, signature: str) -> Function | None:
        functions = (*self.own, *self.proxied)
        return next((function for function in functions if function.signature == signature), None)


def functions_of(abis: Sequence[Sequence[Any]], *, read_only: bool) -> Functions:
    """Return the functions of a contract's own ABI and of its implementation's that a form can
    call, in the ABI's order. The contract's own hide those of its implementation."""
    (direct, left_out), (proxied, more) = (
        _functions(abi, prefix, read_only=read_only)
        for abi, prefix in zip(abis, ("", "proxy-"), strict=True)
    )
    hidden = {function.signature for function in direct}
    proxied = [function for function in proxied if function.signature not in hidden]
    return Functions(direct, proxied, left_out + more)


def _functions(abi: Sequence[Any], prefix: str, *, read_only: bool) -> tuple[list[Function], int]:
    """Return the functions of a tab, and how many more there are."""
    entries = (entry for entry in abi if entry.get("type") == "function")
    functions: dict[str, Function] = {}
    left_out = 0
    for entry in islice(entries, MAX_FUNCTIONS):
        if (mutability_of(entry) in READ_ONLY) == read_only:
            function = _function(entry, prefix)
            left_out += function is None
            if function is not None:
                functions.setdefault(function.selector, function)
    listed = list(functions.values())[:MAX_SHOWN_FUNCTIONS]
    return listed, left_out + len(functions) - len(listed)


def _function(entry: dict[str, Any], prefix: str) -> Function | None:
    try:
        function = function_of(entry)
    except AbiError:
        return None
    if len(function.signature) > LONGEST_SIGNATURE:
        return None
    inputs, outputs = (
        [
            Parameter(str(parameter.get("name") or ""), abi_type.name, shape_of(abi_type))
            for parameter, abi_type in zip(entry.get(key, []), types, strict=True)
        ]
        for key, types in (("inputs", function.inputs), ("outputs", function.outputs))
    )
    signature, selector = function.signature, to_hex(function.selector)
    anchor = f"{prefix}{selector}"
    return Function(signature, selector, inputs, outputs, function.mutability, anchor)


def shape_of(abi_type: AbiType) -> Shape:
    """Return the shape of a type: where it has integers."""
    shapes = [shape_of(item) for item in abi_type.items]
    if abi_type.kind in ("uint", "int") and not abi_type.decimals:
        return INTEGER
    if not any(shapes):
        return None
    if abi_type.kind == "array":
        return {"items": shapes[0]}
    return [[label, shape] for label, shape in zip(abi_type.labels, shapes, strict=True)]


def token_units(token: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the token if amounts can be written in its units, else None."""
    is_fungible = token is not None and token["type"] == "BEP20"
    return token if is_fungible and token and token["decimals"] is not None else None


class AmountUnits(NamedTuple):
    """The decimals of the units in which an amount may be written, of tokens and of the coin; None
    for a symbol that several tokens have."""

    tokens: Mapping[str, int | None]
    coin: Mapping[str, int]

    @property
    def all(self) -> dict[str, int | None]:
        return {**self.tokens, **self.coin}

    @property
    def suggested(self) -> str:
        """Return the units that a field's hint names: of tokens, or else of the coin."""
        symbols = [symbol for symbol, decimals in self.tokens.items() if decimals]
        return " / ".join(symbols[:MAX_SUGGESTED]) or "ether"


def amount_units(coin_symbol: str, tokens: Sequence[Mapping[str, Any]]) -> AmountUnits:
    """Return the units of a contract that deals with these tokens. A token's symbol that could be
    mistaken for a unit of the coin is no unit, nor is the coin's symbol beside it. Symbols that
    differ only by case could be mistaken for each other."""
    coin = {coin_symbol: COIN_DECIMALS, **UNITS}
    fixed = {unit.casefold() for unit in coin}
    units: dict[str, int | None] = {}
    symbol_counts = Counter(str(token["symbol"] or "").casefold() for token in tokens)
    for token in tokens:
        symbol, decimals = str(token["symbol"] or ""), int(token["decimals"])
        if symbol.casefold() not in fixed and _SYMBOL.fullmatch(symbol) and symbol.isprintable():
            units[symbol] = decimals if symbol_counts[symbol.casefold()] == 1 else None
        elif symbol.casefold() == coin_symbol.casefold() and decimals != COIN_DECIMALS:
            coin.pop(coin_symbol, None)
    return AmountUnits(units, coin)


def in_base_units(text: str, units: Mapping[str, int | None]) -> int | None:
    """Return the base units of an amount with its unit, such as `1.5 ether`; None for other text.

    `units` has the decimals of each unit, None for an ambiguous one. Raises ValueError, with a
    sentence for people, for a fraction without a unit, for an ambiguous or unknown unit, and for
    more digits than the unit has decimals. `amountUnits` in contract-write.js does the same.
    """
    text = text.strip(" ")
    known_units = [unit for unit, decimals in units.items() if decimals is not None]
    if _NO_UNIT.fullmatch(text):
        example = f"{text} {next(unit for unit in known_units if units[unit])}"
        raise ValueError(f"{text} has no unit. Write one, such as {example}, or a whole number.")
    amount = _AMOUNT.fullmatch(text)
    if amount is None:
        return None
    sign, whole, fraction, unit = amount.groups("")
    if unit not in units:
        raise ValueError(f"Unknown unit {unit}. Known units: {', '.join(known_units)}.")
    decimals = units[unit]
    if decimals is None:
        raise ValueError(f"The unit {unit} is ambiguous here: several tokens have this symbol.")
    if len(fraction) > decimals:
        raise ValueError(f"{unit} has {decimals} decimals, not {len(fraction)}.")
    return int(f"{sign}{whole}{fraction.ljust(decimals, '0')}")


def in_base_units_within(value: Any, shape: Shape, units: Mapping[str, int | None]) -> Any:
    """Return an argument, text or JSON, with amounts such as `1.5 ether` converted to base units
    where its type has integers. Raises InvalidParameter for unknown units. `amountUnits` in
    contract-write.js does the same."""
    if shape == INTEGER and isinstance(value, str):
        try:
            number = in_base_units(value, units)
        except ValueError as error:
            raise InvalidParameter(str(error)) from None
        return value if number is None else str(number)
    if isinstance(shape, dict) and isinstance(value, list):
        return [in_base_units_within(item, shape["items"], units) for item in value]
    if isinstance(shape, list) and isinstance(value, list):
        members = [member for _, member in shape]
        pairs = zip_longest(value, members[: len(value)])
        return [in_base_units_within(item, member, units) for item, member in pairs]
    if isinstance(shape, list) and isinstance(value, dict):
        labelled = dict(shape)
        return {k: in_base_units_within(v, labelled.get(k), units) for k, v in value.items()}
    return value


def in_base_units_of_text(text: str, shape: Shape, units: Mapping[str, int | None]) -> str:
    value = text if shape in (None, INTEGER) else argument_of(text)
    converted = in_base_units_within(value, shape, units)
    if converted == value:
        return text
    return converted if isinstance(converted, str) else json.dumps(converted, ensure_ascii=False)


def labelled_message(message: str, inputs: Sequence[Parameter]) -> str:
    """Return a message with the field's label in place of the API's `args[0]` at its beginning."""
    labels = [input_.name[:MAX_NAME] or f"argument {n}" for n, input_ in enumerate(inputs, 1)]
    position = re.match(r"args\[([0-9]+)\](.*)", message, re.DOTALL)
    if position is None or int(position[1]) >= len(labels):
        return message
    return f"{labels[int(position[1])]}{position[2]}"


def argument_of(text: str) -> object:
    """Return an argument from its field: arrays and objects are JSON, other texts are converted
    by the argument's type."""
    stripped = text.strip()
    if stripped[:1] not in ("[", "{"):
        return text
    try:
        return json_bodies.parse_json(stripped)
    except (ValueError, RecursionError):
        raise InvalidParameter("An argument is not valid JSON.") from None


_WEI = AbiType("uint", "uint256", 256)


def wei(value: object) -> int:
    """Return the `value` of a call, in wei, from JSON or text. Raises InvalidParameter."""
    try:
        return int(coerce(_WEI, value, "value"))
    except AbiError as error:
        raise InvalidParameter(f"{error}.", field="value") from None


class EncodedCall(NamedTuple):
    """The call of a function; `proxy` as in CallResult."""

    prepared: read_calls.PreparedCall
    value_wei: int
    proxy: proxy_contracts.Proxy | None


def encode(
    reader: Reader,
    address: bytes,
    function: str,
    arguments: Sequence[object],
    value: object = 0,
    sender: bytes | None = None,
) -> EncodedCall:
    """Encode a call of any function. With a sender, the call is first tried after the newest block.
    Raises as ReadCalls.call() does."""
    calls, node, block = reader.sources.read_calls, reader.node, blocks.or_newest(reader, None)
    prepared, proxy = calls.prepared(node, address, function, arguments, block, read_only=False)
    value_wei = wei(value)
    if value_wei and prepared.function.mutability != "payable":
        signature = prepared.function.signature[:500]
        raise InvalidParameter(f"The function {signature} is not payable.", field="value")
    if sender is not None:
        call = {
            "from": to_hex(sender),
            "to": to_hex(address),
            "data": to_hex(prepared.calldata),
            "value": hex(value_wei),
        }
        calls.execute(node, call, read_calls.abis_of(address, proxy), block, or_latest=True)
    return EncodedCall(prepared, value_wei, proxy)
