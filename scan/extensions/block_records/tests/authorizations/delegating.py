"""A chain whose accounts delegate to contracts."""

import random

import pytest

from tests.support import authorizations as accounts
from tests.support import indexing
from tests.support.anvil import ZERO
from tests.support.scenario.transactions import key_of

SEED, BLOCKS = 7, 30
ALICE, BOB = key_of(1), key_of(2)  # with coin
FRESH = accounts.new_account(1)
EVERYBODY = (ALICE, BOB, FRESH, accounts.new_account(2))


@pytest.fixture(scope="module")
def delegations(shared_anvil, shared_database_url):
    """Blocks at random: authorizations right and wrong, alone and together, sponsored and not,
    calls of delegating accounts that create contracts, and their own transactions."""
    node, url = shared_anvil, shared_database_url
    choice = random.Random(SEED)
    accounts.place_codes(node)
    for _ in range(BLOCKS):
        authority = choice.choice(EVERYBODY)
        nonce = accounts.nonce_of(node, authority)
        sender = authority if authority in (ALICE, BOB) and choice.random() < 0.3 else key_of(0)
        nonce += sender is authority
        signed = [
            accounts.authorize(
                authority,
                choice.choice(
                    (accounts.MAKER, accounts.MAKER, accounts.IDLE, accounts.FAILING, ZERO)
                ),
                max(nonce + index + choice.choice((0, 0, 0, 1, -1)), 0),
                choice.choice((accounts.CHAIN_ID, accounts.CHAIN_ID, 0, 1)),
            )
            for index in range(choice.randrange(1, 4))
        ]
        if choice.random() < 0.1:
            signed.append(accounts.with_high_s(signed[0]))
        accounts.send(node, signed, to=authority.address, sender=sender)
        if choice.random() < 0.5:
            accounts.send(node, [], to=choice.choice(EVERYBODY).address, sender=key_of(3))
        if choice.random() < 0.2:
            accounts.send(node, [], to=accounts.IDLE, sender=BOB) if sender is not BOB else None
        node.mine()
    return node, url, indexing.Indexing(url, node.url).run_until(node.head()).client()
