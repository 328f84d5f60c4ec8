"""Values that lists of transactions and of their transfers show beside the records.

Names of the functions that transactions called, and texts sent to addresses without code.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import orjson

from scan.contracts.abi_decoding import DecodingBudget, functions_of
from scan.contracts.visible_text import text_start
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.transaction_reader import Content, TransactionUnavailable
from scan.extensions.transaction_details.contract_abis import NO_CONTRACT, Contract, ContractAbis
from scan.hex import data, to_hex
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

Record = dict[str, Any]


def contexts(reader: Reader, hashes: Iterable[str]) -> dict[str, Record]:
    """Return the places, called functions and base fees of transactions, by hash.

    Raises Unavailable where a transaction is missing, since a reorganisation has removed it.
    """
    distinct = [*dict.fromkeys(hashes)]
    if not distinct:
        return {}
    keys = [data(transaction_hash) for transaction_hash in distinct]
    (rows,) = reader.row("queries/transactions_list_contexts", hashes=keys)
    known = cast("dict[str, Record]", orjson.loads(rows))
    if len(known) < len(distinct):
        raise Unavailable("The chain is being reorganised.", retry_after_s=1)
    return known


def inputs(reader: Reader, records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the inputs of transactions by hash, from the node; none where it does not answer."""
    keys = [indexed(record) for record in records]
    try:
        read = reader.sources.node_transactions.read(
            reader.node, [(key, Content.INPUT) for key in keys]
        )
    except (TransactionUnavailable, UpstreamFailed, Unavailable):
        reader.do_not_cache()
        return {}
    return {key.hash: read[key.hash].input for key in keys}


def add_methods(reader: Reader, transactions: Iterable[Record]) -> None:
    """Set `method` of each call: the name from an ABI or a single imported signature, else the
    selector. Where that is the beginning of a text to an address without code, it is `memo`,
    unless that is set already.

    Only the node knows the implementation of a proxy by its state: the name is then that of
    verified contracts, where all with this selector agree.
    """
    calls = [transaction for transaction in transactions if transaction["methodId"]]
    addresses = {data(call["toAddress"]) for call in calls}
    abis = reader.sources.get(ContractAbis)
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
            if only is None and "memo" not in call and data(call["toAddress"]) not in contracts:
                call.update(_memo(selector))


def _memo(selector: bytes) -> dict[str, str]:
    text = text_start(selector, len(selector))
    return {"memo": f"{text}…"} if text else {}


def _called(transaction: Record, contracts: Mapping[bytes, Contract]) -> tuple[Contract, bytes]:
    to_address, selector = data(transaction["toAddress"]), data(transaction["methodId"])
    return contracts.get(to_address, NO_CONTRACT), selector


def _function_name(contract: Contract, selector: bytes) -> str | None:
    function = next(functions_of(selector, contract.abis, contract.token_type), None)
    return None if function is None else function.name
