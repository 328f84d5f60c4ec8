"""module=account: balances, and lists of transactions, internal ones, and token transfers."""

from typing import Any

import orjson

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.gateway import NOT_ANSWERING
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, Reply, rows_reply
from scan.etherscan.transactions import complete_transactions, complete_transfers
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.requests import reader
from scan.parameters import BIGINT_MAX
from scan.queries import blocks
from scan.queries.internal_transfers import without_traces
from scan.queries.node_logs import BlockSpan

MOST_BALANCES = 20
NO_TRANSACTIONS = "No transactions found"
NO_DATA = "No data found"
BALANCE_OF = "0x70a08231"
TOTAL_SUPPLY = "0x18160ddd"


def balance(asked: Parameters) -> Reply:
    [found] = _balances([asked.address()], asked.block_tag())
    return Reply(found)


def balances(asked: Parameters) -> Reply:
    addresses = asked.addresses("address", MOST_BALANCES)
    found = _balances(addresses, asked.block_tag())
    return Reply(
        [
            {"account": to_hex(address), "balance": balance}
            for address, balance in zip(addresses, found, strict=True)
        ]
    )


def transactions(asked: Parameters) -> Reply:
    address, span = asked.address(), asked.blocks()
    limit, offset = asked.page()
    records, total = reader().row(
        "queries/etherscan_transactions_list",
        address=address,
        direction=asked.direction(),
        limit=limit,
        offset=offset,
        **_bounds(span),
    )
    return rows_reply(complete_transactions(records), NO_TRANSACTIONS, total)


def internal_transactions(asked: Parameters) -> Reply:
    """Of an address, of a transaction, or of a range of blocks."""
    limit, offset = asked.page()
    window: dict[str, Any] = {"direction": asked.direction(), "limit": limit, "offset": offset}
    bounds = _bounds(asked.blocks())
    if asked.text("txhash"):
        statement = "queries/etherscan_internal_transfers_list_by_transaction"
        found = reader().row(statement, hash=asked.hash32("txhash"), **window)
    elif asked.text("address"):
        statement = "queries/etherscan_internal_transfers_list"
        found = reader().row(statement, address=asked.address(), **window, **bounds)
    else:
        ends = {name: bounds[name] for name in ("block_from", "block_to")}
        found = reader().row("queries/internal_transfers_list_by_blocks", **window, **ends)
    records, total, untraced_blocks = found
    if untraced_blocks is None:
        raise Failure(f"Error! {without_traces(reader())}")
    return rows_reply(orjson.loads(records), NO_TRANSACTIONS, total)


def transfers_bep20(asked: Parameters) -> Reply:
    return _transfers(asked, "BEP20")


def transfers_bep721(asked: Parameters) -> Reply:
    return _transfers(asked, "BEP721")


def transfers_bep1155(asked: Parameters) -> Reply:
    return _transfers(asked, "BEP1155")


def token_balance(asked: Parameters) -> Reply:
    call_data = BALANCE_OF + asked.address().hex().rjust(64, "0")
    return Reply(_integer_at(asked, call_data))


def token_supply(asked: Parameters) -> Reply:
    return Reply(_integer_at(asked, TOTAL_SUPPLY))


def token_balances(asked: Parameters) -> Reply:
    limit, offset = asked.page()
    [held] = reader().row(
        "queries/token_balances_list", address=asked.address(), limit=limit, offset=offset
    )
    return rows_reply(orjson.loads(held), NO_DATA)


def _balances(addresses: list[bytes], tag: str) -> list[str]:
    """In wei: the stored ones where they are of the newest indexed block, else the node's; where it
    does not answer, older ones that nothing indexed has changed since."""
    stored: list[str | None] = [None] * len(addresses)
    unchanged = stored
    if tag == "latest":
        found, head, older = reader().row("queries/balances_get", addresses=addresses)
        stored, unchanged = found or stored, older or unchanged
        tag = tag if head is None else hex(head)
    missing = [address for address, each in zip(addresses, stored, strict=True) if each is None]
    if not missing:
        return [str(each) for each in stored]
    try:
        asked = iter(_ask_balances(missing, tag))
    except (UpstreamFailed, Unavailable):
        if None in unchanged:
            raise
        return [str(each) for each in unchanged]
    return [each if each is not None else next(asked) for each in stored]


def _ask_balances(addresses: list[bytes], block: str) -> list[str]:
    calls = [Call("eth_getBalance", (to_hex(address), block)) for address in addresses]
    try:
        return [str(quantity(each)) for each in reader().node.batch(calls)]
    except RpcError:
        raise Failure("Error! The node does not have the state of this block") from None
    except BadHex:
        raise UpstreamFailed(NOT_ANSWERING) from None


def _integer_at(asked: Parameters, call_data: str) -> str:
    """What a token's function without side effects returns."""
    contract, tag = asked.address("contractaddress"), asked.block_tag()
    if tag == "latest":
        head = blocks.newest_number(reader())
        tag = tag if head is None else hex(head)
    call = {"to": to_hex(contract), "data": call_data}
    try:
        returned = data(reader().node.call("eth_call", call, tag))
    except (RpcError, BadHex):
        raise Failure("Error! The contract does not answer this call") from None
    if len(returned) < 32:
        raise Failure("Error! There is no such function at this contractaddress")
    return str(int.from_bytes(returned[:32], "big"))


def _transfers(asked: Parameters, token_type: str) -> Reply:
    address, token = asked.optional_address("address"), asked.optional_address("contractaddress")
    limit, offset = asked.page()
    window: dict[str, Any] = {
        "direction": asked.direction(),
        "limit": limit,
        "offset": offset,
        "type": token_type,
        "token": token,
        **_bounds(asked.blocks()),
    }
    if address is not None:
        records, total = reader().row(
            "queries/etherscan_token_transfers_list_by_address",
            planned_per_call=True,
            address=address,
            has_token=token is not None,
            **window,
        )
    elif token is not None:
        records, total = reader().row("queries/token_transfers_list_by_token", **window)
    else:
        raise Failure("Error! Missing address or contractaddress")
    return rows_reply(complete_transfers(records, token_type), NO_TRANSACTIONS, total)


def _bounds(span: BlockSpan) -> dict[str, Any]:
    """An end that bounds nothing is left out of the statement."""
    return {
        "block_from": span.first,
        "block_to": span.last,
        "has_lower": span.first > 0,
        "has_upper": span.last < BIGINT_MAX,
    }
