"""Rows that contradict each other are found by `scan audit`, and by `scan audit --from --to`."""

from argparse import Namespace
from contextlib import closing

import psycopg2
import pytest

from scan.audit.stored_source import StoredComparison
from scan.commands import audit
from scan.database.connection import Database
from scan.database.statements import read_statement
from scan.errors import SettingError
from tests.support.auditing import run, spoil

TRANSFERS, TRADES = "token transfers are missing", "trades are missing or misplaced"
INTERNAL, LOGS = "internal transfers are missing", "logs are missing or misplaced"


def test_rows_that_contradict_each_other_are_reported(finished):
    """Each fault in a transaction that is taken back."""
    statements = [
        read_statement(name).text for name in ("audit/whole_chain_check", "audit/block_range_check")
    ]
    connection = psycopg2.connect(finished.database_url)

    def rules_broken(cursor, statement, span):
        cursor.execute(statement, span)
        return [rule for rule, _, _ in cursor.fetchall()]

    older_order = "UPDATE transactions SET ordinal = ordinal + 1000000 WHERE ordinal > 50"
    transfer_twice = (
        "INSERT INTO token_transfers SELECT (x).* FROM (SELECT jsonb_populate_record(x,"
        " jsonb_build_object('ordinal', ordinal + 1)) AS x FROM token_transfers AS x"
        " ORDER BY ordinal DESC LIMIT 1) AS newest"
    )
    same_call = (
        "UPDATE internal_transfers i SET transfer_index = p.transfer_index"
        " FROM internal_transfers p WHERE p.ordinal = i.ordinal - 1"
        " AND p.block_number = i.block_number AND p.transaction_index = i.transaction_index"
    )
    # The one behind the last of its block.
    no_transaction = (
        "UPDATE {0} SET transaction_index = b.transaction_count FROM blocks b"
        " WHERE b.number = {0}.block_number AND {0}.ordinal = b.{0}_before + b.{1}_count - 1"
    )
    # Its token was there until the block before.
    token_ended = (
        "UPDATE tokens k SET ended_in = x.block_number, earlier_lives = jsonb_build_array("
        "to_jsonb(k) || jsonb_build_object('end_block', x.block_number)) FROM token_transfers x"
        " WHERE x.ordinal = (SELECT max(ordinal) FROM token_transfers)"
        " AND x.token_address = k.address"
    )
    # A fault, and what each audit says of it: of the whole chain, and of a range of blocks.
    wrong = (
        (
            "UPDATE blocks SET parent_hash = hash WHERE number = 40",
            "not follow",
            "does not follow the",
        ),
        ("DELETE FROM blocks WHERE number = 40", "does not follow", "blocks are missing"),
        ("UPDATE blocks SET logs_before = logs_before + 1 WHERE number = 40", "", "miscounts"),
        (
            "DELETE FROM transactions WHERE block_number = 94",
            "a log has no transaction",
            "are missing",
        ),
        (
            "UPDATE transactions SET transaction_index = 9 WHERE block_number = 40",
            "transactions are missing",
            "misplaced",
        ),
        (
            "UPDATE transactions SET gas_price = gas_price + 1 WHERE block_number = 40",
            "",
            "gas prices",
        ),
        ("DELETE FROM transactions WHERE ordinal = 0", "transactions are not numbered", "missing"),
        (older_order, "transactions are not numbered", "transactions are missing"),
        ("DELETE FROM token_transfers WHERE ordinal = 7", "transfers are not numbered", TRANSFERS),
        ("UPDATE token_transfers SET log_index = 999 WHERE ordinal = 7", "", TRANSFERS),
        ("UPDATE token_transfers SET token_address = '' WHERE ordinal = 7", "no token", TRANSFERS),
        (token_ended, "a transfer has no token", ""),
        ("UPDATE token_transfers SET ordinal = 99999 - ordinal", "are not numbered", TRANSFERS),
        (no_transaction.format("token_transfers", "token_transfer"), "", TRANSFERS),
        (no_transaction.format("logs", "log"), "", LOGS),
        (transfer_twice, "transfers are not numbered", ""),
        ("DELETE FROM dex_trades WHERE ordinal = 3", "trades are not numbered", TRADES),
        ("UPDATE dex_trades SET maker = '\\x01' WHERE ordinal = 3", "of its maker", TRADES),
        ("UPDATE dex_trades SET log_index = 0 WHERE ordinal = 1", "trades are not numbered", ""),
        (
            "DELETE FROM internal_transfers WHERE ordinal = 3",
            "internal transfers are not",
            INTERNAL,
        ),
        (same_call, "internal transfers are not", INTERNAL),
        (
            "UPDATE blocks SET traced = false WHERE internal_transfer_count > 0",
            "in a block where none are known",
            "internal transfers are",
        ),
        ("UPDATE transactions SET status = false", "no transaction that succeeded", ""),
        ("DELETE FROM logs WHERE ordinal = 0", "logs are not numbered", LOGS),
        ("UPDATE logs SET log_index = 1000 WHERE ordinal = 1", "logs are not numbered", LOGS),
        ("DELETE FROM log_emitters", "a log has no emitter", LOGS),
        ("DELETE FROM event_topics WHERE log_count > 50", "a log has no first topic", ""),
        ("DELETE FROM codes WHERE length(code) > 5000", "a contract has no code", ""),
        (
            "UPDATE blocks SET withdrawal_count = 2 WHERE number = 40",
            "withdrawals are missing",
            "withdrawals are missing",
        ),
        ("INSERT INTO withdrawals VALUES (9999, 1, 1, '\\x01', 1)", "stands in no block", ""),
        (
            "INSERT INTO withdrawals VALUES (3, 1, 1, '\\x01', 1)",
            "missing or too many",
            "withdrawals",
        ),
    )
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT max(number) FROM blocks")
            span = {"block_from": 0, "block_to": cursor.fetchone()[0]}
            assert [rules_broken(cursor, statement, span) for statement in statements] == [[], []]
            for fault, *reports in wrong:
                cursor.execute(fault)
                assert cursor.rowcount > 0, fault
                for statement, report in zip(statements, reports, strict=True):
                    rules = rules_broken(cursor, statement, span)
                    assert report in "; ".join(rules), (fault, rules)
                connection.rollback()
    finally:
        connection.close()


@pytest.mark.thorough
def test_they_are_not_repaired(copied, capsys):
    spoil(copied, "DELETE FROM token_transfers WHERE ordinal = 7")
    assert run(copied, first=0) == audit.DIFFERS
    assert "token transfers are missing or misplaced: 1, such as block" in capsys.readouterr().out
    assert run(copied, repair=True) == audit.DIFFERS
    assert "  transfers are not numbered in their order: " in capsys.readouterr().out


def test_every_range_of_an_exact_index_is_exact(finished, capsys):
    with closing(Database(finished.database_url, statement_timeout_ms=0)) as database:
        frequent = {"range_blocks": 7, "show_every_s": 0.0}
        stored = StoredComparison(database)
        assert audit.audit_blocks(database, stored, 0, None, **frequent) == audit.EXACT
    assert "go on with --from 14" in capsys.readouterr().out
    assert run(finished, first=30, last=33, node=True) == audit.EXACT
    assert "rows of blocks 30 to 33 contradict each other: 0" in capsys.readouterr().out


def test_a_range_is_neither_repaired_nor_digested(finished):
    for option in ("repair", "digest"):
        chosen = {"repair": False, "digest": False, "node": False, option: True}
        with pytest.raises(SettingError, match="not possible together"):
            audit.run(finished, Namespace(first=1, last=None, proofs=None, **chosen))
