"""The interface of a compiled contract: its ABI and what the compiler says beside it, which the ABI
lacks. Calls, logs and errors are decoded by it.

A library's functions are not hashed by the types of its ABI: structures, enums and contracts are
named, and since solc 0.5 functions that take pointers to storage are in `methodIdentifiers` alone.
What a library emits in another contract is in that one's ABI since 0.8.21, and where it is linked
in none.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scan.contracts.abi import STATED, AbiError, AbiType, parse_signature, parse_types, signature
from scan.contracts.abi_decoding import LIBRARY

_LIBRARY = re.compile(r"\blibrary\s+([A-Za-z_$][\w$]*)", re.ASCII)

Entries = Sequence[Mapping[str, Any]]  # of an ABI
Parameter = Mapping[str, Any]


def interface_of(abi: Entries, selectors: Mapping[str, str]) -> Entries:
    """Return an ABI's entries, those of functions with the compiler's signature where that is not
    of their types, and the functions that the ABI lacks. `selectors` are by signature, as in
    `methodIdentifiers`."""
    signatures = [_signature(entry) for entry in abi]
    left: defaultdict[str, list[str]] = defaultdict(list)  # by name, in the order of selectors
    for text in sorted({*selectors} - {*signatures}, key=selectors.__getitem__):
        left[text.partition("(")[0]].append(text)
    entries = []
    for entry, computed in zip(abi, signatures, strict=True):
        # An ABI has overloads in the order of their selectors, too.
        overloads = left[str(entry.get("name"))] if computed and computed not in selectors else []
        stated = next((t for t in overloads if re.fullmatch(_pattern(entry), t)), None)
        if stated is not None:
            overloads.remove(stated)
        entries.append(entry if stated is None else {**entry, STATED: stated})
    declared = dict(_declared(parameter for entry in abi for parameter in _parameters(entry)))
    return [*entries, *(_function(text, declared) for texts in left.values() for text in texts)]


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
