"""Actions of the whole chain: module=block, transaction, token, gastracker, and stats (days are of
UTC); lists of blocks and withdrawals of module=account.
"""

from datetime import date, timedelta

import orjson

from scan.errors import NotFound
from scan.ethereum.units import in_units
from scan.extensions.chain_statistics import gas_prices, statistics
from scan.extensions.etherscan import account, replies
from scan.extensions.explanations.transactions import queries as explanations
from scan.hex import data
from scan.http.current_request import reader
from scan.parameters import BIGINT_MAX
from scan.queries import addresses, blocks, tokens, transactions
from scan.queries.list_pages import Window

MOST_TOP_HOLDERS = 1_000
# Of tokeninfo: what the publishers of tokens say of them, which nobody gives here.
OF_PUBLISHERS = (
    "blueCheckmark", "description", "website", "email", "blog", "reddit", "slack", "facebook",
    "twitter", "bitcointalk", "github", "telegram", "wechat", "linkedin", "discord", "whitepaper",
    "tokenPriceUSD", "image",
)  # fmt: skip
LATEST_S = 100_000_000_000  # of the year 5138; a time of ours in milliseconds is later


def block_by_time(parameters: replies.Parameters) -> replies.Reply:
    parameters.required("timestamp")
    closest = parameters.text("closest", "before").lower()
    if closest not in ("before", "after"):
        raise replies.Failure("Error! Invalid closest: before or after")
    time_s = parameters.integer("timestamp", 0)
    if time_s > LATEST_S:
        raise replies.Failure("Error! Invalid timestamp: seconds are expected, not milliseconds")
    before, after = blocks.nearest(reader(), time_s)
    number = before if closest == "before" else after
    if number is None:
        raise replies.Failure("Error! No closest block found")
    return replies.Reply(str(number))


def fees_of_day(parameters: replies.Parameters) -> replies.Reply:
    """Return the fees of a day (UTC) in wei."""
    day = parameters.day("date")
    [row] = orjson.loads(statistics.days(reader(), day, day).data) or [None]
    if row is None:
        raise replies.Failure("Error! No blocks of this day are indexed")
    return replies.Reply({"total_fees": row["fees"]})


def receipt_status(parameters: replies.Parameters) -> replies.Reply:
    """Return a receipt's status, which is empty if the transaction is not indexed, and where
    nothing tells whether it succeeded."""
    status = transactions.status(reader(), parameters.hash32("txhash"))
    return replies.Reply({"status": "" if status is None else str(int(status))})


def execution_status(parameters: replies.Parameters) -> replies.Reply:
    body = transactions.get(reader(), parameters.hash32("txhash"))
    if body is None:
        raise replies.Failure("Error! The transaction is not indexed")
    record = orjson.loads(body)
    if transactions.outcome(record) is None:
        return replies.Reply({"isError": "", "errDescription": ""})
    failure = explanations.failure(reader(), record)
    if failure is None:
        return replies.Reply({"isError": "0", "errDescription": ""})
    return replies.Reply({"isError": "1", "errDescription": failure.reason.sentence})


def token(parameters: replies.Parameters) -> replies.Reply:
    try:
        record = orjson.loads(tokens.get(reader(), parameters.address("contractaddress")))
    except NotFound:
        return replies.rows_reply([], account.NO_DATA)
    row = {
        **replies.renamed("token", record),
        "tokenType": tokens.token_standard(record["type"]).replace("-", ""),
        **dict.fromkeys(OF_PUBLISHERS, ""),
    }
    return replies.rows_reply([row], account.NO_DATA)


def token_holder_count(parameters: replies.Parameters) -> replies.Reply:
    try:
        count = tokens.holder_count(reader(), parameters.address("contractaddress"))
    except NotFound:
        return replies.Reply("0")
    return replies.Reply(str(count))


