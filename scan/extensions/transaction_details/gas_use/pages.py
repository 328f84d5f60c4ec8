"""The tab of a transaction's page with the gas of its calls."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flask import request

from scan import parameters
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.transaction_details.gas_use import queries
from scan.extensions.transaction_details.gas_use.gas_by_line import GasByLine
from scan.extensions.transaction_details.gas_use.gas_use import (
    LEAST_WIDTH,
    MAX_DEPTH,
    Box,
    FunctionGas,
    boxes,
    by_function,
    height,
    whole_gas,
)
from scan.extensions.transaction_details.gas_use.queries import MethodGas
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.pages.hooks import Pages, Shown, TransactionTab
from scan.pages.records import Record


class ShownGas(NamedTuple):
    """The data of the tab; `problem` is why there is none, `lines_problem` why there are no lines
    where they were requested. `usual` is what other calls of the transaction's own method took."""

    boxes: Sequence[Box] = ()
    functions: Sequence[FunctionGas] = ()
    whole_gas: int = 0
    call_count: int = 0
    is_truncated: bool = False
    usual: MethodGas | None = None
    problem: str | None = None
    lines: GasByLine | None = None
    lines_problem: str | None = None
    most_levels: int = MAX_DEPTH
    least_width: float = LEAST_WIDTH

    @property
    def height(self) -> int:
        return height(self.boxes)

    def addresses(self) -> Iterator[str]:
        lines = self.lines.lines if self.lines else ()
        addresses = [*(f.address for f in self.functions), *(line.address for line in lines)]
        yield from (to_hex(address) for address in addresses if address is not None)


def read_gas(transaction: Record) -> Shown:
    """Return the values of the tab."""
    try:
        shown = _shown(transaction)
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        reader().do_not_cache()
        shown = ShownGas(problem=error.message)
    if "lines" in request.args and shown.problem is None:
        parameters.one_of(request.args["lines"], "lines", ("all",))
        shown = _with_lines(shown, transaction)
    return Shown({"gas": shown}, shown.addresses())


def _with_lines(shown: ShownGas, transaction: Record) -> ShownGas:
    try:
        return shown._replace(lines=queries.lines_of_transaction(reader(), transaction))
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        reader().do_not_cache()
        return shown._replace(lines_problem=error.message)


def _shown(transaction: Record) -> ShownGas:
    gas = queries.of_transaction(reader(), transaction)
    usual = _usual(transaction)
    return ShownGas(
        boxes=boxes(gas.calls),
        functions=by_function(gas.calls),
        whole_gas=whole_gas(gas.calls),
        call_count=gas.call_count,
        is_truncated=gas.is_truncated,
        usual=usual,
    )


def _usual(transaction: Record) -> MethodGas | None:
    method, to_address = transaction["methodId"], transaction["toAddress"]
    if not method or not to_address:
        return None
    methods = queries.of_contract(reader(), data(to_address, 20))
    return next((known for known in methods if known.method_id == method), None)


HOOKS = Pages(tabs=(TransactionTab("gas", "Gas", "/gas", read_gas, needs_node=True),))
