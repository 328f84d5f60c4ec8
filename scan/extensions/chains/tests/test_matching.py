"""Which form a block has: by its chain's id, else by what its hash proves, else said to be so."""

import pytest

from scan.ethereum.block_validation import Verdict, check_body
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.forms.matching import match_of_records
from scan.extensions.chains.tests.made_transactions import block_of
from tests.support.chain_forms import forms, genesis, made_chain

pytestmark = pytest.mark.check

NOBODY_KNOWS = 987_654


def ethereum(chain_id=NOBODY_KNOWS):
    chain = made_chain.MadeChain(chain_id, genesis.GENESIS)
    chain.pay(genesis.ALICE, genesis.BOB, 1)
    chain.pay(genesis.BOB, genesis.CAROL, 1)
    chain.mine()
    return block_of(chain, 1)


def read(block, receipts):
    return read_json(block, BlockJson, 1), read_json(receipts, ReceiptsJson, 1)


def checked(block, receipts, chain_id):
    verdict = check_body(*read(block, receipts), chain_id=chain_id)
    return Verdict(verdict.contradiction, verdict.unproven)


def test_a_root_shows_the_form_of_a_chain_that_nobody_knows_whatever_fields_say():
    block, receipts = block_of(forms.FORMS["isthmus"](), 1)
    assert {transaction["type"] for transaction in block["transactions"]} > {"0x7e"}
    assert checked(block, receipts, NOBODY_KNOWS) == Verdict()
    for receipt in receipts:
        receipt["tokenRatio"] = "0x2"  # Mantle's
    assert checked(block, receipts, NOBODY_KNOWS) == Verdict()
    assert match_of_records(*read(block, receipts), NOBODY_KNOWS).form.name == "OP Stack"


@pytest.mark.parametrize(("chain_id", "names"), [(1, None), (137, None), (10, "OP Stack")])
def test_a_known_chain_has_its_own_form_or_ethereums(chain_id, names):
    block, receipts = ethereum(chain_id)
    for receipt in receipts:
        receipt["l1Fee"] = "0x64"
    form, is_proven = match_of_records(*read(block, receipts), chain_id)
    assert ((form and form.name), is_proven) == (names, True)


def test_a_time_in_milliseconds_makes_no_chain_parlia_s_unsaid():
    block, receipts = ethereum()
    block["milliTimestamp"] = hex(1000 * int(block["timestamp"], 16))
    assert checked(block, receipts, NOBODY_KNOWS) == Verdict("", ("fields of Parlia",))
    assert checked(block, receipts, 56) == Verdict()


def test_a_chain_with_fees_for_l1_says_where_a_block_shows_none():
    block, receipts = ethereum(534_352)
    assert checked(block, receipts, 534_352) == Verdict("", ("no transaction shows Scroll",))


def test_a_fee_currency_excuses_no_price_on_another_chain():
    """A type that is written otherwise makes the node's JSON be read with fields of all forms."""
    block, receipts = ethereum(1)
    for record in (*block["transactions"], *receipts):
        record["type"] = "0x02"
    block["transactions"][0]["feeCurrency"] = "0x" + "ab" * 20
    assert checked(block, receipts, 1) == Verdict()
    receipts[0]["effectiveGasPrice"] = "0x7"
    contradiction = "effectiveGasPrice and the fees of transactions"
    assert checked(block, receipts, 1).contradiction == contradiction