def token_holders(parameters: replies.Parameters) -> replies.Reply:
    limit, offset = parameters.limit_and_offset()
    address = parameters.address("contractaddress")
    try:
        page = tokens.holders(reader(), address, Window(limit, offset))
    except NotFound:
        return replies.rows_reply([], account.NO_DATA, 0)
    rows = replies.renamed_rows("holder", page.data)
    return replies.rows_reply(rows, account.NO_DATA, page.total)


def top_holders(parameters: replies.Parameters) -> replies.Reply:
    """Return the largest holders, with balances in units of the token; addresses with code are of
    the type C, others of E."""
    address = parameters.address("contractaddress")
    limit, _ = parameters.limit_and_offset(MOST_TOP_HOLDERS)
    try:
        decimals = orjson.loads(tokens.get(reader(), address))["decimals"] or 0
        holders = orjson.loads(tokens.holders(reader(), address, Window(limit, 0)).data)
    except NotFound:
        return replies.rows_reply([], account.NO_DATA)
    parties = addresses.parties(reader(), [data(holder["address"]) for holder in holders])
    rows = [
        {
            "TokenHolderAddress": holder["address"],
            "TokenHolderQuantity": in_units(int(holder["balance"]), decimals),
            "TokenHolderAddressType": "C" if parties[holder["address"]]["isContract"] else "E",
        }
        for holder in holders
    ]
    return replies.rows_reply(rows, account.NO_DATA)


def gas_oracle(_parameters: replies.Parameters) -> replies.Reply:
    """Return prices in gwei, with the base fee; the ratios are of the newest five blocks."""
    prices = gas_prices.price(reader())
    if prices["suggestions"] is None:
        raise replies.Failure("Error! No transactions in the newest blocks")
    base_fee = prices["nextBaseFeePerGas"] or prices["baseFeePerGas"] or "0"
    ratios = ",".join(str(block["gasUsedRatio"]) for block in prices["blocks"][:5])
    record = prices | {"baseFee": base_fee, "ratios": ratios}
    return replies.Reply(replies.renamed("gas_prices", record))


NO_BLOCKS = "No blocks found"
BLOCK_NOT_FOUND = "Block does not exist"
PASSED = "Error! Block number already pass"
NOTHING_INDEXED = "Error! No block is indexed"


def mined_blocks(parameters: replies.Parameters) -> replies.Reply:
    if parameters.text("blocktype", "blocks").lower() != "blocks":
        raise replies.Failure("Error! Only blocktype=blocks is offered")
    limit, offset = replies.result_window(parameters)
    miner = parameters.address()
    kept_from = reader().kept_from_of(miner)
    since = kept_from.number if kept_from else 0
    rows, _ = blocks.mined_by(reader(), miner, limit, offset, since=since)
    return replies.rows_reply([replies.renamed("mined_block", row) for row in rows], NO_BLOCKS)


def beacon_withdrawals(parameters: replies.Parameters) -> replies.Reply:
    """Return withdrawals with their amounts in gwei, as the consensus layer counts."""
    limit, offset = replies.result_window(parameters)
    window = parameters.window()._replace(limit=limit, offset=offset)
    listed = blocks.withdrawals_page(reader(), window, address=parameters.address())
    rows = [replies.renamed("withdrawal", record) for record in listed]
    return replies.rows_reply(rows, "No transactions found")


def block_reward(parameters: replies.Parameters) -> replies.Reply:
    """Return the income of a block's producer: the reward for proof of work, and the fees that were
    not burnt."""
    number = _block_number(parameters)
    body = blocks.get(reader(), number)
    if body is None:
        raise replies.Failure(BLOCK_NOT_FOUND)
    record = orjson.loads(body)
    amounts = blocks.amounts(reader(), [number]).get(str(number))
    if amounts is None:
        raise replies.Failure(BLOCK_NOT_FOUND)
    if amounts["reward"] is None:
        raise replies.Failure(f"Error! {reader().not_indexed('The reward is not known.').message}")
    listed = enumerate(record.get("uncles", []))
    uncles = [replies.renamed("uncle", uncle | {"index": index}) for index, uncle in listed]
    return replies.Reply(replies.renamed("reward", record | amounts | {"uncles": uncles}))


