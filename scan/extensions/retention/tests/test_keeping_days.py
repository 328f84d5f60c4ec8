"""Addresses that are kept, kept later, and kept no more, while blocks pass of which 16 stay."""

from argparse import Namespace
from collections import namedtuple
from contextlib import closing

import pytest

from app import create_app
from scan.commands.audit import DIFFERS, EXACT
from scan.database.connection import Database
from scan.database.errors import LockNotGranted
from scan.errors import ScanError
from scan.ethereum.checksums import checksummed
from scan.extensions.retention import keep_command
from scan.extensions.retention.maintenance import Retention
from scan.extensions.retention.tests.forty_days import FINALITY, FIRST, remove
from scan.hex import to_hex
from scan.indexer import partitions, writer
from scan.settings import Keep
from tests.support import auditing, indexing
from tests.support.database import execute, insert, use_short_checkpoints
from tests.support.made_blocks import Chain, Move, address
from tests.support.partitions import PARTS
from tests.support.serving import NOWHERE

pytestmark = pytest.mark.thorough

ANNA, BERT, CARL, DORA = map(address, ("anna", "bert", "carl", "dora"))
KEEP = Keep(16, None)


class Passing(namedtuple("Passing", "chain retention settings")):
    """A chain as its blocks pass."""

    def append(self, blocks):
        for _ in range(blocks):
            number = self.chain.number + 1
            moves = [Move(ANNA, BERT, tokens=2), Move(BERT, address(f"somebody {number}"))]
            moves += [Move(CARL, BERT, tokens=1)] * (number % 3 == 0)
            moves += [Move(ANNA, DORA, tokens=1)] * (number % 4 == 0)
            self.chain.append(moves, timestamp_s=1_700_000_000 + number * 3600)
            remove(self.retention, number)

    def keep(self, *addresses):
        options = Namespace(addresses=[*map(to_hex, addresses)], file=None, watched=False)
        return keep_command.add_some(self.settings, options)

    def require_whole(self, of, since=0):
        """Require the lists of an address to be whole from a block on, also by the audit."""
        client = create_app(self.settings).test_client()  # others may answer as seconds ago
        for name in ("transactions", "token-transfers"):
            answer = client.get(f"/api/v1/{name}", query_string={"address": to_hex(of)}).json
            assert answer.get("keptFrom", {"blockNumber": 0})["blockNumber"] == since
        assert auditing.run(self.settings) == EXACT


@pytest.fixture
def passing(database_url, database, monkeypatch):
    monkeypatch.setattr(partitions, "LEAST_KEPT_ROWS", 1)
    use_short_checkpoints(database_url)
    chain = Chain(database, writer.Writer(database, 10**6, KEEP))
    retention = Retention(database, KEEP, FINALITY, wait_s=0.0)
    return Passing(chain, retention, indexing.settings_for(database_url, NOWHERE))


def test_kept_addresses_stay_complete_while_days_pass_and_forks_come(passing):
    passing.append(5)
    assert passing.keep(CARL) == 0
    for _ in range(3):
        passing.append(12)
        passing.chain.unwind(passing.chain.number - FINALITY + 1)
        passing.append(FINALITY)
        assert auditing.run(passing.settings) == EXACT
    passing.require_whole(CARL)
    assert execute(passing.settings.database_url, PARTS, "transactions")[0][0] < 25
    auditing.spoil(
        passing.settings,
        "DELETE FROM token_transfers WHERE ordinal = (SELECT min(ordinal) FROM token_transfers)",
    )
    assert auditing.run(passing.settings) == DIFFERS


