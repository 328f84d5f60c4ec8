"""Lists that a proven header, or a transaction's type, proves to be absent; prices of blobs, which
follow from the header."""

from contextlib import contextmanager

import pytest

from scan.ethereum import blocks, fork_schedule
from scan.extensions.demo.tests.replaying import served
from tests.support.chain_forms import accounts, made_chain
from tests.support.faulty_node import altering
from tests.support.indexing import source_of

ALICE, BOB = accounts.address("Alice"), accounts.address("Bob")
MAINNET, UNKNOWN = 1, 987_654
EXCESS, PRICE = 40_000_000, 159_773  # by Cancun's fraction
BPO2_S = 1_767_747_671  # of mainnet's last fork
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
        yield source_of(node, traces="off")


def refused(contradiction):
    return pytest.raises(blocks.MalformedBlock, match=rf"contradicts itself \({contradiction}\)")


WITHDRAWAL = dict.fromkeys(("index", "validatorIndex"), "0x1") | {
    "address": "0x" + "33" * 20,
    "amount": hex(10**15),
}


def false_price(receipts):
    """131 coins for a blob, within the most that its sender pays."""
    receipts[-1]["blobGasPrice"] = hex(10**15)


NO_PRICE = "blobGasPrice and excessBlobGas"
LATER = {"timestamp": BPO2_S + 10**6, "excessBlobGas": EXCESS}
# A chain, the lies of its node, and what contradicts itself.
CONTRADICTIONS = {
    "withdrawals before Shanghai": (
        made(),
        {"alter": lambda block: block.update(withdrawals=[WITHDRAWAL])},
        "withdrawals and withdrawalsRoot",
    ),
    "uncles that the header has not": (
        made(),
        {"alter": lambda block: block.update(uncles=["0x" + "44" * 32])},
        "uncles and sha3Uncles",
    ),
    "a false price of blobs": (made(blobs=1), {"alter_receipts": false_price}, NO_PRICE),
    "a price beyond what a sender pays": (
        made(blobs=1, most=PRICE - 1),
        {},
        "blobGasPrice and maxFeePerBlobGas",
    ),
    "the same on a chain whose schedule is not known": (
        made(UNKNOWN, blobs=1, most=PRICE - 1),
        {},
        "blobGasPrice and maxFeePerBlobGas",
    ),
    "another number of blobs than the header's": (
        made(blobs=2, blobGasUsed=BLOB_GAS),
        {},
        "blobs and blobGasUsed",
    ),
    "no price and no schedule": (made(UNKNOWN, blobs=1, price=None), {}, NO_PRICE),
    "a price of no known fork": (made(blobs=1, price=7, **LATER), {}, NO_PRICE),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_block_that_contradicts_itself_is_refused(name):
    chain, lies, contradiction = CONTRADICTIONS[name]
    with source(chain, **lies) as reader, refused(contradiction):
        reader.blocks(1, 1)


def block_of(chain, **lies):
    with source(chain, **lies) as reader:
        [fetched] = reader.blocks(1, 1)
    return fetched.block


def test_an_empty_list_of_withdrawals_before_shanghai_is_none():
    block = block_of(made(), alter=lambda block: block.update(withdrawals=[]))
    assert block.withdrawals is None


REFUSED = [
    *((name, 0, f"{name} of transactions of type 0") for name in LISTS),
    ("accessList", 2, "transactions and transactionsRoot"),
    ("blobVersionedHashes", 2, "blobVersionedHashes of transactions of type 2"),
    ("authorizationList", 2, "authorizationList of transactions of type 2"),
]


@pytest.mark.parametrize(("name", "type_", "expected"), REFUSED)
def test_lists_that_a_type_has_not_are_refused(name, type_, expected):
    def add(block):
        sent = next(t for t in block["transactions"] if int(t["type"], 16) == type_)
        sent[name] = LISTS[name]

    with source(made(), add) as reader, refused(expected):
        reader.blocks(1, 1)


def test_amounts_that_a_type_has_not_are_not_stored():
    """Some nodes give them; a fee or a price follows from none of them."""
    chain = made()
    true = block_of(chain)

    def add(block):
        for sent in block["transactions"]:
            sent["maxFeePerBlobGas"] = "0x7777"
            if sent["type"] == "0x0":
                sent |= {"maxFeePerGas": "0x7777", "maxPriorityFeePerGas": "0x7777"}

    def price(receipts):
        for receipt in receipts:
            receipt["blobGasPrice"] = hex(10**18)

    assert block_of(chain, alter=add, alter_receipts=price) == true
    assert true.transactions[0].max_fee_per_gas is None


@pytest.mark.parametrize("blobs", [1, 3])
@pytest.mark.parametrize("price", [PRICE, None])
def test_fees_of_blobs_are_computed(price, blobs):
    """Where receipts have a price, and where they have none."""
    block = block_of(made(blobs=blobs, price=price))
    assert (block.unproven, block.blob_base_fee) == (None, PRICE)
    assert block.blob_fees == PRICE * BLOB_GAS * blobs


def fork(time_s, fraction):
    return {"activationTime": time_s, "blobSchedule": {"baseFeeUpdateFraction": fraction}}


def config(time_s, fraction):
    return {"current": fork(time_s, fraction), "next": None, "last": None}


def test_a_price_by_a_schedule_that_is_not_known_is_said():
    """It is the node's, or that by its eth_config where receipts have none."""
    by_config = block_of(made(UNKNOWN, blobs=1, price=None), config=config(0, 3_338_477))
    for block in (block_of(made(UNKNOWN, blobs=1)), by_config):
        assert (block.unproven, block.blob_base_fee) == (fork_schedule.PRICES, PRICE)


def test_the_least_price_is_proven_on_every_chain():
    assert block_of(made(UNKNOWN, blobs=1, price=1, excessBlobGas=0)).unproven is None


def test_a_fork_of_blobs_that_this_version_does_not_know_needs_the_nodes_schedule():
    """A node that lies in a receipt alone is refused; its schedule is said."""
    known, bpo3 = config(BPO2_S, 11_684_671), config(BPO2_S + 10**5, 20_000_000)
    bpo2_price = 30
    block = block_of(made(blobs=1, price=bpo2_price, **LATER), config=known)
    assert (block.unproven, block.blob_base_fee) == (None, bpo2_price)
    block = block_of(made(blobs=1, price=7, **LATER), config=bpo3)
    assert (block.unproven, block.blob_base_fee) == (fork_schedule.PRICES, 7)
