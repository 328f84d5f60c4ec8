"""Migrations of a database with the demo chain."""

import pytest

from scan.extensions.demo.demo_node import start
from tests.support import database, first_release, table_digest
from tests.support.first_release import first_template, first_url
from tests.support.indexing import Indexing

__all__ = ["first_template", "first_url"]


@pytest.mark.thorough
def test_an_upgraded_database_has_the_rows_of_one_indexed_anew(first_url, database_url):
    """With a migration more, and a column more in a new database."""
    column = "ALTER TABLE blocks ADD COLUMN added text;"
    first_release.bring_up(first_url, first_release.release_with(column))
    database.execute(database_url, column)
    node = start(first_release.CHAIN)
    try:
        for url in (database_url, first_url):
            Indexing(url, node.url).run_until(node.recording.head)
    finally:
        node.stop()
    first_release.require_present_shape(first_url, first_release.shape(database_url))
    assert table_digest.digest(first_url) == table_digest.digest(database_url)
