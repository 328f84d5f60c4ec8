"""A call described by a format: its arguments, decoded by the descriptor's own signature, as the
fields and the sentence show them.

Whatever does not fit the format as a whole (a path without a value, a value that the descriptor
excludes) means no description, rather than a wrong one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from scan.contracts.abi import AbiType, parse_signature, parse_types
from scan.contracts.abi_decoding import Decoded, DecodingBudget, values_of_call
from scan.extensions.clear_signing.descriptor_formats import (
    EQUALS,
    NEVER,
    UNLESS,
    Field,
    Format,
    Lookup,
)
from scan.extensions.clear_signing.descriptors import Descriptor
from scan.extensions.clear_signing.value_formats import (
    address_of,
    addresses_shown,
    as_key,
    cut,
    formatted,
    number_of,
)
from scan.extensions.clear_signing.value_paths import (
    ARGUMENTS,
    CONTAINER,
    MAX_VALUES,
    DoesNotFit,
    TypedValue,
    ValuePath,
    bytes_of,
    values_at,
)
from scan.extensions.transaction_details.explanations.summary_parts import Names, Part, merged
from scan.hex import BadHex, data

ADDRESS = AbiType("address", "address")
UINT = AbiType("uint", "uint256", 256)
CALLDATA, SELECTOR_BYTES = "calldata", 4
CONSTANT = AbiType("constant", "constant")  # that value_formats.raw() shows as it is


class Call(NamedTuple):
    """A call; `method` is how the contract's ABI, or a standard one, decodes it. Its sender and its
    value are None where they are not known: what shows them does not fit then."""

    chain_id: str
    from_address: str | None
    to_address: str
    value_wei: int | None
    calldata: bytes
    method: Decoded | None


class SelectedValue(NamedTuple):
    """A value that a field shows, with the values of its parameters."""

    field: Field
    typed: TypedValue
    params: Mapping[str, Any]


class ShownField(NamedTuple):
    """A field's label and value. `format` is that in which it is shown: `raw` where another does
    not fit. `inner` is what a value that is calldata is for."""

    label: str
    value: Part
    format: str
    field: Field
    inner: "Description | None" = None

    def record(self) -> dict[str, Any]:
        address = {} if self.value.address is None else {"address": self.value.address}
        inner = {} if self.inner is None else {"clearSigning": self.inner.record()}
        fields = {"label": self.label, "value": self.value.text, "format": self.format}
        return {**fields, **address, **inner}


class Description(NamedTuple):
    """What a call is for, as a descriptor says; `sentence` is None where it has none that fits."""

    descriptor: Descriptor
    intent: str
    sentence: Sequence[Part] | None
    fields: Sequence[ShownField]

    @property
    def text(self) -> str | None:
        """The sentence without links."""
        return None if self.sentence is None else "".join(part.text for part in self.sentence)

    def record(self) -> dict[str, Any]:
        return {
            "intent": self.intent or None,
            "interpolatedIntent": self.text,
            "fields": [field.record() for field in self.fields],
            "owner": self.descriptor.owner or None,
            "contractName": self.descriptor.contract_name or None,
            "descriptor": self.descriptor.file,
        }


def select(format_: Format, call: Call, budget: DecodingBudget) -> Sequence[SelectedValue]:
    """Return the values that the fields show. Raises DoesNotFit."""
    return select_in(format_, _arguments(format_, call, budget), call, budget)


def select_in(
    format_: Format, arguments: TypedValue, call: Call, budget: DecodingBudget
) -> Sequence[SelectedValue]:
    """Return the values of a call's arguments that the fields show, or of a message, which is as if
    it were a call of the contract that verifies it. Raises DoesNotFit."""
    roots = {ARGUMENTS: arguments, CONTAINER: _container(call)}
    selected: list[SelectedValue] = []
    for field in format_.fields:
        selected += _of_field(field, roots, budget)
        if len(selected) > MAX_VALUES:
            raise DoesNotFit(f"it has more than {MAX_VALUES} values")
    if not format_.required <= {value.field.path for value in selected}:
        raise DoesNotFit("a required field is not shown")
    return selected


def addresses_in(selected: Sequence[SelectedValue]) -> Iterator[str]:
    """Yield the addresses of which names and tokens are needed."""
    for value in selected:
        yield from addresses_shown(value.typed, value.params)


def describe(
    descriptor: Descriptor,
    format_: Format,
    selected: Sequence[SelectedValue],
    names: Names,
    inner: Mapping[int, Description] = MappingProxyType({}),
) -> Description:
    """Return the description, by the names and tokens of addresses_in(). `inner` are those of the
    calls that values are, by the position of the value."""
    fields = []
    for position, value in enumerate(selected):
        field, of_call = value.field, inner.get(position)
        if of_call is None:
            used_format, part = formatted(field.format, value.typed, value.params, names)
        else:
            used_format, part = CALLDATA, Part(cut(of_call.text or of_call.intent), "text")
        fields.append(ShownField(field.label, part, used_format, field, of_call))
    return Description(descriptor, format_.intent, _sentence(format_, fields), fields)


def call_in(value: SelectedValue, chain_id: str) -> Call | None:
    """Return the call that a value is by its format, `calldata`; None for another value, and for a
    call on another chain. A selector among the parameters stands before the value's bytes."""
    if value.field.format != CALLDATA or value.typed.type.kind != "bytes":
        return None

    def parameter(name: str) -> Any:
        return value.params.get(f"{name}Path", value.params.get(name))

    to_address = address_of(parameter("callee"))
    chain, amount, selector = map(parameter, ("chainId", "amount", "selector"))
    if to_address is None or (chain is not None and _text(chain) != chain_id):
        return None
    prefix = b"" if selector is None else _selector(selector)
    calldata = prefix + bytes_of(value.typed)
    value_wei = number_of(_text(amount)) if amount is not None else None
    return Call(chain_id, address_of(parameter("spender")), to_address, value_wei, calldata, None)


