"""Names of the functions that transactions called."""

from collections.abc import Iterable, Mapping

from scan.contracts.abi_index import functions_of
from scan.contracts.contract_abis import NO_CONTRACT, Contract
from scan.contracts.decoding_budget import DecodingBudget
from scan.hex import data, to_hex
from scan.queries.reader import Reader
from scan.queries.transaction_contexts import Record


def add_methods(reader: Reader, transactions: Iterable[Record]) -> None:
    """Sets `method`: the name from an ABI or from a single imported signature, or the selector."""
    calls = [transaction for transaction in transactions if transaction["methodId"]]
    addresses = {data(call["toAddress"]) for call in calls}
    contracts = reader.sources.contract_abis.find(addresses, DecodingBudget())
    unknown = []
    for call in calls:
        call["method"] = _name(call, contracts)
        if call["method"] is None:
            unknown.append(call)
    imported = reader.sources.contract_abis.imported({data(call["methodId"]) for call in unknown})
    for call in unknown:
        signatures = imported.get(data(call["methodId"]), [])
        only = signatures[0].partition("(")[0] if len(signatures) == 1 else None
        call["method"] = only or to_hex(data(call["methodId"]))


def _name(transaction: Record, contracts: Mapping[bytes, Contract]) -> str | None:
    contract = contracts.get(data(transaction["toAddress"]), NO_CONTRACT)
    selector = data(transaction["methodId"])
    function = next(functions_of(selector, contract.abis, contract.token_type), None)
    return None if function is None else function.name
