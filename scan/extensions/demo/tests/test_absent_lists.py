"""Lists that a proven header, or a transaction's type, proves to be absent; prices of blobs, which
follow from the header."""

from contextlib import contextmanager

import pytest

from scan.ethereum import blocks, client, fork_schedule
from scan.extensions.demo.tests.replaying import served
from scan.indexer.block_source import BlockSource
from tests.support.chain_forms import accounts, made_chain
from tests.support.faulty_node import altering

ALICE, BOB = accounts.address("Alice"), accounts.address("Bob")
MAINNET, UNKNOWN = 1, 987_654
EXCESS, PRICE = 40_000_000, 159_773  # by Cancun's fraction
BPO2_S = 1_767_747_671  # of mainnet's last fork
BPO2_PRICE = 30
BLOB_GAS = 131_072
AUTHORIZATION = {
    **dict.fromkeys(("chainId", "nonce", "yParity"), "0x1"),
    "address": "0x" + "11" * 20,
    "r": "0x5",
    "s": "0x6",
}
LISTS = {
    "accessList": [{"address": "0x" + "11" * 20, "storageKeys": []}],
    "blobVersionedHashes": ["0x01" + "22" * 31],
    "authorizationList": [AUTHORIZATION],
}


def made(chain_id=MAINNET, *, price=PRICE, most=made_chain.ETH, blobs=0, **header):
    """A chain whose block 1 has transactions of types 0 and 2, and of type 3 with so many blobs."""
    chain = made_chain.MadeChain(chain_id, {ALICE: made_chain.ETH, BOB: made_chain.ETH})
    chain.pay(ALICE, BOB, 1, type=0)
    chain.pay(BOB, ALICE, 2)
    if blobs:
        receipt = {} if price is None else {"blobGasPrice": price}
        hashes = [bytes([1]) + made_chain.word(f"blob {n}")[1:] for n in range(blobs)]
        fields = {"maxFeePerBlobGas": most, "blobVersionedHashes": hashes}
        chain.pay(ALICE, BOB, 3, type=3, receipt=receipt, **fields)
        gas = {"withdrawalsRoot": made_chain.word("r"), "blobGasUsed": BLOB_GAS * blobs}
        header = {**gas, "excessBlobGas": EXCESS, **header}
        header["withdrawalsRoot"] = bytes.fromhex(
            "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
        )
        header["withdrawals"] = []
    chain.mine(**header)
    return chain


@contextmanager
def source(chain, alter=lambda block: None, alter_receipts=lambda receipts: None, config=None):
    """Of a node that alters block 1, and may have an eth_config."""

    def change(call, answer):
        if call["method"] == "eth_config" and config is not None:
            answer.pop("error", None)
            answer["result"] = config
        if call["method"] == "eth_getBlockByNumber" and call["params"] == ["0x1", True]:
            alter(answer["result"])
        if call["method"] == "eth_getBlockReceipts":
            alter_receipts(answer["result"])

    with served(chain, altering(change)) as node:
        yield BlockSource(client.Node([node.url]), traces="off")


def refused(contradiction):
    return pytest.raises(blocks.MalformedBlock, match=rf"contradicts itself \({contradiction}\)")


WITHDRAWAL = dict.fromkeys(("index", "validatorIndex"), "0x1") | {
    "address": "0x" + "33" * 20,
    "amount": hex(10**15),
}


def test_withdrawals_before_shanghai_are_refused():
    """The header has no root of any: a million coins came from nowhere."""

    def withdraw(block):
        block["withdrawals"] = [WITHDRAWAL]

    with source(made(), withdraw) as reader, refused("withdrawals and withdrawalsRoot"):
        reader.blocks(1, 1)


def test_an_empty_list_of_withdrawals_before_shanghai_is_none():
    with source(made(), lambda block: block.update(withdrawals=[])) as reader:
        assert reader.blocks(1, 1)[0].block.withdrawals is None


def test_uncles_that_the_header_has_not_are_refused():
    with (
        source(made(), lambda block: block.update(uncles=["0x" + "44" * 32])) as reader,
        refused("uncles and sha3Uncles"),
    ):
        reader.blocks(1, 1)


@pytest.mark.parametrize("type_", [0, 2])
@pytest.mark.parametrize("name", LISTS)
def test_lists_that_a_type_has_not_are_refused(name, type_):
    def add(block):
        sent = next(t for t in block["transactions"] if int(t["type"], 16) == type_)
        sent[name] = LISTS[name]

    if (name, type_) == ("accessList", 2):
        expected = "transactions and transactionsRoot"
    else:
        expected = f"{name} of transactions of type {type_}"
    with source(made(), add) as reader, refused(expected):
        reader.blocks(1, 1)


