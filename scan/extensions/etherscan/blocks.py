"""module=block, and lists of blocks and withdrawals of module=account."""

import orjson

from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters, result_window
from scan.extensions.etherscan.replies import Failure, Reply, RpcReply, rows_reply
from scan.http.requests import reader
from scan.parameters import BIGINT_MAX
from scan.queries import blocks, withdrawals

NO_BLOCKS = "No blocks found"
NO_WITHDRAWALS = "No transactions found"
NO_SUCH_BLOCK = "Block does not exist"
PASSED = "Error! Block number already pass"
NOTHING_INDEXED = "Error! No block is indexed"


def mined_blocks(parameters: Parameters) -> Reply:
    if parameters.text("blocktype", "blocks").lower() != "blocks":
        raise Failure("Error! Only blocktype=blocks is offered")
    limit, offset = result_window(parameters)
    kept_from = reader().kept_from
    since = kept_from.number if kept_from else 0
    rows, _ = blocks.by_miner(reader(), parameters.address(), limit, offset, since=since)
    return rows_reply([renamed("mined_block", row) for row in rows], NO_BLOCKS)


def beacon_withdrawals(parameters: Parameters) -> Reply:
    """Return withdrawals with their amounts in gwei, as the consensus layer counts."""
    limit, offset = result_window(parameters)
    window = parameters.window()._replace(limit=limit, offset=offset)
    rows = [
        renamed("withdrawal", record)
        for record in withdrawals.page(reader(), window, address=parameters.address())
    ]
    return rows_reply(rows, NO_WITHDRAWALS)


def block_reward(parameters: Parameters) -> Reply:
    """Return the income of a block's producer: the reward for proof of work, and the fees that were
    not burnt."""
    number = _block_number(parameters)
    body = blocks.get(reader(), number)
    if body is None:
        raise Failure(NO_SUCH_BLOCK)
    record = orjson.loads(body)
    amounts = blocks.amounts(reader(), [number]).get(str(number))
    if amounts is None:
        raise Failure(NO_SUCH_BLOCK)
    if amounts["reward"] is None:
        raise Failure(f"Error! {reader().not_indexed('The reward is not known.').message}")
    return Reply(
        {
            "blockNumber": str(number),
            "timeStamp": str(amounts["seconds"]),
            "blockMiner": record["miner"],
            "blockReward": amounts["reward"],
            "uncles": [
                {
                    "miner": uncle["miner"],
                    "unclePosition": str(index),
                    "blockreward": uncle["reward"],
                }
                for index, uncle in enumerate(record.get("uncles", []))
            ],
            "uncleInclusionReward": amounts["uncleInclusionReward"],
        }
    )


def row_counts(parameters: Parameters) -> Reply:
    """Return how many rows the lists of transactions and transfers have of a block."""
    number = _block_number(parameters)
    body = blocks.get(reader(), number)
    internal = blocks.amounts(reader(), [number]).get(str(number), {}).get("internalTransfers")
    if body is None:
        raise Failure(NO_SUCH_BLOCK)
    kept_from = reader().kept_from
    if internal is None or (kept_from is not None and number < kept_from.number):
        raise Failure(f"Error! {reader().not_indexed('The rows are not known.').message}")
    of_types = reader().row("queries/token_transfers_count_by_type", block_number=number)
    names = ("erc20TxsCount", "erc721TxsCount", "erc1155TxsCount")
    return Reply(
        {
            "block": number,
            "txsCount": orjson.loads(body)["txCount"],
            "internalTxsCount": internal,
            **dict(zip(names, of_types, strict=True)),
        }
    )


def block_countdown(parameters: Parameters) -> Reply:
    target = _block_number(parameters)
    countdown = blocks.countdown(reader(), target)
    if countdown is None:
        raise Failure(NOTHING_INDEXED)
    if not countdown.remaining:
        raise Failure(PASSED)
    return Reply(
        {
            "CurrentBlock": str(countdown.newest),
            "CountdownBlock": str(target),
            "RemainingBlock": str(countdown.remaining),
            "EstimateTimeInSec": countdown.seconds,
        }
    )


def newest_block(_parameters: Parameters) -> RpcReply:
    """Return the newest indexed block in JSON-RPC's form, as Blockscout does."""
    return RpcReply("result", hex(_newest()))


def _newest() -> int:
    newest = blocks.newest_number(reader())
    if newest is None:
        raise Failure(NOTHING_INDEXED)
    return newest


def _block_number(parameters: Parameters) -> int:
    parameters.required("blockno")
    return min(parameters.integer("blockno", 0), BIGINT_MAX)
