"""Names of the functions that transactions called, and selectors of functions by name."""

import re
from collections.abc import Iterable, Mapping

from eth_hash.auto import keccak

from scan import parameters
from scan.contracts.abi import AbiError
from scan.contracts.abi_index import functions_of, standard_abis
from scan.contracts.contract_abis import NO_CONTRACT, Contract
from scan.contracts.decoding_budget import DecodingBudget
from scan.contracts.signature_text import canonical
from scan.errors import InvalidParameter
from scan.hex import data, to_hex
from scan.queries.reader import Reader
from scan.queries.transaction_contexts import Record

MAX_SELECTORS = 500  # of one name
MAX_IN_ANY_CASE = 5_000  # of one name, in verified contracts and imported signatures each
ADVICE = ": give its signature, such as deposit(uint256), or its selector."
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z", re.ASCII)


def add_methods(reader: Reader, transactions: Iterable[Record]) -> None:
    """Set `method` of each call: the name from an ABI or a single imported signature, else the
    selector.

    Only the node knows the implementation of a proxy by its state: the name is then that of
    verified contracts, where all with this selector agree.
    """
    calls = [transaction for transaction in transactions if transaction["methodId"]]
    addresses = {data(call["toAddress"]) for call in calls}
    abis = reader.sources.contract_abis
    contracts = abis.find(addresses, DecodingBudget())
    unknown: set[bytes] = set()
    proxied: set[bytes] = set()
    for call in calls:
        contract, selector = _called(call, contracts)
        call["method"] = _function_name(contract, selector)
        if call["method"] is None:
            (proxied if contract.delegates else unknown).add(selector)
    verified = abis.of_verified_contracts(proxied)
    imported = abis.imported(unknown | (proxied - verified.keys()))
    for call in calls:
        if call["method"] is None:
            contract, selector = _called(call, contracts)
            signatures = contract.delegates and verified.get(selector)
            signatures = signatures or imported.get(selector, [])
            only = signatures[0].partition("(")[0] if len(signatures) == 1 else None
            call["method"] = only or to_hex(selector)


def _called(transaction: Record, contracts: Mapping[bytes, Contract]) -> tuple[Contract, bytes]:
    to_address, selector = data(transaction["toAddress"]), data(transaction["methodId"])
    return contracts.get(to_address, NO_CONTRACT), selector


def _function_name(contract: Contract, selector: bytes) -> str | None:
    function = next(functions_of(selector, contract.abis, contract.token_type), None)
    return None if function is None else function.name


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
        raise InvalidParameter("method is no function that is known here" + ADVICE, field="method")
    if is_cut or len(named) >= MAX_SELECTORS:
        raise InvalidParameter("method is the name of too many functions" + ADVICE, field="method")
    return sorted(named)
