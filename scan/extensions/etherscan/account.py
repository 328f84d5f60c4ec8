"""module=account: balances, lists of transactions, internal and token transfers, tokens in
Blockscout's form, and the first transfer of coin to an address; module=nametag: the operator's
labels.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from scan.contracts.account_state import CALL_GAS
from scan.errors import HistoryUnavailable, NotFound, UpstreamFailed
from scan.ethereum import client, request_node
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import TOTAL_SUPPLY, balance_of
from scan.extensions.etherscan.replies import (
    BAD_ADDRESS,
    Failure,
    Parameters,
    Reply,
    RpcReply,
    renamed,
    renamed_rows,
    rows_reply,
)
from scan.extensions.etherscan.transactions import complete_transactions, complete_transfers
from scan.extensions.traces import funding
from scan.extensions.traces import views as internal_transfers
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.current_request import reader
from scan.http.prerequisites import Prerequisite, requires
from scan.parameters import BIGINT_MAX
from scan.queries import addresses, blocks, tokens
from scan.queries.balances import note_sums
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Window

MOST_BALANCES = 20
MOST_OWNED = 100_000  # items of an owner, looked through for those of one token: in 0.07 s
TOO_MANY_OWNED = f"Error! The address owns more than {MOST_OWNED} items; see tokennfttx"
NO_TRANSACTIONS = "No transactions found"
NO_DATA = "No data found"


def balance(parameters: Parameters) -> Reply:
    [balance_wei] = _balances([parameters.address()], parameters.block_tag())
    return Reply(balance_wei)


def balance_at(parameters: Parameters) -> Reply:
    """Return the balance after a block."""
    [balance_wei] = _balances([parameters.address()], _block(parameters))
    return Reply(balance_wei)


def balance_in_hex(parameters: Parameters) -> RpcReply:
    """Return a balance in JSON-RPC's form, as Blockscout does; the block is `block`."""
    [balance_wei] = _balances([parameters.address()], parameters.block_tag("block"))
    return RpcReply("result", hex(int(balance_wei)))


def balances(parameters: Parameters) -> Reply:
    addresses = parameters.addresses("address", MOST_BALANCES)
    balances_wei = _balances(addresses, parameters.block_tag())
    rows = [
        {"account": to_hex(address), "balance": balance}
        for address, balance in zip(addresses, balances_wei, strict=True)
    ]
    return Reply(rows)


def transactions(parameters: Parameters) -> Reply:
    window, parties = parameters.window(), _parties(parameters)
    page = filtered_page(reader(), "transactions", parties, window, form="etherscan")
    return rows_reply(complete_transactions(page.data), NO_TRANSACTIONS, page.total, page.kept_from)


def _parties(parameters: Parameters, *, is_required: bool = True) -> dict[str, bytes | None]:
    """Return the filters by a party, and by sender and recipient. Raises Failure where none is
    given and one `is_required`."""
    if parameters.text("fromto_opr", "and").lower() != "and":
        raise Failure("Error! Only fromto_opr=and is offered: request sender and recipient apart")
    names = [name for name in ("address", "from", "to") if parameters.text(name)]
    if is_required and not names:
        raise Failure(BAD_ADDRESS)
    return {name: parameters.address(name) for name in names}


def internal_transactions(parameters: Parameters) -> Reply:
    """Return the internal transfers of a transaction, of an address, or of a range of blocks."""
    window = parameters.window()
    try:
        if parameters.text("txhash"):
            page, is_traced = internal_transfers.transaction_page(
                reader(), parameters.hash32("txhash"), window, form="etherscan"
            )
            if is_traced is False:
                raise NotFound(internal_transfers.without_traces(reader()))
        else:
            parties = _parties(parameters, is_required=False)
            page = internal_transfers.page(reader(), window, **parties, form="etherscan")
    except NotFound as missing:
        raise Failure(f"Error! {missing.message}") from None
    return rows_reply(orjson.loads(page.data or "[]"), NO_TRANSACTIONS, page.total, page.kept_from)


