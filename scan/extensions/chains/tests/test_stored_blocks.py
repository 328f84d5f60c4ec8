"""Blocks of all chains' forms, as the index stores them, and bytes that are no stored block."""

import hashlib

import pytest
import zstandard
from hypothesis import event, given
from hypothesis import strategies as st

from scan.ethereum import stored_blocks
from scan.ethereum.block_hashing import form_of_roots
from scan.ethereum.block_validation import check_body
from scan.ethereum.blocks import BlockJson, ReceiptsJson, StoredBody, read_json
from scan.ethereum.rlp_and_tries import join_list
from scan.extensions.chains.tests.made_transactions import block_of
from scan.hex import to_hex
from tests.support.chain_forms import forms, genesis, made_chain

pytestmark = pytest.mark.check


def body_of_content(content):
    digest = hashlib.blake2b(content, digest_size=stored_blocks.DIGEST_BYTES).digest()
    return StoredBody(digest, zstandard.compress(content))


def stored(block, receipts, chain_id):
    header, read = read_json(block, BlockJson, 1), read_json(receipts, ReceiptsJson, 1)
    verdict = check_body(header, read, chain_id=chain_id, computes_senders=False)
    encodings = form_of_roots(header, read, chain_id).encodings
    parts = (header.transactions, read, verdict.sent, verdict.received, encodings)
    body = stored_blocks.body_of(*parts)
    return body and stored_blocks.StoredBlock(1, body)


@pytest.mark.parametrize("form", forms.FORMS)
def test_a_block_of_any_form_is_stored_whole(form):
    """What has no encoding that a root proves, or another type than Ethereum's, as its fields."""
    chain = forms.FORMS[form]()
    count = sum(b"eth_getBlockReceipts" in line for line in chain.lines())
    blocks = [block_of(chain, number) for number in range(1, count)]
    whole = [(block, receipts) for block, receipts in blocks if block["transactions"]]
    empty = [(block, receipts) for block, receipts in blocks if not block["transactions"]]
    assert {stored(*block, chain.chain_id) for block in empty} <= {None}
    read = []
    for block, receipts in whole:
        body = stored(block, receipts, chain.chain_id)
        assert len(body) == len(receipts)
        transactions = map(body.transaction, range(len(body)))
        read += zip(transactions, block["transactions"], receipts, strict=True)
    for transaction, sent, receipt in read:
        assert "0x" + transaction.input.hex() == sent["input"]
        assert int(transaction.fields["type"], 16) == int(sent["type"], 16)
        assert transaction.gas_limit == int(sent["gas"], 16)
        for name in transaction.fields.keys() & sent.keys() - {"type", "v", "yParity"}:
            ours, theirs = transaction.fields[name], sent[name]
            assert ours == theirs or int(ours, 16) == int(theirs, 16)
        kept = transaction.receipt
        assert kept.status == int(receipt["status"], 16)
        assert kept.cumulative_gas_used == int(receipt["cumulativeGasUsed"], 16)
        logs = [
            (to_hex(log.address), [*map(to_hex, log.topics)], to_hex(log.data), hex(log.log_index))
            for log in kept.logs or ()
        ]
        names = ("address", "topics", "data", "logIndex")
        assert logs == [tuple(log[name] for name in names) for log in receipt["logs"]]
        of_forms = kept.fields.keys() & {"depositNonce", "depositReceiptVersion", "baseFee"}
        values = {name: int(kept.fields[name], 16) for name in of_forms}
        assert values == {name: int(receipt[name], 16) for name in of_forms}
    with_nonce = [(t.nonce, sent["nonce"]) for t, sent, _ in read if "nonce" in t.fields]
    assert with_nonce
    assert [nonce for nonce, _ in with_nonce] == [int(sent, 16) for _, sent in with_nonce]


def test_no_field_is_stored_that_no_hash_covers():
    chain = forms.FORMS["isthmus"]()
    block, receipts = block_of(chain, 1)
    honest = stored(block, receipts, chain.chain_id).transaction(0)
    assert honest.fields["sourceHash"] == block["transactions"][0]["sourceHash"]
    block["transactions"][0] |= {"queueIndex": "0x1", "gasPrice": "0x7", "nonce": "0x9"}
    receipts[0]["gasUsedForL1"] = "0x5"
    assert stored(block, receipts, chain.chain_id).transaction(0) == honest


def test_lengths_are_bounded_before_bytes_are_decompressed(monkeypatch):
    chain = made_chain.MadeChain(1, genesis.GENESIS)
    chain.pay(genesis.ALICE, genesis.BOB, 1)
    chain.mine()
    large = body_of_content(b"\1" + bytes(4096))
    monkeypatch.setattr(stored_blocks, "MOST_BYTES", 64)
    with pytest.raises(stored_blocks.DamagedBody, match="too large"):
        stored_blocks.StoredBlock(1, large)
    assert stored(*block_of(chain, 1), 1) is None
    without_size = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(99))
    with pytest.raises(stored_blocks.DamagedBody, match="too large"):
        stored_blocks.StoredBlock(1, StoredBody(b"", without_size))


ANY_BYTES = st.binary(max_size=400)
LISTED_BYTES = ANY_BYTES.map(lambda item: join_list([join_list([item])]))


@given(st.tuples(ANY_BYTES, ANY_BYTES) | st.tuples(LISTED_BYTES, LISTED_BYTES))
def test_no_bytes_are_read_as_another_error(parts):
    def is_damaged(content):
        """Whether reading a block of this content ends with the error for that."""
        try:
            block = stored_blocks.StoredBlock(1, body_of_content(content))
            for index in range(len(block)):
                block.transaction(index)
        except stored_blocks.DamagedBody:
            return True
        return False

    event(f"is damaged: {is_damaged(bytes([1]) + b''.join(parts))}")


@pytest.mark.parametrize("item", [b'{"input":"0x', b'{"input":7}', b"\4\xc0", b"\xc1", b"\x7b\xc0"])
def test_items_of_another_form_are_errors(item):
    items = join_list([bytes([0x80 + len(item)]) + item if item[0] < 0xC0 else item])
    with pytest.raises(stored_blocks.DamagedBody):
        stored_blocks.StoredBlock(1, body_of_content(b"\1" + items + items)).transaction(0)
