"""Why the failed transactions of a list failed, as far as this is stored: the node is not asked."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from scan.contracts.decoding_budget import DecodingBudget
from scan.contracts.revert_reasons import decode_reason, selectors_of
from scan.ethereum.call_failures import CallFailure
from scan.extensions.transaction_details.contract_abis import NO_CONTRACT, ContractAbis
from scan.hex import data
from scan.queries.reader import Reader

MAX_DATA = 1024  # bytes that are read of what a contract reverted with
ALL_GAS = "used all its gas"


def add_reasons(reader: Reader, transactions: Sequence[dict[str, Any]]) -> None:
    """Set `reason` of each failed transaction: a clause, or "" where nothing is known of it."""
    failed = [record for record in transactions if not record["status"]]
    if not failed:
        return
    failures = _stored(reader, failed)
    codes = {code for failure in failures.values() for code in failure.code_addresses}
    abis, budget = reader.sources.get(ContractAbis), DecodingBudget()
    contracts = abis.find(codes, budget)
    imported = abis.imported(selectors_of([*failures.values()]))
    for record in failed:
        failure = failures.get(record["hash"])
        if failure is not None:
            known = [contracts.get(code, NO_CONTRACT) for code in failure.code_addresses]
            declared = [abi for contract in known for abi in contract.abis]
            record["reason"] = decode_reason(failure, declared, imported, budget).phrase
        else:
            record["reason"] = ALL_GAS if record["gasUsed"] == record["gasLimit"] else ""


def _stored(reader: Reader, failed: Sequence[Mapping[str, Any]]) -> dict[str, CallFailure]:
    """Return the stored failures by the transaction's hash."""
    (rows,) = reader.row(
        "queries/transaction_failures_list",
        hashes=[data(record["hash"], 32) for record in failed],
        block_hashes=[data(record["blockHash"], 32) for record in failed],
        most=MAX_DATA,
    )
    return {
        hash_: CallFailure(
            kind,
            words,
            data(returned),
            size,
            code_addresses=tuple(data(code, 20) for code in codes),
        )
        for hash_, (kind, words, returned, size, codes) in orjson.loads(rows).items()
    }