def token_transfers_of(token_type: str, parameters: Parameters) -> Reply:
    parties = _parties(parameters, is_required=False)
    token = parameters.optional_address("contractaddress")
    if not parties and token is None:
        raise Failure("Error! Missing address or contractaddress")
    page = tokens.transfers_page(
        reader(), parameters.window(), **parties, token=token, type=token_type, form="etherscan"
    )
    rows = complete_transfers(page.data, token_type)
    return rows_reply(rows, NO_TRANSACTIONS, page.total, page.kept_from)


class _Refused(Failure):
    """The contract has no such value."""


@requires(Prerequisite.NODE)
def token_balance(parameters: Parameters) -> Reply:
    return Reply(_integer_at(parameters, balance_of(parameters.address()), parameters.block_tag()))


@requires(Prerequisite.NODE)
def token_balance_at(parameters: Parameters) -> Reply:
    return Reply(_integer_at(parameters, balance_of(parameters.address()), _block(parameters)))


@requires(Prerequisite.NODE)
def token_supply(parameters: Parameters) -> Reply:
    tag = parameters.block_tag()
    try:
        return Reply(_integer_at(parameters, TOTAL_SUPPLY, tag))
    except _Refused:
        token = parameters.address("contractaddress")
        record = tokens.records_of(reader(), [token]).get(to_hex(token))
        if tag != "latest" or record is None or record["type"] == "BEP20":
            raise
        return Reply(record["totalSupply"])  # what holders hold


@requires(Prerequisite.NODE)
def token_supply_at(parameters: Parameters) -> Reply:
    return Reply(_integer_at(parameters, TOTAL_SUPPLY, _block(parameters)))


def _block(parameters: Parameters) -> str:
    """Return the number of a block as JSON-RPC has it."""
    parameters.required("blockno")
    return hex(parameters.integer("blockno", 0))


def token_balances(parameters: Parameters) -> Reply:
    return _held(parameters, "BEP20", "balance_of_token")


def collections(parameters: Parameters) -> Reply:
    """Return the tokens whose items an address holds, with the number of the items."""
    return _held(parameters, "BEP721", "balance_of_collection")


def items(parameters: Parameters) -> Reply:
    """Return the ids of a BEP721's items that an address owns, those first moved last first."""
    limit, offset = parameters.limit_and_offset()
    owner, token = parameters.address(), parameters.address("contractaddress")
    ids, total = reader().row(
        "queries/token_items_list_by_owner",
        is_unbounded=True,
        owner=owner,
        token=token,
        most=MOST_OWNED,
        limit=limit,
        offset=offset,
    )
    if total is None:
        raise Failure(TOO_MANY_OWNED)
    if reader().first_block:
        reader().notes["X-Scan-Balances-Since"] = reader().first_block
    note_sums(reader(), token)
    rows = [{"TokenAddress": to_hex(token), "TokenId": id_} for id_ in ids]
    return rows_reply(rows, NO_DATA, total)


def _held(parameters: Parameters, token_type: str, form: str) -> Reply:
    limit, offset = parameters.limit_and_offset()
    page = addresses.tokens_held(reader(), parameters.address(), Window(limit, offset), token_type)
    return rows_reply(renamed_rows(form, page.data), NO_DATA, page.total)


def _balances(keys: list[bytes], tag: str) -> list[str]:
    """Return balances in wei at the newest indexed block, or at another block from the node."""
    if tag == "latest":
        balances = [account.balance for account in addresses.get_many(reader(), keys)]
        if not all(balance.is_current for balance in balances):  # the response has no block number
            raise UpstreamFailed(request_node.NOT_ANSWERING)
        return [balance.required().wei for balance in balances]
    read = _at(tag, [("eth_getBalance", to_hex(address)) for address in keys])
    try:
        return [str(quantity(balance)) for balance in read]
    except BadHex:
        raise UpstreamFailed(request_node.NOT_ANSWERING) from None