def _text(value: Any) -> str:
    return str(value.value if isinstance(value, TypedValue) else value)


def _selector(value: Any) -> bytes:
    try:
        return data(_text(value), SELECTOR_BYTES)
    except BadHex:
        raise DoesNotFit("a selector is not of four bytes") from None


def _sentence(format_: Format, fields: Sequence[ShownField]) -> Sequence[Part] | None:
    """Return the sentence; None where a value in it is not shown once, as its field has it."""
    parts: list[Part] = []
    for piece in format_.sentence or ():
        if isinstance(piece, str):
            parts.append(Part(piece))
            continue
        at_path = [candidate for candidate in fields if candidate.field.path == piece]
        if len(at_path) != 1 or at_path[0].format != at_path[0].field.format:
            return None
        parts.append(at_path[0].value)
    return merged(parts) or None


def _of_field(
    field: Field, roots: Mapping[str, TypedValue], budget: DecodingBudget
) -> Iterator[SelectedValue]:
    if field.path is None:
        yield SelectedValue(field, TypedValue(CONSTANT, field.constant), {})
        return
    for typed in values_at(field.path, roots):
        _spend(budget)
        if _is_shown(field, typed):
            params = {}
            for name, operand in field.params.items():
                _spend(budget)
                params[name] = _value_of(operand, typed, roots)
            yield SelectedValue(field, typed, params)


def _spend(budget: DecodingBudget) -> None:
    """Count a value that a descriptor has looked up: 15 KB of one took 40 s."""
    if not budget.allows():
        raise DoesNotFit("it takes too long")


def _is_shown(field: Field, typed: TypedValue) -> bool:
    """Return whether the value is shown. Raises DoesNotFit where it has to be another one."""
    if field.visibility not in (UNLESS, EQUALS):
        return field.visibility != NEVER
    listed = (value if isinstance(value, str) else json.dumps(value) for value in field.listed)
    is_listed = as_key(typed) in map(str.lower, listed)
    if field.visibility == EQUALS and not is_listed:
        raise DoesNotFit("a value is not one of those that it must be")
    return field.visibility == UNLESS and not is_listed


def _value_of(operand: Any, typed: TypedValue, roots: Mapping[str, TypedValue]) -> Any:
    """Return the value of a parameter beside a shown value."""
    if isinstance(operand, ValuePath):
        return _only(values_at(operand, roots, typed.positions))
    if isinstance(operand, Lookup):
        key = as_key(_only(values_at(operand.key, roots, typed.positions)))
        values = {name.lower(): value for name, value in operand.values.items()}
        if key not in values:
            raise DoesNotFit("a map does not have a value")
        return values[key]
    return operand


def _only(values: Sequence[TypedValue]) -> TypedValue:
    if len(values) != 1:
        raise DoesNotFit("a parameter has several values")
    return values[0]


def _arguments(format_: Format, call: Call, budget: DecodingBudget) -> TypedValue:
    """Return the arguments as one tuple, by the names of the descriptor's signature; where it has
    none, by those of the contract's ABI."""
    method, entry = call.method, format_.entry
    if entry is not None and method is not None and method.signature != entry.signature:
        raise DoesNotFit("the contract's ABI has another function")
    if entry is None or not format_.names_arguments:
        if method is None:
            raise DoesNotFit("no ABI names the arguments")
        names = [argument.name for argument in method.arguments]
        types = parse_types(parse_signature(method.signature)["inputs"])
        return _tuple(names, types, [argument.value for argument in method.arguments])
    fit = values_of_call(call.calldata, entry, budget)
    if fit is None:
        raise DoesNotFit("the calldata is not that of the function")
    values = [argument.value for argument in fit.decoded().arguments]
    return _tuple(entry.names, entry.types, values)


def _tuple(names: Sequence[str], types: Sequence[AbiType], values: Sequence[Any]) -> TypedValue:
    return TypedValue(AbiType("tuple", "()", None, tuple(types), tuple(names)), list(values))


def _container(call: Call) -> TypedValue:
    values = {"to": (ADDRESS, call.to_address), "chainId": (UINT, call.chain_id)}
    if call.from_address is not None:
        values["from"] = ADDRESS, call.from_address
    if call.value_wei is not None:
        values["value"] = UINT, str(call.value_wei)
    types, texts = zip(*values.values(), strict=True)
    return _tuple([*values], types, texts)
