"""Lists that a proven header, or a transaction's type, proves to be absent; prices of blobs, which
follow from the header."""

import pytest

from scan.ethereum import blocks, fork_schedule
from scan.extensions.demo.tests.replaying import served
from tests.support.chain_forms import accounts, encoding
from tests.support.chain_forms.made_chain import ETH, MadeChain, word
from tests.support.faulty_node import altering, records_of
from tests.support.indexing import source_of

ALICE, BOB = accounts.address("Alice"), accounts.address("Bob")
SOMEBODY = "0x" + "11" * 20
MAINNET, UNKNOWN = 1, 987_654
EXCESS, PRICE = 40_000_000, 159_773  # by Cancun's fraction
BPO2_S = 1_767_747_671  # of mainnet's last fork
BLOB_GAS = 131_072
LISTS = {
    "accessList": [{"address": SOMEBODY, "storageKeys": []}],
    "blobVersionedHashes": ["0x01" + "22" * 31],
    "authorizationList": [
        dict.fromkeys(("chainId", "nonce", "yParity", "r", "s"), "0x1") | {"address": SOMEBODY}
    ],
}


def made(chain_id=MAINNET, *, price=PRICE, most=ETH, blobs=0, **header):
    """A chain whose block 1 has transactions of types 0 and 2, and of type 3 with so many blobs."""
    chain = MadeChain(chain_id, {ALICE: ETH, BOB: ETH})
    chain.pay(ALICE, BOB, 1, type=0)
    chain.pay(BOB, ALICE, 2)
    if blobs:
        receipt = {} if price is None else {"blobGasPrice": price}
        hashes = [bytes([1]) + word(f"blob {n}")[1:] for n in range(blobs)]
        fields = {"maxFeePerBlobGas": most, "blobVersionedHashes": hashes}
        chain.pay(ALICE, BOB, 3, type=3, receipt=receipt, **fields)
        gas = {"blobGasUsed": BLOB_GAS * blobs, "excessBlobGas": EXCESS}
        header = {"withdrawals": [], "withdrawalsRoot": encoding.list_root([]), **gas, **header}
    chain.mine(**header)
    return chain


def block_of(chain, alter=None, schedule=None):
    """Block 1 of a node that alters it and its receipts, and may have an eth_config: since when,
    and the fraction of its schedule."""

    def change(call, answer):
        if call["method"] == "eth_config" and schedule:
            answer.pop("error", None)
            begins_s, fraction = schedule
            blobs = {"baseFeeUpdateFraction": fraction}
            current = {"activationTime": begins_s, "blobSchedule": blobs}
            answer["result"] = {"current": current, "next": None, "last": None}
        elif alter and call["params"][:1] == ["0x1"]:
            alter(answer["result"])

    with served(chain, altering(change)) as node:
        [fetched] = source_of(node, traces="off").blocks(1, 1)
    return fetched.block


def adding(types=(), **fields):
    """To the block, or to its transactions and receipts of some types."""

    def add(result):
        if isinstance(result, dict) and not types:
            result |= fields
        for record in records_of(result):
            if int(record["type"], 16) in types:
                record |= fields

    return add


NO_PRICE, TOO_HIGH = "blobGasPrice and excessBlobGas", "blobGasPrice and maxFeePerBlobGas"
LATER = {"timestamp": BPO2_S + 10**6, "excessBlobGas": EXCESS}


# A chain, what its node adds to block 1, and what contradicts itself.
@pytest.mark.parametrize(
    ("chain", "alter", "contradiction"),
    [
        (
            made(),
            adding(
                withdrawals=[
                    dict.fromkeys(("index", "validatorIndex", "amount"), "0x1")
                    | {"address": SOMEBODY}
                ]
            ),
            "withdrawals and withdrawalsRoot",
        ),
        (made(), adding(uncles=["0x" + "44" * 32]), "uncles and sha3Uncles"),
        # 131 coins for a blob, within the most that its sender pays.
        (made(blobs=1), adding({3}, blobGasPrice=hex(10**15)), NO_PRICE),
        (made(blobs=1, most=PRICE - 1), None, TOO_HIGH),
        (made(UNKNOWN, blobs=1, most=PRICE - 1), None, TOO_HIGH),
        (made(blobs=2, blobGasUsed=BLOB_GAS), None, "blobs and blobGasUsed"),
        (made(UNKNOWN, blobs=1, price=None), None, NO_PRICE),
        (made(blobs=1, price=7, **LATER), None, NO_PRICE),  # of no known fork
        *(
            (made(), adding({0}, **{name: value}), f"{name} of transactions of type 0")
            for name, value in LISTS.items()
        ),
        *(
            (made(), adding({2}, **{name: LISTS[name]}), f"{name} of transactions of type 2")
            for name in ("blobVersionedHashes", "authorizationList")
        ),
        (made(), adding({2}, accessList=LISTS["accessList"]), "transactions and transactionsRoot"),
    ],
)
def test_a_block_that_contradicts_itself_is_refused(chain, alter, contradiction):
    refused = rf"contradicts itself \({contradiction}\)"
    with pytest.raises(blocks.MalformedBlock, match=refused):
        block_of(chain, alter)


def test_an_empty_list_of_withdrawals_before_shanghai_is_none():
    assert block_of(made(), adding(withdrawals=[])).withdrawals is None


def test_a_price_of_blobs_that_a_type_has_not_is_not_stored():
    """Some nodes give one. Other amounts that it has not: test_lies_about_blocks.py."""
    chain = made()
    assert block_of(chain, adding({0, 2}, blobGasPrice="0x7777")) == block_of(chain)


@pytest.mark.parametrize("blobs", [1, 3])
@pytest.mark.parametrize("price", [PRICE, None])
def test_fees_of_blobs_are_computed(price, blobs):
    """Where receipts have a price, and where they have none."""
    block = block_of(made(blobs=blobs, price=price))
    assert (block.unproven, block.blob_base_fee) == (None, PRICE)
    assert block.blob_fees == PRICE * BLOB_GAS * blobs


@pytest.mark.parametrize(
    ("chain", "schedule", "unproven", "price"),
    [
        # The node's, or that by its eth_config where receipts have none.
        (made(UNKNOWN, blobs=1), None, fork_schedule.PRICES, PRICE),
        (made(UNKNOWN, blobs=1, price=None), (0, 3_338_477), fork_schedule.PRICES, PRICE),
        (made(UNKNOWN, blobs=1, price=1, excessBlobGas=0), None, None, 1),  # the least
        # A fork of blobs that this version does not know needs the node's schedule.
        (made(blobs=1, price=30, **LATER), (BPO2_S, 11_684_671), None, 30),
        (made(blobs=1, price=7, **LATER), (BPO2_S + 10**5, 2 * 10**7), fork_schedule.PRICES, 7),
    ],
)
def test_a_price_by_a_schedule_that_is_not_known_is_said(chain, schedule, unproven, price):
    block = block_of(chain, schedule=schedule)
    assert (block.unproven, block.blob_base_fee) == (unproven, price)
