"""What no root covers of a block: unknown types, and fields that look like another chain's form."""

import logging
from functools import partial

import pytest

from scan.ethereum import block_validation, client, rlp_and_tries
from scan.ethereum.blocks import MalformedBlock
from scan.indexer import block_source
from tests.support import faulty_node, mined_chain
from tests.support.anvil import Anvil

BLOCKS = 4
source_of = partial(block_source.BlockSource, stores_bodies=True)


@pytest.fixture(scope="module")
def plain():
    with Anvil() as node:
        yield _with_blocks(node)


@pytest.fixture(scope="module")
def mainnet():
    with Anvil("--chain-id", "1") as node:
        yield _with_blocks(node)


def _with_blocks(node):
    for number in range(BLOCKS):
        node.send(node.accounts[0], node.accounts[1], value=number + 1)
        node.mine()
    return node


class Altered:
    """A Fault: alters transactions and receipts of some blocks, the first so many times, of a node
    that is not known as one for tests."""

    def __init__(self, alter, blocks, times):
        self._alter, self._blocks, self._remaining = alter, {hex(n) for n in blocks}, times
        self.reads = []  # blocks, by number

    def __call__(self, calls, forward):
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            if call["method"] == "eth_getBlockByNumber":
                self.reads.append(call["params"][0])
            elif call["method"] == "web3_clientVersion":
                answer["result"] = "Geth/v1.16.7"
            result = answer.get("result")
            records = result["transactions"] if isinstance(result, dict) else result
            if isinstance(records, list) and call["params"][0] in self._blocks and self._remaining:
                self._remaining -= isinstance(result, list)  # with its receipts a block is read
                self._alter(records)
        return faulty_node.Reply(body=answers)


def unknown_type(records):
    """With hashes that no known type gives."""
    for record in records:
        record["type"] = "0x50"
        for name in ("hash", "transactionHash"):
            if name in record:
                record[name] = "0x5050" + record[name][6:]


def fee_for_l1(records):
    for record in records:
        if "cumulativeGasUsed" in record:
            record["l1Fee"] = "0x64"


ALWAYS = 1_000
NOBODY = "0x" + "00" * 20
LISTS = ("eth_getBlockByNumber", "eth_getBlockReceipts")


@pytest.mark.parametrize("alter", [unknown_type, fee_for_l1])
def test_one_lie_about_what_no_root_covers_changes_nothing(plain, alter):
    true = source_of(client.Node([plain.url])).blocks(0, BLOCKS)
    with faulty_node.FaultyNode(plain.url) as node:
        node.fault = Altered(alter, {3}, times=1)
        assert source_of(client.Node([node.url])).blocks(0, BLOCKS) == true
        node.fault = Altered(alter, {3}, times=ALWAYS)
        assert source_of(client.Node([node.url, plain.url])).blocks(0, BLOCKS) == true


def test_a_form_that_only_fields_show_is_said_of_each_block_of_unknown_chains(plain, caplog):
    with faulty_node.FaultyNode(plain.url) as node, caplog.at_level(logging.WARNING):
        node.fault = fault = Altered(fee_for_l1, {2, 3, 4}, times=ALWAYS)
        blocks = [fetched.block for fetched in source_of(client.Node([node.url])).blocks(0, BLOCKS)]
    words = "fields of Scroll"
    assert [block.unproven for block in blocks] == [None, None, *[words] * 3]
    assert caplog.messages == [f"block 2, and maybe later ones, are not proven: {words}"]
    assert [fault.reads.count(hex(number)) for number in (2, 3, 4)] == [3, 1, 1]


def test_a_node_that_gives_a_known_reason_does_not_keep_the_next_node_from_being_asked(plain):
    true = source_of(client.Node([plain.url])).blocks(0, BLOCKS)
    with faulty_node.FaultyNode(plain.url) as node, faulty_node.FaultyNode(plain.url) as other:
        node.fault = other.fault = Altered(fee_for_l1, {2}, times=ALWAYS)
        source = source_of(client.Node([node.url, other.url]))
        assert source.blocks(2, 2)[0].block.unproven == "fields of Scroll"
        node.fault, other.fault = Altered(fee_for_l1, {3, 4}, times=ALWAYS), None
        assert source.blocks(3, BLOCKS) == true[3:]


@pytest.mark.parametrize("chain_id", [31_337, 1])
def test_a_type_that_nobody_knows_is_refused_without_its_bytes(plain, chain_id):
    with faulty_node.FaultyNode(plain.url) as node:
        node.fault = Altered(unknown_type, {3}, times=ALWAYS)
        source = source_of(client.Node([node.url]))
        source.expect(chain_id)
        with pytest.raises(MalformedBlock, match=r"block 3 .*\(transactions of type 80, unknown"):
            source.blocks(3, 3)


