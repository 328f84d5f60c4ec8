"""Forms of chains: fields, fees and who got them, of blocks made here by their documentation."""

import json

import pytest

from scan.ethereum import blocks
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
    fields_of,
    received,
    sent,
)

pytestmark = pytest.mark.check

L1_BLOCK = "0x4200000000000000000000000000000000000015"


def vault(last, amount):
    return None, FEE_VAULT, "42" + "00" * 18 + last, amount


@pytest.mark.parametrize(
    ("extra_data", "operator"),
    {"0x00" + "00" * 8: GAS * 2 + 5, "0x01" + "00" * 16: GAS * 2_000_000 * 100 + 5}.items(),
    ids=["isthmus", "jovian"],
)
def test_op_stack_s_fees_are_execution_l1_and_operator(extra_data, operator):
    isthmus = {"operatorFeeScalar": hex(2_000_000), "operatorFeeConstant": "0x5"}
    attributes = sent(0, "0x7e", to=L1_BLOCK, sourceHash=HASH, mint=None)
    deposit = sent(1, "0x7e", sourceHash=HASH, mint="0x64", isSystemTx=False)
    paying = sent(2)
    nothing = {"effectiveGasPrice": "0x0", "depositNonce": "0x9"}
    block = decoded(
        (attributes, received(attributes, **nothing)),
        (deposit, received(deposit, **nothing, status="0x0", **isthmus)),
        (paying, received(paying, l1Fee="0x3e8", l1GasPrice="0x11", l1GasUsed="0x12", **isthmus)),
        extraData=extra_data,
    )
    fees = [t.fee for t in block.transactions]
    assert fees == [0, 0, PRICE * GAS + 1000 + operator]
    operator_fees = [t.operator_fee and int.from_bytes(t.operator_fee) for t in block.transactions]
    assert operator_fees == [None, None, operator]
    assert block.transactions[1].mint == b"\x64"  # also of a deposit that failed
    assert credited(block) == [
        (1, MINT, SENDER[2:], 100),
        vault("19", BASE_FEE * GAS),
        vault("1a", 1000),
        vault("1b", operator),
    ]
    paid = block.producer_fees + sum(c.amount_wei for c in block.credits if c.type == FEE_VAULT)
    assert (block.burnt_fees, paid) == (0, sum(fees))
    assert fields_of(block, 1) == {
        "sourceHash": HASH,
        "isSystemTx": False,
        "depositNonce": "9",
        "typeName": "deposit",
    }
    assert fields_of(block, 2) == {"l1GasUsed": "18"}
    shared = json.loads(block.chain_fields or "")
    assert (shared["l1GasPrice"], shared["operatorFeeScalar"]) == ("17", "2000000")


PACKED = f"{1:08x}{2:08x}{4:016x}{902:016x}{901:016x}{903:064x}{905:064x}{HASH[2:]}{'00' * 32}"


BLOB_FEE = {"blobBaseFee": "905"}


@pytest.mark.parametrize(
    ("call", "more"),
    [
        (f"015d8eb9{901:064x}{902:064x}{903:064x}{HASH[2:]}{4:064x}{'00' * 96}", {}),
        (f"440a5e20{PACKED}", BLOB_FEE),
        (f"098999be{PACKED}{'00' * 12}", BLOB_FEE),
        (f"3db6be2b{PACKED}{'00' * 14}", BLOB_FEE),
    ],
    ids=["bedrock", "ecotone", "isthmus", "jovian"],
)
def test_a_block_s_l1_origin_is_read_in_each_form_of_the_call(call, more):
    origin = {"number": "901", "timestamp": "902", "baseFee": "903", "hash": HASH}
    origin |= {"sequenceNumber": "4"}
    attributes = sent(0, "0x7e", to=L1_BLOCK, sourceHash=HASH, input=f"0x{call}")
    block = decoded((attributes, received(attributes, effectiveGasPrice="0x0")))
    assert json.loads(block.chain_fields or "")["l1Origin"] == origin | more
    # Cut off, or of a selector to come, it is left out; the block is indexed.
    for cut in (call[:100], f"ffffffff{call[8:]}"):
        attributes["input"] = f"0x{cut}"
        block = decoded((attributes, received(attributes, effectiveGasPrice="0x0")))
        assert block.chain_fields is None


