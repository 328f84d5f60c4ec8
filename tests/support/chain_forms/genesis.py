"""Whom made chains begin with, and addresses of a protocol's own contracts."""

from tests.support.chain_forms import accounts, made_chain

ALICE, BOB, CAROL = accounts.address("alice"), accounts.address("bob"), accounts.address("carol")
GENESIS = {ALICE: 10 * made_chain.ETH, BOB: made_chain.ETH}


def system_address(number):
    return number.to_bytes(20)