def test_an_address_that_is_added_later_says_from_when_and_one_removed_has_none_any_more(passing):
    url = passing.settings.database_url
    assert passing.keep(CARL) == 0
    passing.append(30)
    [(since,)] = execute(url, FIRST)
    assert since > 4
    passing.keep(DORA)
    passing.append(30)
    passing.require_whole(CARL)
    passing.require_whole(DORA, since=since)
    assert auditing.run(passing.settings) == EXACT
    [(first,)] = execute(url, FIRST)
    options = Namespace(addresses=[to_hex(CARL)])
    assert [keep_command.remove_some(passing.settings, options) for _ in range(2)] == [0, 1]
    assert auditing.run(passing.settings) == EXACT
    passing.require_whole(CARL, since=first)
    passing.keep(CARL)
    passing.append(12)
    passing.require_whole(CARL, since=first)
    passing.require_whole(DORA, since=since)
    assert auditing.run(passing.settings) == EXACT
    auditing.spoil(
        passing.settings,
        "UPDATE list_checkpoints SET ordinal = ordinal - 1 WHERE (list, key, ordinal) = ("
        "SELECT list, key, min(ordinal) FROM list_checkpoints"
        " WHERE key IN (SELECT address FROM kept_addresses) GROUP BY list, key LIMIT 1)",
    )
    assert auditing.run(passing.settings) == DIFFERS


def test_a_file_has_an_address_a_line(passing, tmp_path, capsys):
    file = tmp_path / "addresses"
    lines = ["# mine", f"{checksummed(to_hex(ANNA))} # a", "", to_hex(BERT), to_hex(ANNA), ""]
    file.write_text("\r\n".join(lines))
    options = Namespace(addresses=[], file=file, watched=True)
    watched = {"id": 1, "url": "http://a", "event_types": ["tx"], "watch_address": CARL}
    insert(passing.settings.database_url, "webhooks", **watched, client_address=None)
    assert keep_command.add_some(passing.settings, options) == 0
    assert "3 addresses added, 3 are kept" in capsys.readouterr().out
    keep_command.list_all(passing.settings, Namespace(json=True, names=("address", "completeFrom")))
    assert capsys.readouterr().out.count('"completeFrom": 0') == 3
    mistyped = to_hex(ANNA).replace("a", "A").replace("b", "B")
    for wrong in (b"anna", f"{mistyped}\n".encode(), b"\xff"):
        file.write_bytes(b"\n" + wrong)
        with pytest.raises(ScanError, match=r"line 2|UTF-8"):
            keep_command.add_some(passing.settings, options)


def test_lists_do_not_begin_later_while_addresses_are_being_added(passing):
    passing.append(20)
    url = passing.settings.database_url
    with closing(Database(url, statement_timeout_ms=0)) as other, other.transaction() as tx:
        added = tx.execute("commands/kept_addresses_add", addresses=[CARL], are_watched=False)
        with pytest.raises(LockNotGranted):
            passing.append(5)
    [(since,)] = execute(url, FIRST)
    passing.append(20)
    assert added == 1
    passing.require_whole(CARL, since=since)


def test_a_fork_gives_an_item_back_to_whom_removed_rows_gave_it_after_a_kept_one(
    database_url, database
):
    """Item 1 went to BERT in a kept transaction, to CARL in one that is removed, and to DORA."""
    execute(database_url, "SELECT add_partition('token_transfers', 0, 10)")
    token, item = {"token_address": ANNA}, {"token_id": 1}
    insert(database_url, "tokens", address=ANNA, type="BEP721", decimals=None, has_holdings=True)
    for number in range(4):
        rows = {"token_transfers_before": number, "token_transfer_count": 1}
        insert(database_url, "blocks", number=number, hash=bytes([number]), **rows)
    for ordinal, owner in ((0, BERT), (3, DORA)):
        row = {"ordinal": ordinal, "block_number": ordinal, "to_address": owner}
        insert(database_url, "token_transfers", **token, **item, **row)
    insert(database_url, "removed_items", **token, **item, first_ordinal=0, last_recipient=CARL)
    insert(database_url, "retention", first_block=3, removed_to=3)
    insert(database_url, "token_items", **token, first_ordinal=0, transfer_count=3, owner=DORA)
    with database.transaction() as tx:
        [(span,)] = execute(database_url, "SELECT range_of_blocks(3, 3)::text")
        tx.execute("indexer/token_items_derive", span=span, sign=-1)
    [(owner,)] = execute(database_url, "SELECT owner FROM token_items")
    assert bytes(owner) == CARL