def test_what_no_encoding_has_brings_nothing_and_costs_nothing():
    """No root covers a mint, a fee currency or a source of another type, nor what a deposit paid
    or which chain it names."""
    deposit = sent(0, "0x7e", sourceHash=HASH, gasPrice="0x5", chainId="0x144")
    lying = {"mint": "0x64", "feeCurrency": OTHER, "sourceHash": HASH, "chainId": "0xa4ec"}
    others = [sent(1, **lying), sent(2, "0x0", **lying)]
    block = decoded(
        (deposit, received(deposit, effectiveGasPrice="0x5", l1Fee="0x64")),
        *((own, received(own, l1Fee="0x1")) for own in others),
        chain_id=42_220,
    )
    assert [t.fee for t in block.transactions] == [0, PRICE * GAS + 1, PRICE * GAS + 1]
    assert [t.mint for t in block.transactions] == [None] * 3
    assert [fields_of(block, index) for index in (1, 2)] == [{}, {}]
    assert credited(block) == [
        (None, FEE_VAULT, "cd437749e43a154c07f3553504c68fbfd56b8778", 2 * BASE_FEE * GAS),
        vault("1a", 2),
    ]


@pytest.mark.parametrize("sign", ["l1BatchNumber", "sendRoot", "requestId"])
def test_the_form_that_encodes_a_block_s_types_goes_before_signs(sign):
    deposit = sent(0, "0x7e", sourceHash=HASH, mint="0x64", **{sign: HASH})
    block = decoded((deposit, received(deposit, effectiveGasPrice="0x0")), **{sign: HASH})
    assert credited(block) == [(0, MINT, SENDER[2:], 100)]


def test_a_sign_of_a_form_takes_no_fees_on_ethereum_itself():
    own, other = sent(0, chainId="0x1"), sent(1, "0x0", chainId="0xa4ec", feeCurrency=OTHER)
    block = decoded((own, received(own, l1Fee="0x5", gasUsedForL1="0x1")), (other, received(other)))
    expected = [(PRICE * GAS, None, None)] * 2
    assert [(t.fee, t.l1_fee, t.chain_fields) for t in block.transactions] == expected
    assert (block.burnt_fees, block.credits) == (2 * BASE_FEE * GAS, ())


@pytest.mark.parametrize("part", [0, 1], ids=["transaction", "receipt"])
def test_a_type_that_is_no_text_is_malformed(part):
    own = sent(0)
    pair = own, received(own)
    pair[part]["type"] = ["0x2"]
    with pytest.raises(blocks.MalformedBlock):
        decoded(pair)


def test_mantle_s_l1_fee_is_beside_its_gas_since_arsia():
    first, second = sent(0), sent(1)
    since = decoded(
        (first, received(first, l1Fee="0x3e8", tokenRatio="0xbb8", l1BaseFeeScalar="0x1")),
        (second, received(second, l1Fee="0x1", tokenRatio="0xbb8", l1BaseFeeScalar="0x1")),
    )
    assert [t.fee for t in since.transactions] == [PRICE * GAS + 1000, PRICE * GAS + 1]


IN_BATCH = {"l1BatchNumber": "0x8"}


# Fields of a transaction, its receipt and its block, and what is kept of the first two.
@pytest.mark.parametrize(
    ("own", "receipt", "block", "expected", "name"),
    [
        (
            sent(0, "0x7e", queueIndex="0x7"),
            {"l1Fee": "0x0"},
            {},
            {"queueIndex": "7"},
            "L1 message",
        ),
        *(
            (sent(0, type_, **IN_BATCH), {}, IN_BATCH, {"l1BatchNumber": "8"}, name)
            for type_, name in (("0x71", "EIP-712"), ("0xff", "priority"))
        ),
        (
            sent(0, "0x69", requestId=HASH, depositValue="0x7d0", retryTo=OTHER),
            {"gasUsedForL1": "0x0", "effectiveGasPrice": "0x0"},
            {"l1BlockNumber": "0x10", "sendCount": "0x2", "sendRoot": HASH},
            {"requestId": HASH, "gasUsedForL1": "0", "depositValue": "2000", "retryTo": OTHER},
            "submit retryable",
        ),
        (  # of another meaning
            sent(0, "0x7e", sourceHash="0x12", isSystemTx="maybe", mint="0x1"),
            {"effectiveGasPrice": "0x0", "depositNonce": [1]},
            *({}, {}),
            "deposit",
        ),
    ],
)
def test_fields_of_a_form_are_kept_and_its_types_named(own, receipt, block, expected, name):
    made = decoded((own, received(own, **receipt)), **block)
    assert fields_of(made) == expected | {"typeName": name}
    assert json.loads(made.chain_fields or "{}").keys() == block.keys()
