"""`scan audit` finds what was changed behind its back, and mends what can be computed."""

import pytest

from scan.audit import derived_tables
from scan.commands import audit
from tests.support.auditing import COUNT_HOLDERS, run, spoil
from tests.support.indexing import status
from tests.support.serving import wait_until
from tests.support.table_digest import digest


def test_spoilt_derived_values_are_found_and_repaired(copied, capsys):
    before = digest(copied.database_url)
    # The scenario has no list of few rows.
    count_operations = (
        "INSERT INTO list_counts (list, key, count) VALUES ('user_operations', '', 3)"
    )
    spoilt = (
        "UPDATE addresses SET sent_count = 99, first_seen = first_seen + 1 WHERE sent_count > 10",
        "UPDATE blocks SET gas_price_sum = 7 WHERE number = 50",
        "DELETE FROM addresses WHERE transfer_count > 0",
        count_operations,
        COUNT_HOLDERS,
        "DELETE FROM token_holders",
        "INSERT INTO token_holders SELECT '\\x01', address, 5 FROM tokens",
        "UPDATE token_holder_ranges SET holder_count = 1",
        "INSERT INTO item_balances SELECT DISTINCT '\\x02'::bytea, first_ordinal, 5"
        " FROM token_items",
        "DELETE FROM token_items",
        "DELETE FROM item_balances WHERE balance <> 5",
        "UPDATE tokens SET holder_count = holder_count + 1 WHERE transfer_count > 5",
        "DELETE FROM token_ranks",
        "UPDATE dexes SET trade_count = trade_count + 1",
        "INSERT INTO dexes (name) VALUES ('nobody trades here')",
        "UPDATE pools SET trade_count = trade_count + 1",
        "DELETE FROM list_checkpoints",
        "DELETE FROM daily_stats",
        "DELETE FROM pool_candles",
        "UPDATE chain SET token_count = 0",
        "UPDATE addresses SET log_count = 0",
        "UPDATE event_topics SET log_count = 0",
        "UPDATE blocks SET untraced_before = 3, internal_transfers_before = 0 WHERE number > 20",
        "UPDATE pool_volumes SET volume1 = 7",
    )
    for statement in spoilt:
        spoil(copied, statement)
    assert run(copied) == audit.DIFFERS
    output = capsys.readouterr().out
    # The scenario has none; the tests of block_records spoil them.
    for table in derived_tables.DERIVED.keys() - {"authorizations"}:
        assert f"{table} differ: " in output and f"{table} differ: 0" not in output
    assert run(copied, repair=True) == audit.EXACT
    assert run(copied) == audit.EXACT
    assert digest(copied.database_url) == before


def test_rows_that_are_not_the_nodes_are_found(copied, capsys):
    spoil(copied, "UPDATE chain SET stored_logs = 'all'")
    # What is changed together, and what is said of it beside the node.
    altered = {
        "UPDATE transactions SET value = value + 1, status = NOT status"
        " WHERE block_number = 19": "value is|status is",
        "UPDATE blocks SET gas_limit = 1, timestamp = timestamp + interval '1 s'"
        " WHERE number = 9": "gas_limit is 1|timestamp_s is",
        "UPDATE token_transfers SET value = 1 WHERE block_number = 7": "token_transfers 7",
        "DELETE FROM token_transfers WHERE block_number = 37": "token_transfers 37",
        "UPDATE dex_trades SET amount_in = amount_in + 1 WHERE block_number = 38": "amount_in is",
        "DELETE FROM log_emitters WHERE block_number = 9": "log_emitters",
        "UPDATE internal_transfers SET value = value + 1 WHERE ordinal = 5": "internal_transfers",
        "UPDATE internal_transfers SET type = type + 1 WHERE ordinal = 6": "type is",
        "DELETE FROM internal_transfers WHERE ordinal = 7": "is missing",
        "INSERT INTO withdrawals VALUES (9, 1, 1, '\\x01', 1)": "withdrawals 9 1 is not",
        "UPDATE logs SET data = '\\x01' WHERE ordinal = 7": "data is 0x01, the node has",
        "UPDATE logs SET topics = '\\x' WHERE ordinal = 8": "topics is 0x",
        "DELETE FROM logs WHERE ordinal = 9": "logs ",
        "DELETE FROM tokens WHERE address = (SELECT token_address FROM token_transfers"
        " ORDER BY ordinal DESC LIMIT 1)": "counts nowhere",
        "DELETE FROM token_transfers WHERE token_address NOT IN (SELECT address FROM tokens)": "",
    }
    for statement in altered:
        spoil(copied, statement)
    assert run(copied, node=True, first=0) == audit.DIFFERS  # which shows all
    printed = capsys.readouterr().out
    texts = [text for messages in altered.values() for text in messages.split("|")]
    assert [text for text in texts if text not in printed] == []


@pytest.mark.thorough
def test_an_indexer_at_work_keeps_repair_away(own_index, capsys):
    # It takes the lock once it has read the head, after what this test waits for.
    wait_until(lambda: run(own_index.settings, repair=True) == audit.NOT_COMPARED)
    assert "stop it before --repair" in capsys.readouterr().out
    assert status(own_index.url)["problem"] is None
