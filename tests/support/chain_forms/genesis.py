"""Whom made chains begin with, and addresses of a protocol's own contracts."""

from tests.support.chain_forms.accounts import address
from tests.support.chain_forms.made_chain import ETH

ALICE, BOB, CAROL = address("alice"), address("bob"), address("carol")
GENESIS = {ALICE: 10 * ETH, BOB: ETH}


def system_address(number):
    return number.to_bytes(20)
