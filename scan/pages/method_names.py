"""Names of the functions that a page's transactions called."""

from collections.abc import Iterable, Mapping

from scan.contracts.abi_decoding import functions_of
from scan.contracts.contract_abis import NO_CONTRACT, Contract
from scan.contracts.decoding_budget import DecodingBudget
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.pages.records import Record


def add_methods(transactions: Iterable[Record]) -> None:
    """Sets `method` of each: a name where an ABI or one imported signature has it, else 4 bytes."""
    calls = [each for each in transactions if each["methodId"]]
    addresses = {data(each["toAddress"]) for each in calls}
    contracts = reader().sources.contract_abis.find(addresses, DecodingBudget())
    unknown = []
    for each in calls:
        each["method"] = _name(each, contracts)
        if each["method"] is None:
            unknown.append(each)
    imported = reader().sources.contract_abis.imported({data(each["methodId"]) for each in unknown})
    for each in unknown:
        signatures = imported.get(data(each["methodId"]), [])
        only = signatures[0].partition("(")[0] if len(signatures) == 1 else None
        each["method"] = only or to_hex(data(each["methodId"]))


def _name(transaction: Record, contracts: Mapping[bytes, Contract]) -> str | None:
    contract = contracts.get(data(transaction["toAddress"]), NO_CONTRACT)
    selector = data(transaction["methodId"])
    found = next(functions_of(selector, contract.abis, contract.token_type), None)
    return None if found is None else found.name
