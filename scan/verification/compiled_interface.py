"""The interface of a compiled contract: its ABI and what the compiler says beside it, which the ABI
lacks. Calls, logs and errors are decoded by it.

A library's functions are not hashed by the types of its ABI: structures, enums and contracts are
named, and since solc 0.5 functions that take pointers to storage are in `methodIdentifiers` alone.
What a library emits in another contract is in that one's ABI since 0.8.21, and where it is linked
in none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scan.contracts.abi import STATED, AbiError, AbiType, parse_signature, parse_types, signature
from scan.contracts.abi_decoding import LIBRARY

_LIBRARY = re.compile(r"\blibrary\s+([A-Za-z_$][\w$]*)", re.ASCII)

Entries = Sequence[Mapping[str, Any]]  # of an ABI
Parameter = Mapping[str, Any]


def interface_of(abi: Entries, selectors: Mapping[str, str], of_libraries: Entries) -> Entries:
    """Return an ABI's entries, those of functions with the compiler's signature where that is not
    of their types, its functions that the ABI lacks, and what libraries declare and the ABI does
    not. `selectors` are by signature, as in `methodIdentifiers`."""
    signatures = [_signature(entry) for entry in abi]
    left = [text for text in sorted(selectors, key=selectors.__getitem__) if text not in signatures]
    entries = []
    for entry, text in zip(abi, signatures, strict=True):
        # An ABI has overloads in the order of their selectors.
        named = re.compile(_pattern(entry) if text and text not in selectors else r"\Z")
        stated = next((other for other in left if named.fullmatch(other)), None)
        if stated is not None:
            left.remove(stated)
        entries.append(entry if stated is None else {**entry, STATED: stated})
    declared = dict(_declared(parameter for entry in abi for parameter in _parameters(entry)))
    entries += [_function(text, declared) for text in left]
    plain = [{key: value for key, value in e.items() if key != LIBRARY} for e in of_libraries]
    return [*entries, *(e for e, own in zip(of_libraries, plain, strict=True) if own not in abi)]


def library_entries(
    contracts: Mapping[str, Mapping[str, Mapping[str, Any]]], sources: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """Return the events and errors of a compilation's libraries, each with its library's name."""
    return [
        {**entry, LIBRARY: name}
        for path, of_file in contracts.items()
        for name in _LIBRARY.findall(sources.get(path, ""))
        for entry in (of_file.get(name) or {}).get("abi") or ()
        if entry.get("type") in ("event", "error")
    ]


def _signature(entry: Mapping[str, Any]) -> str | None:
    """Return the signature of a function by its ABI's types; None of all else."""
    if entry.get("type", "function") != "function":
        return None
    try:
        return signature(str(entry.get("name")), parse_types(entry.get("inputs", [])))
    except AbiError:
        return None


def _pattern(entry: Mapping[str, Any]) -> str:
    """Return a pattern of signatures in which structures have names."""
    types = ",".join(map(_type_pattern, parse_types(entry.get("inputs", []))))
    return rf"{re.escape(str(entry.get('name')))}\({types}\)"


def _type_pattern(abi_type: AbiType) -> str:
    if abi_type.kind == "array":
        [item] = abi_type.items
        return _type_pattern(item) + re.escape(abi_type.name[len(item.name) :])
    return r"[\w$.]+" if abi_type.kind == "tuple" else re.escape(abi_type.name)


def _parameters(entry: Mapping[str, Any]) -> list[Parameter]:
    return [*(entry.get("inputs") or ()), *(entry.get("outputs") or ())]


def _declared(parameters: Iterable[Parameter]) -> Iterator[tuple[str, Parameter]]:
    """Yield the types that have names, with a parameter of each."""
    for parameter in parameters:
        yield str(parameter.get("internalType")).partition(" ")[2].partition("[")[0], parameter
        yield from _declared(parameter.get("components") or ())


def _function(text: str, declared: Mapping[str, Parameter]) -> Mapping[str, Any]:
    """Return a function by its signature and the types that others of the ABI have."""
    entry = parse_signature(text)
    for parameter in entry["inputs"]:
        name, bracket, suffix = parameter["type"].partition("[")
        if name in declared:
            known = declared[name]
            base = "tuple" if "components" in known else name
            parameter |= {**known, "name": "", "type": base + bracket + suffix}
    return {"type": "function", **entry, STATED: text}
