"""`scan audit --from --to`: rows of blocks, some at a time."""

from argparse import Namespace

import psycopg2
import pytest

from scan.database.statements import load_statements
from scan.errors import SettingError
from scan.extensions.audit import audit_command as audit
from tests.extensions.audit.auditing import run, spoil


def test_every_range_of_an_exact_index_is_exact(finished, monkeypatch, capsys):
    monkeypatch.setattr(audit, "RANGE_BLOCKS", 7)
    monkeypatch.setattr(audit, "SHOW_EVERY_S", 0.0)
    assert run(finished, first=0) == audit.EXACT
    assert "go on with --from 14" in capsys.readouterr().out
    assert run(finished, first=30, last=33, node=True) == audit.EXACT
    assert "rows of blocks 30 to 33 contradict each other: 0" in capsys.readouterr().out


WRONG = {
    "UPDATE blocks SET parent_hash = '' WHERE number = 40": "does not follow the one before",
    "DELETE FROM blocks WHERE number = 40": "blocks are missing",
    "UPDATE blocks SET logs_before = logs_before + 1 WHERE number = 40": "miscounts",
    "DELETE FROM transactions WHERE block_number = 40": "transactions are missing",
    "UPDATE transactions SET transaction_index = 9 WHERE block_number = 40": "misplaced",
    "UPDATE transactions SET gas_price = gas_price + 1 WHERE block_number = 40": "gas prices",
    "DELETE FROM token_transfers WHERE ordinal = 7": "token transfers are missing",
    "UPDATE token_transfers SET log_index = 999 WHERE ordinal = 7": "token transfers are missing",
    "UPDATE token_transfers SET token_address = '' WHERE ordinal = 7": "token transfers are",
    "UPDATE dex_trades SET maker = '' WHERE ordinal = 3": "trades are missing or misplaced",
    "UPDATE internal_transfers SET transfer_index = 9 WHERE ordinal = 3": "internal transfers are",
    "UPDATE blocks SET traced = false WHERE internal_transfer_count > 0": "internal transfers are",
    "DELETE FROM logs WHERE ordinal = 5": "logs are missing or misplaced",
    "DELETE FROM log_emitters": "logs are missing or misplaced",
    "UPDATE blocks SET withdrawal_count = 2 WHERE number = 40": "withdrawals are missing",
}


def test_rows_that_contradict_their_block_are_reported(finished):
    """Each fault in a transaction that is taken back."""
    statement = load_statements()["audit/block_range_check"].text
    connection = psycopg2.connect(finished.database_url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT max(number) FROM blocks")
            span = {"block_from": 0, "block_to": cursor.fetchone()[0]}
            cursor.execute(statement, span)
            assert cursor.fetchall() == []
            for fault, report in WRONG.items():
                cursor.execute(fault)
                assert cursor.rowcount > 0, fault
                cursor.execute(statement, span)
                assert any(report in rule for rule, _, _ in cursor.fetchall()), fault
                connection.rollback()
    finally:
        connection.close()


def test_a_range_is_reported_by_its_exit_code(copied, capsys):
    spoil(copied, "DELETE FROM token_transfers WHERE ordinal = 7")
    assert run(copied, first=0) == audit.DIFFERS
    assert "token transfers are missing or misplaced: 1, such as block" in capsys.readouterr().out


def test_a_range_is_neither_repaired_nor_digested(finished):
    for option in ("repair", "digest"):
        chosen = {"repair": False, "digest": False, "node": False, option: True}
        with pytest.raises(SettingError, match="not possible together"):
            audit.run(finished, Namespace(first=1, last=None, **chosen))
