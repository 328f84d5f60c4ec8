"""A chain whose accounts delegate to contracts."""

import random
from collections import namedtuple

import pytest

from tests.support import indexing
from tests.support.anvil import ZERO, Anvil
from tests.support.authorizations import (
    CHAIN_ID,
    FAILING,
    IDLE,
    MAKER,
    authorize,
    new_account,
    nonce_of,
    place_codes,
    send,
    with_high_s,
)
from tests.support.scenario.transactions import key_of

SEED, BLOCKS = 7, 30
ALICE, BOB = key_of(1), key_of(2)  # with coin
FRESH = new_account(1)
EVERYBODY = (ALICE, BOB, FRESH, new_account(2))
Delegations = namedtuple("Delegations", "node url client")


def play(node):
    """Blocks at random: authorizations right and wrong, alone and together, sponsored and not,
    calls of delegating accounts that create contracts, and their own transactions."""
    choice = random.Random(SEED)
    place_codes(node)
    for _ in range(BLOCKS):
        authority = choice.choice(EVERYBODY)
        nonce = nonce_of(node, authority)
        sender = authority if authority in (ALICE, BOB) and choice.random() < 0.3 else key_of(0)
        nonce += sender is authority
        signed = [
            authorize(
                authority,
                choice.choice((MAKER, MAKER, IDLE, FAILING, ZERO)),
                max(nonce + index + choice.choice((0, 0, 0, 1, -1)), 0),
                choice.choice((CHAIN_ID, CHAIN_ID, 0, 1)),
            )
            for index in range(choice.randrange(1, 4))
        ]
        if choice.random() < 0.1:
            signed.append(with_high_s(signed[0]))
        send(node, signed, to=authority.address, sender=sender)
        if choice.random() < 0.5:
            send(node, [], to=choice.choice(EVERYBODY).address, sender=key_of(3))
        if choice.random() < 0.2:
            send(node, [], to=IDLE, sender=BOB) if sender is not BOB else None
        node.mine()


def played(postgres, template):
    with Anvil() as node, postgres.cloned(template) as url:
        play(node)
        yield Delegations(
            node, url, indexing.Indexing(url, node.url).run_until(node.head()).client()
        )


delegations = pytest.fixture(scope="module")(played)
