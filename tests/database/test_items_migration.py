"""0011: items filled from the transfers that are there, in steps, whatever happens between two."""

from typing import Any

import psycopg2
import pytest

from scan.database import migrations
from scan.database.connection import Database
from scan.database.errors import LockNotGranted
from tests.database.test_migrations import bring_up, cursor_of, rows_of, shape
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.table_digest import digest

ITEMS_UNDONE = """
    DROP TABLE token_items, item_balances CASCADE;
    DROP INDEX token_transfers_by_item;
    ALTER TABLE tokens DROP COLUMN item_count CASCADE;
    ALTER TABLE addresses DROP COLUMN item_count CASCADE;
    DELETE FROM list_checkpoints WHERE list IN ('token_items_by_token', 'token_transfers_by_item');
    DELETE FROM migrations WHERE number = 11;
"""


def test_items_are_filled_from_the_transfers_that_are_there(
    database_url: str, anvil: Anvil
) -> None:
    """While somebody reads them: a transaction that has read transfers holds nothing up."""
    trade_items(anvil)
    Indexing(database_url, anvil.url).run_until(anvil.head())
    before, rows = shape(database_url), digest(database_url)
    assert rows["token_items"][0] > 250 and rows["item_balances"][0] > 250
    with cursor_of(database_url) as cursor:
        cursor.execute(ITEMS_UNDONE)
    reader = psycopg2.connect(database_url)
    with reader.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM token_transfers JOIN blocks ON number = block_number")
        assert "0011_items.sql" in bring_up(database_url)
    reader.close()
    assert shape(database_url) == before
    assert digest(database_url) == rows


def without_items(database_url: str, anvil: Anvil, tokens: int = 3) -> tuple[Any, Any]:
    """A database as the release before items left it; its shape and rows with them."""
    trade_items(anvil)
    for number in range(tokens):
        more = anvil.deploy(anvil.accounts[0], "Collectible", f"More {number}", "MORE")
        anvil.transact(anvil.accounts[0], more, "mint", anvil.accounts[1], number)
    anvil.mine()
    Indexing(database_url, anvil.url).run_until(anvil.head())
    before = shape(database_url), digest(database_url)
    with cursor_of(database_url) as cursor:
        cursor.execute(ITEMS_UNDONE)
    return before


def in_steps(most_transfers: int) -> migrations.Migration:
    [items] = [m for m in migrations.expected_schema().migrations if m.name == "0011_items.sql"]
    assert "before < 100000" in items.text
    return items._replace(text=items.text.replace("before < 100000", f"before < {most_transfers}"))


def test_items_are_filled_in_steps_and_an_interrupted_fill_goes_on(
    database_url: str, anvil: Anvil
) -> None:
    before = without_items(database_url, anvil)
    items = in_steps(1)  # so a token a step, of five
    database = Database(database_url, statement_timeout_ms=0)
    prepare, create, fill, _ = items.parts
    steps = [(11, part) for part in (prepare, create, fill, fill, fill)]
    assert [migrations._apply_part(database, step) for step in steps] == [False] * 2 + [True] * 3
    assert rows_of(database_url, "SELECT count(*) FROM tokens_without_items") == [(3,)]
    with cursor_of(database_url) as cursor:  # a process that ends in the middle of a step
        cursor.execute(fill)
        cursor.connection.rollback()
    assert migrations._migrate(database, items)
    database.close()
    bring_up(database_url)
    assert (shape(database_url), digest(database_url)) == before


def test_a_fill_of_items_begins_anew_where_blocks_were_written_meanwhile(
    database_url: str, anvil: Anvil
) -> None:
    before = without_items(database_url, anvil)
    database = Database(database_url, statement_timeout_ms=0)
    for part in (*in_steps(1).parts[:2], *in_steps(1).parts[2:3] * 3):
        migrations._apply_part(database, (11, part))
    with cursor_of(
        database_url
    ) as cursor:  # as an indexer of the release before, with a transfer less
        cursor.execute("UPDATE chain SET version = version + 1")
        cursor.execute("DELETE FROM token_items")
    assert migrations._migrate(database, in_steps(1))
    database.close()
    bring_up(database_url)
    assert (shape(database_url), digest(database_url)) == before


def test_items_are_not_filled_beside_an_indexer(
    database_url: str, anvil: Anvil, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The indexer of an older release would write transfers without items."""
    before = without_items(database_url, anvil, tokens=0)
    monkeypatch.setattr(migrations, "PATIENCE_S", 0.1)
    with cursor_of(database_url) as indexer:
        indexer.execute("SELECT pg_advisory_lock(hashtextextended('scan.indexer', 0))")
        with pytest.raises(LockNotGranted, match="stop it"):
            bring_up(database_url)
    bring_up(database_url)
    assert (shape(database_url), digest(database_url)) == before


def trade_items(anvil: Anvil) -> None:
    """Lists of items, and of transfers of one, that are long enough for checkpoints."""
    one, two = anvil.accounts[:2]
    keepers = anvil.deploy(one, "Collectible", "Lantern Keepers", "LAMP")
    forge = anvil.deploy(one, "Items", "Forge and Field", "FORGE")
    for first in (0, 90, 180):
        ids = list(range(first, first + 90))
        anvil.transact(one, forge, "mintBatch", one, ids, [2] * 90, gas=12_000_000)
        anvil.transact(one, forge, "mintBatch", two, [5] * 90, [2] * 90, gas=12_000_000)
        anvil.mine()
    for token_id in (1, 2, 2**256 - 1):
        anvil.transact(one, keepers, "mint", one, token_id)
    anvil.transact(one, keepers, "transferFrom", one, two, 2)
    anvil.transact(one, keepers, "burn", 1)
    anvil.transact(one, forge, "burn", one, 3, 2)
    anvil.mine()
