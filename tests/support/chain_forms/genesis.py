"""Whom made chains begin with."""

from tests.support.chain_forms import accounts, made_chain

ALICE, BOB, CAROL = accounts.address("alice"), accounts.address("bob"), accounts.address("carol")
GENESIS = {ALICE: 10 * made_chain.ETH, BOB: made_chain.ETH}
