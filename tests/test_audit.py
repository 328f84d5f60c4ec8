"""`scan audit` finds what was changed behind its back, and mends what can be computed."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import psycopg2
import pytest

from scan import audit
from scan.encoding import header_hash, receipts_root, transactions_root
from scan.quantity import to_hex
from scan.settings import Settings
from tests.conftest import Played
from tests.database import Postgres
from tests.digest import digest
from tests.indexing import Indexing
from tests.test_node_faults import status


@pytest.fixture(scope="module")
def finished(postgres: Postgres, template: str, scenario: Played) -> Iterator[Settings]:
    """The scenario's index, with nobody connected to it."""
    with postgres.cloned(template) as url:
        with Indexing(url, scenario.anvil.url) as indexing:
            indexing.wait_for(scenario.anvil.head())
        yield indexing.settings


@pytest.fixture
def copied(finished: Settings, postgres: Postgres) -> Iterator[Settings]:
    """A copy of it, to be spoilt."""
    name = urlsplit(finished.database_url).path.removeprefix("/")
    with postgres.cloned(name) as url:
        yield replace(finished, database_url=url)


def run(settings: Settings, **options: object) -> int:
    chosen = {"repair": False, "node": False, "blocks": 0, "digest": False, **options}
    return audit.run(settings, Namespace(**chosen))


def spoil(settings: Settings, statement: str) -> None:
    connection = psycopg2.connect(settings.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0
    connection.close()


def test_a_true_index_passes(copied: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(copied, node=True) == audit.EXACT
    told = capsys.readouterr().out
    assert "0 differences in" in told and "addresses differ: 0" in told


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blocks SET transactions_before = transactions_before + 1 WHERE number > 50",
        "UPDATE blocks SET gas_price_sum = 7 WHERE number = 50",
        "UPDATE addresses SET sent_count = 99 WHERE sent_count > 10",
        "UPDATE addresses SET first_seen = first_seen + 1, last_seen = 0 WHERE trade_count > 0",
        "DELETE FROM addresses WHERE transfer_count > 0",
        "INSERT INTO addresses VALUES ('\\x01', 0, 0, false, 0, 0, 0, 0, 0, 0, 0)",
        "UPDATE token_holders SET balance = balance + 1",
        "DELETE FROM token_holders",
        "INSERT INTO token_holders SELECT '\\x01', address, 5 FROM tokens",
        "UPDATE tokens SET holder_count = 3, negative_holder_count = 1, transfer_count = 0",
        "UPDATE dexes SET trade_count = 0",
        "INSERT INTO dexes (name) VALUES ('nobody trades here')",
        "DELETE FROM list_checkpoints",
        "UPDATE list_checkpoints SET block_number = 1, position = 0",
        "UPDATE chain SET token_count = 5",
    ],
)
def test_spoilt_derived_values_are_found_and_mended(copied: Settings, statement: str) -> None:
    before = digest(copied.database_url)
    spoil(copied, statement)
    assert run(copied) == audit.DIFFERS
    assert run(copied, repair=True) == audit.EXACT
    assert run(copied) == audit.EXACT
    assert digest(copied.database_url) == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM transactions WHERE transaction_index = 0 AND block_number > 100",
        "UPDATE blocks SET parent_hash = hash WHERE number = 77",
        "DELETE FROM tokens WHERE transfer_count > 20",
        "DELETE FROM codes",
        "UPDATE dex_trades SET maker = '\\x01'",
    ],
)
def test_rows_that_contradict_each_other_are_found(copied: Settings, statement: str) -> None:
    spoil(copied, statement)
    assert run(copied, repair=True) == audit.DIFFERS


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE transactions SET value = value + 1 WHERE block_number = 60",
        "UPDATE transactions SET status = NOT status WHERE block_number = 60",
        "UPDATE blocks SET gas_limit = 1 WHERE number = 9",
        "UPDATE blocks SET timestamp = timestamp + interval '1 second' WHERE number = 9",
        "UPDATE token_transfers SET value = 1 WHERE value > 1",
        "DELETE FROM token_transfers WHERE batch_index > 3",
        "UPDATE dex_trades SET amount_in = amount_in + 1",
        "DELETE FROM log_emitters WHERE block_number > 40",
    ],
)
def test_rows_that_are_not_the_nodes_are_found(copied: Settings, statement: str) -> None:
    spoil(copied, statement)
    assert run(copied, node=True) == audit.DIFFERS


def test_an_indexer_at_work_keeps_repair_away(
    indexed: Indexing, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(indexed.settings, repair=True) == audit.UNTOLD
    assert "stop it before --repair" in capsys.readouterr().out
    assert status(indexed.settings.database_url)["problem"] is None


def test_every_root_of_the_chain_is_computed(scenario: Played) -> None:
    for number in range(scenario.anvil.head() + 1):
        header = scenario.anvil.call("eth_getBlockByNumber", hex(number), True)
        receipts = scenario.anvil.call("eth_getBlockReceipts", hex(number))
        assert to_hex(header_hash(header)) == header["hash"]
        assert to_hex(receipts_root(receipts)) == header["receiptsRoot"]
        # anvil hashes the blobs into the root; a real chain keeps them beside the block.
        if not any("blobs" in t for t in header["transactions"]):
            found = transactions_root(header["transactions"])
            assert to_hex(found) == header["transactionsRoot"]
