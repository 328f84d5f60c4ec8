"""The gas of a transaction's calls from the node, and of a contract's functions from the index."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.decoding_budget import DecodingBudget
from scan.errors import TracesUnavailable, UpstreamFailed
from scan.extensions.internal_transfers.transaction_traces import MALFORMED, TransactionTraces
from scan.extensions.transaction_details.contract_abis import NO_CONTRACT, ContractAbis
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.extensions.transaction_details.gas_use.gas_by_line import GasByLine, by_line
from scan.extensions.transaction_details.gas_use.gas_of_steps import GAS_OF_STEPS, MAX_GAS
from scan.extensions.transaction_details.gas_use.gas_use import CallGas, gas_of_calls
from scan.extensions.transaction_details.queries import bound_work
from scan.hex import data
from scan.queries import transactions
from scan.queries.reader import Reader

MAX_CALLS = 2_000  # of a contract: the newest
MAX_OF_METHOD = 1_000
TIMEOUT_S = 3.5  # the node ends its tracer after 3 s
TOO_MUCH_GAS = f"Lines are read of transactions of at most {MAX_GAS:,} gas."


class MethodGas(NamedTuple):
    """What calls of a method took, of the newest calls of a contract: the gas of those that did not
    fail, None where all did."""

    method_id: str | None
    function: str | None
    calls: int
    failed: int
    median: str | None
    p90: str | None
    worst: str | None

    @property
    def succeeded(self) -> int:
        return self.calls - self.failed

    def record(self) -> dict[str, Any]:
        return {
            "methodId": self.method_id,
            "function": self.function,
            "calls": self.calls,
            "failed": self.failed,
            "median": self.median,
            "p90": self.p90,
            "worst": self.worst,
        }


class GasOfCalls(NamedTuple):
    """The gas of a trace's first calls, and how many there are."""

    calls: Sequence[CallGas]
    call_count: int
    is_truncated: bool


def of_transaction(reader: Reader, record: Mapping[str, Any]) -> GasOfCalls:
    """Return the gas of a transaction's calls. Raises TracesUnavailable, UpstreamFailed."""
    trace, frames = explanations.calls(reader, record)
    return GasOfCalls(
        gas_of_calls(frames, trace.frame_count), trace.frame_count, trace.is_truncated
    )


def lines_of_transaction(reader: Reader, record: Mapping[str, Any]) -> GasByLine:
    """Return the gas of a transaction by lines of verified sources. Raises TracesUnavailable,
    UpstreamFailed."""
    if int(record["gasUsed"]) > MAX_GAS:
        raise TracesUnavailable(TOO_MUCH_GAS)
    bound_work(reader, record)
    sent, traces = transactions.indexed(record), reader.sources.get(TransactionTraces)
    frames = traces.calls(reader.node, sent).frames
    gas = traces.read(reader.node.within(TIMEOUT_S), sent, GAS_OF_STEPS)
    if gas.first and record["gasLimit"] is not None and gas.first > int(record["gasLimit"]):
        raise UpstreamFailed(MALFORMED)
    return by_line(reader.sources, gas, frames, record)


def of_contract(reader: Reader, address: bytes) -> list[MethodGas]:
    """Return what the newest calls of a contract took, by method, those with most calls first."""
    (text,) = reader.row(
        "gas_use/transactions_list_gas", address=address, limit=MAX_CALLS, most=MAX_OF_METHOD
    )
    methods = orjson.loads(text)
    abis = reader.sources.get(ContractAbis)
    contract = abis.find([address], DecodingBudget()).get(address, NO_CONTRACT)
    return [
        MethodGas(
            method_id=method["method"],
            function=abis.function_text(data(method["method"] or "0x"), contract),
            calls=method["calls"],
            failed=method["failed"],
            median=method["median"],
            p90=method["p90"],
            worst=method["worst"],
        )
        for method in methods
    ]
