"""Blocks made up in the test, written by the indexer's own writer: for tests without a node."""

import hashlib
import itertools
from collections import namedtuple
from contextlib import closing
from copy import copy

import pytest

from scan.database import connection, transaction
from scan.ethereum import blocks, events
from scan.ethereum.forms.form import numbered, settle_by_ethereum
from scan.indexer import block_rows, derivation
from scan.indexer.block_rows import FetchedBlock, make_block_rows, transfer_line, transfer_row
from scan.indexer.contract_state import ContractFindings, NewPool, NewToken, PoolTrade
from scan.indexer.writer import Writer, inspected_batch

TOKEN = bytes.fromhex("70" * 20)
DEX = "uniswap-v2"
FIRST_TIMESTAMP_S = 1_700_000_000


class Move(
    namedtuple(
        "Move",
        "sender recipient value tokens contract fields pool status trade",
        defaults=(1, None, None, {}, None, True, None),
    )
):
    """A transaction from one address to another; with tokens, it is a transfer of them. `fields`:
    others of DecodedTransaction; `pool`: in which it trades; `trade`: what it trades in this pool,
    otherwise a few tokens."""


def address(name):
    return hashlib.sha256(name.encode()).digest()[:20]


class Chain:
    """Appends blocks to a database; each block's hash differs from every other's."""

    def __init__(self, database, writer=None):
        self._database = database
        derivation.fill_missing(database)  # as the indexer does before it writes
        self._writer = writer or Writer(database)
        self._salt = itertools.count()
        self._head = self._writer.head()
        self._token_block = None  # the block since which its token is known
        self._appended = []  # from block 0 on

    def over(self, database, writer):
        """The same chain, which goes on in a copy of its database."""
        other = copy(self)
        other._database, other._writer = database, writer
        other._salt, other._appended = copy(self._salt), [*self._appended]
        return other

    @property
    def number(self):
        return self._head.number if self._head else -1

    def append(
        self,
        moves=(),
        logs=(),
        base_fee=None,
        *,
        internal_transfers=(),
        is_traced=None,
        timestamp_s=None,
        miner=bytes(20),
        credits=(),
        pools=(),
        **fields,
    ):
        """One more block; the hashes of its transactions. `logs` are of those. A credit has the
        index of a transaction or None, its type, an address, and wei. `pools` are found in it;
        `fields` are others of the block."""
        number = self.number + 1
        transactions = [self._transaction(index, move) for index, move in enumerate(moves)]
        transfers = [
            (number, _transfer_row(number, index, m, m.tokens))
            for index, m in enumerate(moves)
            if m.tokens is not None
        ]
        trades = [_trade(number, n, m, m.pool) for n, m in enumerate(moves) if m.pool is not None]
        parent = self._head.hash if self._head else bytes(32)
        block = blocks.DecodedBlock(
            number=number,
            hash=self._hash(),
            parent_hash=parent,
            timestamp_s=FIRST_TIMESTAMP_S + 12 * number if timestamp_s is None else timestamp_s,
            miner=miner,
            gas_used=21_000 * len(moves),
            gas_limit=0,
            transactions=transactions,
            logs=list(logs),
            base_fee_per_gas=base_fee,
            **fields,
        )
        block = block._replace(**settle_by_ethereum(block)._asdict())
        block = block._replace(credits=numbered(block, credits))
        fetched = FetchedBlock(block, [], internal_transfers, is_traced)
        new_pools = [NewPool(pool, number, DEX, TOKEN, pool) for pool in pools]
        findings = self._findings(number, transfers)._replace(trades=trades, pools=new_pools)
        del self._appended[number:]
        self._appended.append((fetched, findings))
        self._head = _write(self._database, self._writer, self._head, fetched, findings)
        return [transaction.hash for transaction in transactions]

    def store_balances(self, balances):
        """In wei, as read at the newest block."""
        row = {"addresses": list(balances), "balances": list(balances.values())}
        stored = row | {"block_number": self._head.number}
        self._writer.execute(self._head, [("indexer/addresses_refresh", stored)])

    def unwind(self, last_kept):
        self._writer.unwind(last_kept)
        self._head = self._writer.head()
        if self._token_block is not None and self._token_block > last_kept:
            self._token_block = None

    def copy_to(self, database):
        """The chain as it is now, into a new index that has never had another block."""
        writer, head = Writer(database), None
        for fetched, findings in self._appended[: self.number + 1]:
            head = _write(database, writer, head, fetched, findings)

    def _findings(self, number, transfers):
        tokens = []
        if transfers and self._token_block is None:
            tokens = [
                NewToken(TOKEN, number, 0, "BEP20", "Token", "T", 18, 0, None, True, number, True)
            ]
            self._token_block = number
        return ContractFindings([], tokens, [], [], [], transfers, [], [], [])

    def _transaction(self, index, move):
        blobs = move.fields.get("blob_versioned_hashes", ())
        return blocks.DecodedTransaction(
            transaction_index=index,
            hash=self._hash(),
            from_address=move.sender,
            to_address=move.recipient,
            contract_address=move.contract,
            value=move.value,
            gas_price=1,
            gas_used=21_000,
            status=move.status,
            fee=21_000 + 131_072 * len(blobs) * move.fields.get("blob_gas_price", 0),
            **{name: _stored(value) for name, value in move.fields.items()},
        )

    def _hash(self):
        return hashlib.sha256(f"{id(self)} {next(self._salt)}".encode()).digest()


def _write(database, writer, head, fetched, findings):
    selection = block_rows.watched_selection(block_rows.read_stored(database), database)
    batch = inspected_batch([make_block_rows(fetched, selection)], findings)
    with writer.appending(head, batch) as append:
        append.add(batch)
        return append.derive()


def _stored(value):
    return value.to_bytes(32, "big").lstrip(b"\0") if isinstance(value, int) else value


def _trade(number, index, move, pool):
    row = transaction.line((number, index, index, pool, move.sender)).removesuffix("\n")
    return PoolTrade(number, row, DEX, move.trade or events.Trade(TOKEN, pool, 3, 4))


def _transfer_row(number, index, move, tokens):
    recipient = move.recipient or move.sender
    transfer = events.Transfer(index, index, 0, TOKEN, move.sender, recipient, tokens, None)
    return transfer_line(transfer_row(number, transfer), transfer.to_address, 0, tokens, None)


@pytest.fixture
def database(database_url):
    """An empty database for this test alone, connected to as the indexer is."""
    with closing(connection.Database(database_url, statement_timeout_ms=0)) as database:
        yield database


@pytest.fixture
def chain(database):
    """Blocks in it that the test makes, which no node knows."""
    return Chain(database)