def _at(tag: str, calls: Sequence[tuple[str, object]]) -> list[Any]:
    """Return the results of calls, which have a method and its first parameter, after the indexed
    block of a tag or a number. Raises Failure where there is none, or not its state."""
    number: int | None = None
    if tag in ("latest", "pending"):
        block = reader().once(blocks.newest)
    else:
        if tag in request_node.TAGS:
            number = getattr(blocks.finality(reader()), tag)
        else:
            number = 0 if tag == "earliest" else min(int(tag, 16), BIGINT_MAX)
        block = BlockId.of(number, number if number is None else blocks.hash_at(reader(), number))
    if block is None and (number is None or number >= reader().first_block):
        raise Failure("Error! This block is not indexed")
    try:
        at = block or hex(number or 0)  # one before the index is the node's word
        of_block = [client.Call(method, (parameter, at)) for method, parameter in calls]
        if block is not None:
            return request_node.read(reader().node, block, of_block)
        results = reader().node.results(of_block)
        if not any(isinstance(r, client.RpcError) and not r.is_refusal for r in results):
            return results
    except HistoryUnavailable:
        pass
    raise Failure("Error! The node does not have the state of this block")


def _integer_at(parameters: Parameters, call_data: str, tag: str) -> str:
    """Return the integer that a view function of a token returns after a block, as text."""
    contract = parameters.address("contractaddress")
    call = {"to": to_hex(contract), "data": call_data, "gas": hex(CALL_GAS)}
    [result] = _at(tag, [("eth_call", call)])
    if isinstance(result, client.RpcError) and not result.is_refusal:
        raise UpstreamFailed(request_node.NOT_ANSWERING)
    try:
        returned = data(result)
    except BadHex:
        raise _Refused("Error! The call of the contract failed") from None
    if len(returned) < 32:
        raise _Refused("Error! The contract does not have this function")
    return str(int.from_bytes(returned[:32], "big"))


NO_TOKENS = "No tokens found"
NO_CONTRACT = "Contract address not found"


def token_list(parameters: Parameters) -> Reply:
    """Return the tokens that an address holds."""
    limit, offset = parameters.limit_and_offset()
    page = addresses.tokens_held(reader(), parameters.address(), Window(limit, offset))
    return rows_reply(renamed_rows("held_token", page.data), NO_TOKENS)


def get_token(parameters: Parameters) -> Reply:
    try:
        record = orjson.loads(tokens.get(reader(), parameters.address("contractaddress")))
    except NotFound:
        raise Failure(NO_CONTRACT) from None
    return Reply(renamed("token_details", record))


def get_token_holders(parameters: Parameters) -> Reply:
    limit, offset = parameters.limit_and_offset()
    address = parameters.address("contractaddress")
    try:
        page = tokens.holders(reader(), address, Window(limit, offset))
    except NotFound:
        raise Failure(NO_CONTRACT) from None
    return rows_reply(renamed_rows("holder_in_blockscouts_form", page.data), NO_TOKENS, page.total)


NOT_KNOWN = "Error! An earlier transfer may be missing: {}"


def funded_by(parameters: Parameters) -> Reply:
    """Return the first transfer of coin to an address. Raises Failure where an earlier one may not
    be indexed."""
    try:
        first = funding.first_funding(reader(), parameters.address())
    except NotFound as error:
        raise Failure(NOT_KNOWN.format(error.message)) from None
    if first is None:
        raise Failure(None, NO_DATA)
    record = {
        "block": first.block_number,
        "timeStamp": str(first.timestamp_s),
        "fundingAddress": to_hex(first.from_address),
        "fundingTxn": to_hex(first.transaction_hash),
        "value": first.value_wei,
    }
    return Reply(record)


MOST_ADDRESSES = 100
# What nobody gives here.
UNKNOWN: Mapping[str, object] = {
    **dict.fromkeys(("internal_nametag", "url", "shortdescription", "notes_1", "notes_2"), ""),
    **{name: [] for name in ("labels", "labels_slug", "other_attributes")},
    **dict.fromkeys(("reputation", "lastupdatedtimestamp"), None),
}


def address_tags(parameters: Parameters) -> Reply:
    """Return the addresses that have a label."""
    listed = parameters.addresses("address", MOST_ADDRESSES)
    parties = addresses.parties(reader(), listed)
    rows = [
        {"address": address, "nametag": parties[address]["label"], **UNKNOWN}
        for address in dict.fromkeys(map(to_hex, listed))
        if parties.get(address, {}).get("label")
    ]
    return rows_reply(rows, NO_DATA)