def test_amounts_that_a_type_has_not_are_not_stored():
    """Some nodes give them; a fee or a price follows from none of them."""
    chain = made()
    with source(chain) as reader:
        true = reader.blocks(1, 1)

    def add(block):
        for sent in block["transactions"]:
            sent["maxFeePerBlobGas"] = "0x7777"
            if sent["type"] == "0x0":
                sent |= {"maxFeePerGas": "0x7777", "maxPriorityFeePerGas": "0x7777"}

    def price(receipts):
        for receipt in receipts:
            receipt["blobGasPrice"] = hex(10**18)

    with source(chain, add, price) as reader:
        assert reader.blocks(1, 1) == true
    assert true[0].block.transactions[0].max_fee_per_gas is None


@pytest.mark.parametrize("blobs", [1, 3])
@pytest.mark.parametrize("price", [PRICE, None])
def test_fees_of_blobs_are_computed(price, blobs):
    """Where receipts have a price, and where they have none."""
    with source(made(blobs=blobs, price=price)) as reader:
        [fetched] = reader.blocks(1, 1)
    assert fetched.block.unproven is None
    assert fetched.block.blob_base_fee == PRICE
    assert fetched.block.blob_fees == PRICE * BLOB_GAS * blobs


def test_a_false_price_of_blobs_is_refused():
    """131 coins for a blob, within the most that its sender pays."""

    def lie(receipts):
        receipts[-1]["blobGasPrice"] = hex(10**15)

    with (
        source(made(blobs=1), alter_receipts=lie) as reader,
        refused("blobGasPrice and excessBlobGas"),
    ):
        reader.blocks(1, 1)


def test_a_price_beyond_the_most_that_a_sender_pays_is_refused():
    """On chains whose schedule is not known, too."""
    for chain_id in (MAINNET, UNKNOWN):
        with (
            source(made(chain_id, blobs=1, most=PRICE - 1)) as reader,
            refused("blobGasPrice and maxFeePerBlobGas"),
        ):
            reader.blocks(1, 1)


def test_another_number_of_blobs_than_the_headers_is_refused():
    with source(made(blobs=2, blobGasUsed=BLOB_GAS)) as reader, refused("blobs and blobGasUsed"):
        reader.blocks(1, 1)


def fork(time_s, fraction):
    return {"activationTime": time_s, "blobSchedule": {"baseFeeUpdateFraction": fraction}}


def config(time_s, fraction):
    return {"current": fork(time_s, fraction), "next": None, "last": None}


def test_a_price_by_a_schedule_that_is_not_known_is_said():
    """It is the node's, or that by its eth_config where receipts have none."""
    with source(made(UNKNOWN, blobs=1)) as reader:
        [fetched] = reader.blocks(1, 1)
    assert (fetched.block.unproven, fetched.block.blob_base_fee) == (fork_schedule.PRICES, PRICE)
    with source(made(UNKNOWN, blobs=1, price=None), config=config(0, 3_338_477)) as reader:
        [fetched] = reader.blocks(1, 1)
    assert (fetched.block.unproven, fetched.block.blob_base_fee) == (fork_schedule.PRICES, PRICE)
    with (
        source(made(UNKNOWN, blobs=1, price=None)) as reader,
        refused("blobGasPrice and excessBlobGas"),
    ):
        reader.blocks(1, 1)


def test_the_least_price_is_proven_on_every_chain():
    with source(made(UNKNOWN, blobs=1, price=1, excessBlobGas=0)) as reader:
        assert reader.blocks(1, 1)[0].block.unproven is None


def test_a_fork_of_blobs_that_this_version_does_not_know_needs_the_nodes_schedule():
    """A node that lies in a receipt alone is refused; its schedule is said."""
    later = {"timestamp": BPO2_S + 10**6, "excessBlobGas": EXCESS}
    with (
        source(made(blobs=1, price=7, **later)) as reader,
        refused("blobGasPrice and excessBlobGas"),
    ):
        reader.blocks(1, 1)
    known = config(BPO2_S, 11_684_671)
    with source(made(blobs=1, price=BPO2_PRICE, **later), config=known) as reader:
        [fetched] = reader.blocks(1, 1)
    assert (fetched.block.unproven, fetched.block.blob_base_fee) == (None, BPO2_PRICE)
    bpo3 = config(BPO2_S + 10**5, 20_000_000)
    with source(made(blobs=1, price=7, **later), config=bpo3) as reader:
        [fetched] = reader.blocks(1, 1)
    assert (fetched.block.unproven, fetched.block.blob_base_fee) == (fork_schedule.PRICES, 7)