def another_chain(records):
    """As one field of one transaction says: Celo's, whose blocks were of a form of their own."""
    for record in records:
        if "cumulativeGasUsed" in record:
            record["gasUsed"] = record["cumulativeGasUsed"] = "0x5209"
        else:
            record |= {"chainId": hex(42_220), "v": "0x149f3"}


def test_no_field_of_a_transaction_makes_a_body_pass(mainnet):
    with faulty_node.FaultyNode(mainnet.url) as node:
        node.fault = Altered(another_chain, {3}, times=ALWAYS)
        with pytest.raises(MalformedBlock, match="transactions and transactionsRoot"):
            source_of(client.Node([node.url])).blocks(3, 3)


def false_type(records):
    for record in records:
        record["type"] = "0x50"


def test_a_type_that_a_transactions_hash_belies_contradicts_its_block(mainnet):
    true = source_of(client.Node([mainnet.url])).blocks(0, BLOCKS)
    with faulty_node.FaultyNode(mainnet.url) as node:
        node.fault = Altered(false_type, {3}, times=ALWAYS)
        with pytest.raises(MalformedBlock, match="types of transactions and their hashes"):
            source_of(client.Node([node.url])).blocks(3, BLOCKS)
        node.fault = Altered(false_type, {3}, times=ALWAYS)
        assert source_of(client.Node([node.url, mainnet.url])).blocks(0, BLOCKS) == true
        node.fault = Altered(fee_for_l1, {3}, times=ALWAYS)
        assert source_of(client.Node([node.url])).blocks(0, BLOCKS) == true


@faulty_node.altering
def with_state_sync(call, answer):
    """Polygon's, in block 3, with a log that nobody emitted; it is in no root."""
    result, method = answer["result"], call["method"]
    if call["params"][:1] != ["0x3"] or method not in LISTS:
        return
    records = result["transactions"] if isinstance(result, dict) else result
    number, block = bytes([*bytes(7), 3]), bytes.fromhex(records[0]["blockHash"][2:])
    hash_ = "0x" + rlp_and_tries.keccak256(b"matic-bor-receipt-" + number + block).hex()
    log = {"address": NOBODY, "topics": [], "data": "0x", "logIndex": "0x0"}
    zeros = dict.fromkeys(("value", "gas", "gasPrice", "nonce", "type", "v", "r", "s"), "0x0")
    zeros |= dict.fromkeys(("gasUsed", "cumulativeGasUsed", "effectiveGasPrice"), "0x0")
    own = {"hash": hash_, "transactionHash": hash_, "from": NOBODY, "to": NOBODY}
    own |= {"input": "0x", "status": "0x1", "contractAddress": None, "logs": [log]}
    index = {"transactionIndex": hex(len(records)), "blockHash": records[0]["blockHash"]}
    records.append(zeros | own | index | {"logsBloom": "0x" + "00" * 256})


def test_a_state_sync_is_none_on_ethereum_and_named_elsewhere(mainnet, plain, caplog):
    true = source_of(client.Node([mainnet.url])).blocks(0, BLOCKS)
    with faulty_node.FaultyNode(mainnet.url) as node:
        node.fault = with_state_sync
        assert source_of(client.Node([node.url, mainnet.url])).blocks(0, BLOCKS) == true
        [(header, receipts)] = source_of(client.Node([node.url])).raw_blocks(3, 3)
        contradiction = block_validation.check_body(header, receipts, chain_id=1).contradiction
        assert contradiction == "transactions and transactionsRoot"
    with faulty_node.FaultyNode(plain.url) as node, caplog.at_level(logging.WARNING):
        node.fault = with_state_sync
        block = source_of(client.Node([node.url])).blocks(3, 3)[0].block
    assert len(block.transactions) == 2
    assert caplog.messages == ["block 3, and maybe later ones, are not proven: a state sync"]


def test_before_byzantium_a_block_is_unproven_where_a_transaction_used_all_its_gas():
    """Receipts have no status then, and what failed used all."""
    with Anvil(hardfork="homestead") as anvil, faulty_node.FaultyNode(anvil.url) as node:
        anvil.send(anvil.accounts[0], anvil.accounts[1], gas=50_000, gasPrice=10**10)
        anvil.mine()
        anvil.send(anvil.accounts[0], None, data="0xfe", gas=60_000, gasPrice=10**10)
        anvil.mine()
        node.fault = mined_chain.MinedChain(anvil, {}, head=2)
        blocks = source_of(client.Node([node.url]), traces="off").blocks(1, 2)
    assert [fetched.block.unproven for fetched in blocks] == [None, block_validation.STATUSES]
