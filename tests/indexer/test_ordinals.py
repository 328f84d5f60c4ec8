"""Rows keep the numbers that the chain gives them, also where a fork took others back."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from scan.database.connection import Database
from scan.extensions.audit import audit_command as audit
from tests.extensions.audit.test_audit import run
from tests.support.database import execute
from tests.support.indexing import settings_for
from tests.support.made_blocks import Chain, Move, address

ANNA, BERT = address("anna"), address("bert")
NOWHERE = "http://127.0.0.1:1"


class Indexed(NamedTuple):
    url: str
    chain: Chain


@pytest.fixture
def indexed_here(database_url: str) -> Iterator[Indexed]:
    database = Database(database_url, statement_timeout_ms=0)
    yield Indexed(database_url, Chain(database))
    database.close()


def block(transactions: int, transfers: int) -> list[Move]:
    """Transactions of which the last ones move tokens, too."""
    first = transactions - transfers
    return [Move(ANNA, BERT, tokens=None if n < first else 5) for n in range(transactions)]


def ordinals(url: str, table: str) -> list[tuple[object, ...]]:
    """(block, ordinal) in the chain's order."""
    return execute(url, f"SELECT block_number, ordinal FROM {table} ORDER BY ordinal")  # noqa: S608


def test_ordinals_go_on_without_a_gap_where_a_fork_took_rows_back(indexed_here):
    url, chain = indexed_here
    for transactions, transfers in ((2, 1), (0, 0), (3, 3), (4, 0)):
        chain.append(block(transactions, transfers))
    chain.unwind(1)
    assert ordinals(url, "transactions") == [(0, 0), (0, 1)]
    chain.append(block(1, 0))
    chain.append(block(2, 2))
    assert ordinals(url, "transactions") == [(0, 0), (0, 1), (2, 2), (3, 3), (3, 4)]
    assert ordinals(url, "token_transfers") == [(0, 0), (3, 1), (3, 2)]


def test_the_whole_chain_may_be_taken_back_and_indexed_again(indexed_here):
    url, chain = indexed_here
    for _ in range(3):
        chain.append(block(2, 2))
    chain.unwind(0)
    chain.append(block(1, 1))
    assert ordinals(url, "token_transfers") == [(0, 0), (0, 1), (1, 2)]


def test_a_long_list_keeps_its_checkpoints_through_a_fork(indexed_here):
    url, chain = indexed_here
    for _ in range(5):
        chain.append(block(90, 90))
    chain.unwind(1)
    chain.append(block(70, 60))
    chain.append(block(90, 90))
    found = execute(
        url,
        "SELECT place, ordinal, block_number FROM list_checkpoints"
        " WHERE list = 'token_transfers_by_from' ORDER BY place",
    )
    assert found == [(128, 128, 1), (256, 256, 3)]
    assert run(settings_for(url, NOWHERE)) == audit.EXACT