def row_counts(parameters: replies.Parameters) -> replies.Reply:
    """Return how many rows the lists of transactions and transfers have of a block."""
    number = _block_number(parameters)
    body = blocks.get(reader(), number)
    internal = blocks.amounts(reader(), [number]).get(str(number), {}).get("internalTransfers")
    if body is None:
        raise replies.Failure(BLOCK_NOT_FOUND)
    kept_from = reader().kept_from
    if internal is None or (kept_from is not None and number < kept_from.number):
        raise replies.Failure(f"Error! {reader().not_indexed('The rows are not known.').message}")
    of_types = reader().row("queries/token_transfers_count_by_type", block_number=number)
    names = ("erc20TxsCount", "erc721TxsCount", "erc1155TxsCount")
    row = {"block": number, "txsCount": orjson.loads(body)["txCount"], "internalTxsCount": internal}
    return replies.Reply(row | dict(zip(names, of_types, strict=True)))


def block_countdown(parameters: replies.Parameters) -> replies.Reply:
    target = _block_number(parameters)
    countdown = blocks.countdown(reader(), target)
    if countdown is None:
        raise replies.Failure(NOTHING_INDEXED)
    if not countdown.remaining:
        raise replies.Failure(PASSED)
    return replies.Reply(replies.renamed("countdown", countdown._asdict() | {"target": target}))


def newest_block(_parameters: replies.Parameters) -> replies.RpcReply:
    """Return the newest indexed block in JSON-RPC's form, as Blockscout does."""
    newest = blocks.newest_number(reader())
    if newest is None:
        raise replies.Failure(NOTHING_INDEXED)
    return replies.RpcReply("result", hex(newest))


def _block_number(parameters: replies.Parameters) -> int:
    parameters.required("blockno")
    return min(parameters.integer("blockno", 0), BIGINT_MAX)


MOST_BLOCKS = 100_000  # which are read in 0.1 s
TOO_MANY_BLOCKS = f"Error! The days have more than {MOST_BLOCKS} blocks: request fewer days"
NOT_OF_ALL = "It is not known of all blocks of these days."
WRONG_DATES = (
    f"Error! startdate and enddate must be in their order and at most {statistics.MAX_DAYS} days"
)


def days_as(object_name: str, parameters: replies.Parameters) -> replies.Reply:
    """Return the days between two dates as objects, the oldest first, or with sort=desc last."""
    return _days(object_name, parameters, statistics.days(reader(), *_dates(parameters)).data)


def block_times(parameters: replies.Parameters) -> replies.Reply:
    """Return the mean time between blocks, of the days that have some."""
    first, last = _dates(parameters)
    (days,) = reader().row("queries/daily_block_times_list", date_from=first, date_to=last)
    return _days("day_of_block_times", parameters, days)


def blocks_as(object_name: str, field: str, parameters: replies.Parameters) -> replies.Reply:
    """Return what the blocks of each day have together as objects, which show `field`."""
    first, last = _dates(parameters)
    (days,) = reader().row(
        "queries/daily_blocks_list",
        is_unbounded=True,
        date_from=first,
        date_to=last,
        most=MOST_BLOCKS,
    )
    if days is None:
        raise replies.Failure(TOO_MANY_BLOCKS)
    if any(day[field] is None for day in orjson.loads(days)):
        raise replies.Failure(f"Error! {reader().not_indexed(NOT_OF_ALL).message}")
    return _days(object_name, parameters, days)


def _dates(parameters: replies.Parameters) -> tuple[date, date]:
    first, last = parameters.day("startdate"), parameters.day("enddate")
    if not timedelta() <= last - first < timedelta(statistics.MAX_DAYS):
        raise replies.Failure(WRONG_DATES)
    return first, last


def _days(object_name: str, parameters: replies.Parameters, days: str) -> replies.Reply:
    rows = replies.renamed_rows(object_name, days)
    if parameters.direction() == "desc":
        rows.reverse()
    return replies.rows_reply(rows, account.NO_DATA)
