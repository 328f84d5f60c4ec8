"""Selectors of functions by name."""

import re

from eth_hash.auto import keccak

from scan import parameters
from scan.contracts.abi import AbiError
from scan.contracts.abi_index import standard_abis
from scan.contracts.signature_text import canonical
from scan.errors import InvalidParameter
from scan.queries.reader import Reader

MAX_SELECTORS = 500  # of one name
MAX_IN_ANY_CASE = 5_000  # of one name, in verified contracts and imported signatures each
ADVICE = ": give its signature, such as deposit(uint256), or its selector."
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z", re.ASCII)


def selectors(reader: Reader, text: str) -> list[bytes]:
    """Return the selectors that a text means: a selector, a signature or a function's name.

    Names are those of standards, verified contracts and imported signatures; where none is equal,
    those that differ in letter case alone. Raises InvalidParameter.
    """
    text = text.strip()
    if _NAME.match(text):
        return _selectors_of_name(reader, text)
    if text[:2].lower() == "0x":
        return [parameters.method(text)]
    try:
        return [keccak(canonical(text).encode())[:4]]
    except AbiError as error:
        raise InvalidParameter(f"method is not a signature: {error}.", field="method") from None


def _selectors_of_name(reader: Reader, name: str) -> list[bytes]:
    exact, in_any_case = (
        {*map(bytes, known)}
        for known in reader.row("queries/selectors_find", name=name, most=MAX_IN_ANY_CASE)
    )
    is_cut = len(in_any_case) >= MAX_IN_ANY_CASE
    for selector, entries in standard_abis().functions.items():
        names = {entry.name for entry in entries}
        if name in names:
            exact.add(selector)
        if name.lower() in map(str.lower, names):
            in_any_case.add(selector)
    named = exact or in_any_case
    if not named:
        raise InvalidParameter("method is not a known function" + ADVICE, field="method")
    if is_cut or len(named) >= MAX_SELECTORS:
        raise InvalidParameter("method is the name of too many functions" + ADVICE, field="method")
    return sorted(named)
