"""Memos in bulk."""

from scan.extensions.backfill.tests.backfilling import backfill
from scan.extensions.memos.tests.conftest import INVOICE, chain
from tests.support import indexing, table_digest

__all__ = ["chain"]


def test_bulk_has_the_same_memos(chain, postgres, template, tmp_path):
    for text in (INVOICE, "\u202etab\tand \\N \\. 'quotes\" №", INVOICE, "é" * 3000):
        chain.send(text)
    chain.index()
    assert len(chain.memos()) == 4
    with postgres.cloned(template) as url:
        settings = indexing.settings_for(url, chain.node.url)
        assert backfill(settings, tmp_path / "files", last_block=chain.node.head())
        assert table_digest.digest(url) == table_digest.digest(chain.settings.database_url)
