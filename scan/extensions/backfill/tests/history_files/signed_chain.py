"""A chain whose transactions are all signed, as a file has it, and files of it.

Anvil leaves the list of withdrawals out of a block's size, which `sized` adds.
"""

from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.client import Node
from scan.extensions.backfill.history_export import file_name, write_file
from scan.extensions.backfill.raw_block import parts_of
from scan.extensions.block_records.uncles.block_completion import BlockCompleter
from scan.indexer.block_source import BlockSource
from scan.indexer.node_reader import read_hash
from tests.support.faulty_node import altering, before
from tests.support.scenario import contracts, hostile_tokens, tokens, transactions
from tests.support.scenario.malformed_logs import malformed_logs
from tests.support.scenario.stage import GWEI, Stage

CHAIN_ID = 31_337
ACTS = (
    tokens.honest_tokens,
    tokens.collections,
    tokens.items,
    tokens.wrappers,
    contracts.creations,
    contracts.failures,
    transactions.plain_transfers,
    contracts.purses,
    hostile_tokens.liar,
    malformed_logs,
    transactions.zero_price,
)


def play(node):
    stage = Stage(node)
    for act in ACTS:
        act(stage)
    signer, authority = transactions.key_of(7), transactions.key_of(8)
    nonce = transactions.nonce_of(stage, authority)
    vault = bytes.fromhex(stage.contracts["vault"].address[2:])
    authorization = authority.sign_authorization(
        {"chainId": CHAIN_ID, "address": vault, "nonce": nonce}
    )
    fees = {"maxFeePerGas": 20 * GWEI, "maxPriorityFeePerGas": GWEI}
    access = {"address": stage.contracts["gold"].address, "storageKeys": ["0x" + 64 * "0"]}
    priced = {"gasPrice": 20 * GWEI}
    transactions.send_signed(stage, signer, priced)
    transactions.send_signed(stage, signer, {**priced, "accessList": [access], "type": 1})
    transactions.send_signed(stage, signer, {**fees, "type": 2})
    transactions.send_signed(
        stage, signer, {**fees, "authorizationList": [authorization], "type": 4}
    )
    node.mine(4)


def sized(fault=None):
    """The node with true sizes of blocks, and with `fault`."""

    @altering
    def reply(_, answer):
        block = answer.get("result")
        if isinstance(block, dict) and block.get("withdrawalsRoot") and "size" in block:
            block["size"] = hex(int(block["size"], 16) + 1)

    return reply if fault is None else before(reply, fault)


def write(url, folder, last, first=0):
    """A file of a node's blocks."""
    source = BlockSource(node := Node([url]), traces="off")
    hash_ = read_hash(node, last)
    assert hash_ is not None
    path = folder / file_name("test", first, hash_)
    write_file(source, BlockCompleter(node, source.chain_id), path, first, last, hash_)
    return path


def structs(url, first, last):
    source = BlockSource(Node([url]), traces="off")
    for number, pair in enumerate(source.raw_blocks(first, last), start=first):
        header, receipts = pair
        yield read_json(header, BlockJson, number), read_json(receipts, ReceiptsJson, number)


def parts(url, first, last):
    return [parts_of(header, receipts, ()) for header, receipts in structs(url, first, last)]
