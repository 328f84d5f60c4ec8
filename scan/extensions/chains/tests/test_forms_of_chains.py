"""Forms of BNB Chain, Polygon, Gnosis and Avalanche: who got fees, what was minted, and how a
block's form is known. Blocks are made here by the documentation that the forms name.
"""

import json

import pytest

from scan.ethereum.forms.form import FEE_VAULT, MINT
from scan.extensions.chains.tests.made_transactions import (
    BASE_FEE,
    GAS,
    HASH,
    OTHER,
    PRICE,
    SENDER,
    credited,
    decoded,
    received,
    sent,
)

pytestmark = pytest.mark.check

VALIDATOR, COLLECTOR = "0x" + "c3" * 20, "6bbe78ee9e474842dbd4ab4987b3cefe88426a92"
SEALED = {"extraData": "0x" + "00" * 97}


def log(index, address, *topics, data=0):
    words = ["0x" + topic.removeprefix("0x").rjust(64, "0") for topic in topics]
    return {"logIndex": hex(index), "address": address, "topics": words, "data": f"0x{data:064x}"}


def on(chain_id, index=0, type_="0x2", **fields):
    return sent(index, type_, chainId=hex(chain_id), **fields)


@pytest.mark.parametrize(
    ("number", "contract"),
    [
        (23_850_000, "70bca57f4579f58670ab2d18ef16e02c17553c38"),
        (50_523_000, "7a8ed27f4c30512326878652d20fc85727401854"),
    ],
)
def test_fees_on_polygon_go_to_the_burn_contract_and_the_author(number, contract):
    coin, tip = f"0x{0x1010:040x}", (PRICE - BASE_FEE) * GAS
    first, second = on(137), on(137, 1, "0x0", v="0x135")
    own = "4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63"
    topics = (own, coin, SENDER, VALIDATOR)
    logs = [log(0, coin, *topics, data=tip)]
    forged = [
        log(1, coin, *topics, data=tip + 1),  # another amount
        log(2, OTHER, *topics, data=tip),  # another contract
        log(3, coin, *topics, data=tip),
    ]
    pairs = ((first, received(first, logs=logs)), (second, received(second, logs=forged)))
    block = decoded(*pairs, number=hex(number), miner="0x" + "00" * 20, **SEALED)
    assert (block.producer_fees, block.burnt_fees) == (0, 0)
    assert credited(block) == [
        (None, FEE_VAULT, VALIDATOR[2:], 2 * tip),
        (None, FEE_VAULT, contract, 2 * BASE_FEE * GAS),
    ]


def test_cancun_is_known_by_headers_and_where_they_tell_nothing_by_time():
    """EIP-6780 holds on Polygon, whose headers never had blobGasUsed."""
    cancun, later = 1_705_473_120, 1_800_000_000
    for chain_id, time, fields, keeps in (
        (1, later, {"withdrawals": []}, False),
        (1, later, {"withdrawals": [], "blobGasUsed": "0x0"}, True),
        (61, later, {}, False),
        (137, later, SEALED, True),
        (137, cancun - 1, SEALED, False),
    ):
        transaction = on(chain_id)
        pair = (transaction, received(transaction))
        block = decoded(pair, number="0x4000000", timestamp=hex(time), **fields)
        assert block.keeps_destroyed == keeps, (chain_id, time)


BLOBS = 131_072 * 3


@pytest.mark.parametrize(
    ("time", "collected", "blob_fees"), [(1_746_021_819, 0, BLOBS), (1_746_021_820, BLOBS, None)]
)
def test_gnosis_collects_what_others_burn_and_mints_by_its_bridge(time, collected, blob_fees):
    contract = "0x481c034c6d9441db23ea48de68bcae812c5d39ba"
    added = "3c798bbcf33115b42c728b8504cff11dd58736e9fa789f1cda2738db7d696b2a"
    paying = on(100, 0, "0x3", **{"blobVersionedHashes": [HASH], "maxFeePerBlobGas": "0x5"})
    logs = [
        log(0, contract, added, SENDER, OTHER, data=1000),
        log(1, OTHER, added, SENDER, OTHER, data=9),  # anybody's
    ]
    receipt = received(paying, blobGasPrice="0x3", blobGasUsed="0x20000", logs=logs)
    block = decoded((paying, receipt), timestamp=hex(time))
    assert credited(block) == [
        (0, MINT, SENDER[2:], 1000),
        (None, FEE_VAULT, COLLECTOR, BASE_FEE * GAS + collected),
    ]
    assert (block.burnt_fees, block.blob_fees) == (0, blob_fees)
    assert block.producer_fees == (PRICE - BASE_FEE) * GAS


