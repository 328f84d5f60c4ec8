"""How PostgreSQL serves a memo that each of 50,000 transactions carries, beside as many others."""

from eth_utils import keccak

from scan.extensions.memos.tests.conftest import INVOICE
from tests.support import auditing, database, explain

OF_TRANSACTIONS = "queries/memos_list_of_transactions"
MEMOS = """
    INSERT INTO memos (ordinal, block_number, transaction_index, text_hash, text)
    SELECT first_ordinal_in(t.block_number) + 2 * t.transaction_index + own, t.block_number,
        t.transaction_index, CASE own WHEN 0 THEN %s ELSE sha256(t.hash) END,
        CASE own WHEN 0 THEN %s ELSE t.ordinal::text END
    FROM transactions t, generate_series(0, 1) own
"""


def test_a_memo_of_very_many_is_a_list_like_any_other(postgres, seeded_template):
    with postgres.cloned(seeded_template) as url:
        database.execute(url, MEMOS, keccak(text=INVOICE), INVOICE)
        auditing.repair_rows(url)
        database.execute(url, "ANALYZE memos")
        with explain.explained(url) as service:
            path = "/api/v1/memos?text=Invoice+2026-114"
            total = service.client.get(f"{path}&limit=1").json["total"]
            assert total == database.execute(url, "SELECT count(*) FROM transactions")[0][0]
            buffers = []
            for page in (1, total // 50, total // 25):
                plans, _ = service.plans(f"{path}&limit=25&page={page}")
                for plan in plans:
                    plan.require_indexes(most_sorted=25)
                buffers.append(sum(plan.buffers for plan in plans))
            assert max(buffers) <= explain.DEEPER * buffers[0]
            for plan in service.plans("/api/v1/search?q=Invoice+2026-114")[0]:
                plan.require_indexes()
            plans = [p for p in service.plans("/txs")[0] if p.statement == OF_TRANSACTIONS]
            assert len(plans) == 1
            plans[0].require_indexes()
            assert plans[0].buffers < 25 * 20  # descents of two indexes a transaction: 335
