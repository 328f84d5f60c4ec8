"""Operations with one hash: an entry point gives each another, what is at its address need not."""

from scan.extensions.user_operations.tests.operations_chain import chain
from tests.support.database import execute
from tests.support.indexing import Indexing

__all__ = ["chain"]


def test_an_operation_names_others_of_its_hash(chain, database_url):
    index = Indexing(database_url, chain.node.url).run_until(chain.node.head())
    operation = chain.operations[0]
    execute(
        database_url,
        "INSERT INTO user_operations (SELECT (jsonb_populate_record(u, jsonb_build_object("
        "'ordinal', u.ordinal + 100, 'log_index', 99))).* FROM user_operations u"
        " ORDER BY ordinal LIMIT 1)",
    )
    twice = index.client().get(f"/api/v1/user-operations/{operation['hash']}").json
    others = [other["logIndex"] for other in twice["others"]]
    assert (twice["logIndex"], others) == (99, [operation["logIndex"]])