def test_milliseconds_that_are_not_in_the_header_are_no_sign_of_parlia():
    paying = sent(0)
    for mix_hash, fields in ((HASH, None), (f"0x{7:064x}", '{"milliTimestamp":"1007"}')):
        header = {"milliTimestamp": "0x3ef", "mixHash": mix_hash}
        assert decoded((paying, received(paying)), **header).chain_fields == fields


def test_a_chain_s_form_follows_its_own_id():
    """Neither the chainId of a transaction nor the chain that it is signed for counts."""
    for type_, fields in (("0x0", {"v": hex(36 + 2 * 137)}), ("0x2", {}), ("0x50", {})):
        own = sent(0, type_, chainId="0x89", **fields)
        for chain_id, burnt in ((1, BASE_FEE * GAS), (137, 0)):
            block = decoded((own, received(own)), chain_id=chain_id, **SEALED)
            assert block.burnt_fees == burnt, (type_, chain_id)


@pytest.mark.parametrize("chain_id", [10, 5000, 137, 42_161, 42_220, 43_114, 167_000, 534_352])
def test_a_test_node_with_a_chain_s_id_settles_by_ethereum(chain_id):
    """Its blocks show nothing of the chain's: nobody gets the base fees that it burns."""
    own = sent(0, chainId=hex(chain_id))
    block = decoded((own, received(own)), withdrawalsRoot=HASH)
    assert (block.burnt_fees, block.credits, block.chain_fields) == (BASE_FEE * GAS, (), None)
    assert block.producer_fees == (PRICE - BASE_FEE) * GAS


def test_a_sign_counts_where_all_receipts_have_it():
    first, second = sent(0), sent(1)
    lying = (first, received(first, l1Fee="0x5"))
    assert decoded(lying, (second, received(second))).burnt_fees == 2 * BASE_FEE * GAS
    assert decoded(lying, (second, received(second, l1Fee="0x0"))).burnt_fees == 0
    field = sent(0, sourceHash=HASH)
    assert decoded((field, received(field)), (second, received(second))).credits == ()


# The x of the curve's generator as r (SEC 2, 2.4.1), and any s.
@pytest.mark.parametrize(
    ("header", "is_sealed"),
    [
        (
            {
                "extraData": "0x"
                + "00" * 32
                + ("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" + "11" * 32)
                + "00"
            },
            True,
        ),
        ({"extraData": "0x" + "00" * 32 + "ff" * 64 + "00"}, False),
        ({"extraData": "0x" + "11" * 96}, False),
        ({"extraData": "0x" + "11" * 97, "mixHash": HASH}, False),
        ({"extraData": "0x" + "11" * 97, "stateRoot": None}, False),
    ],
    ids=["sealed", "no point", "too short", "mined", "no state"],
)
@pytest.mark.parametrize("chain_id", [1337, 59_144], ids=["private", "Linea"])
def test_tips_of_a_block_go_to_its_signer_where_a_seal_has_one(chain_id, header, is_sealed):
    roots = ("sha3Uncles", "stateRoot", "transactionsRoot", "receiptsRoot")
    clique_header = dict.fromkeys(roots, HASH) | {"logsBloom": "0x" + "00" * 256}
    clique_header |= {"difficulty": "0x2", "mixHash": "0x" + "00" * 32}
    clique_header |= {"nonce": "0x" + "00" * 8, "miner": "0x" + "00" * 20}
    paying, tips = on(chain_id), (PRICE - BASE_FEE) * GAS
    block = decoded((paying, received(paying)), **clique_header | header)
    assert block.burnt_fees == BASE_FEE * GAS
    signer = json.loads(block.chain_fields or "{}").get("signer", "0x")[2:]
    earned = {True: (0, [(None, FEE_VAULT, signer, tips)]), False: (tips, [])}
    assert (block.producer_fees, credited(block)) == earned[is_sealed]
