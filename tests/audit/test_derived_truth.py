"""Derived tables hold what tests/support/derived_truth.py makes of the node's blocks.

So they do after reorganisations, and so does what `scan audit` expects in them.
"""

import random
from dataclasses import replace

import pytest

from scan.database import connection, lists
from scan.indexer import writer
from tests.audit.columns import NOT_COMPARED
from tests.support import auditing, derived_lists, derived_truth
from tests.support.auditing import require_same, stored
from tests.support.database import SHORT_CHECKPOINTS, execute, use_short_checkpoints
from tests.support.indexing import Indexing, batches_of
from tests.support.truth.reading import ZERO

# Each table's key.
TABLES = {
    derived_truth.blocks: ("number",),
    derived_truth.addresses: ("address",),
    derived_truth.token_holders: ("holder", "token_address"),
    derived_truth.tokens: ("address",),
    derived_truth.token_items: ("token_address", "first_ordinal"),
    derived_truth.item_balances: ("holder", "first_ordinal"),
    derived_truth.event_topics: ("topic0",),
    derived_truth.dexes: ("name",),
    derived_truth.daily_stats: ("day",),
}


@pytest.fixture(scope="module")
def reorganised(finished, shared_database_url, scenario):
    """The scenario's index, indexed in steps, of which blocks were removed and indexed again.

    In one step, what is added too much and removed as often would cancel out.
    """
    head, url = scenario.anvil.head(), shared_database_url
    use_short_checkpoints(url)
    indexing = {"database_url": url, "rpc_url": scenario.anvil.url, "logs": "all"}
    indexing["limits"] = batches_of(head // 4, commit_share=2**62)
    Indexing(**indexing).run_until(head)
    for removals in ((head - 3, head * 2 // 3), (head // 2, head // 3, head // 12)):
        database = connection.Database(url, statement_timeout_ms=0)
        for last_kept in removals:
            writer.Writer(database).unwind(last_kept)
        database.close()
        Indexing(**indexing).run_until(head)
    return replace(finished, database_url=url)


def require_derived(settings, table, truth, make):
    columns = list(dict.fromkeys(name for row in truth.values() for name in row))
    rows = stored(settings, table, TABLES[make], columns)
    require_same(rows, truth, null_is_zero=make is derived_truth.addresses)


@pytest.mark.parametrize(
    "make",
    # The other columns of blocks are the node's, which `scan audit --node` compares.
    [make for make in TABLES if make is not derived_truth.blocks],
    ids=lambda make: make.__name__,
)
def test_every_column_is_computed_from_the_node(finished, scenario, make):
    table = make.__name__
    computed = {name for row in make(scenario.truth).values() for name in row} | {*TABLES[make]}
    attributes = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
    names = {name for (name,) in execute(finished.database_url, attributes, table)}
    missing = {f"{table}.{name}" for name in names - computed} - NOT_COMPARED
    assert not missing, (
        f"{', '.join(sorted(missing))}: compute the column in {table}() of"
        " tests/support/derived_truth.py"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_the_audit_expects_what_the_node_has(reorganised, scenario, make):
    """And finds it in the tables, as the test after this one says."""
    named = {
        derived_truth.event_topics: "(SELECT t.topic0, e.log_count"
        " FROM event_topics_expected() e JOIN event_topics t USING (topic_id)) AS named",
        derived_truth.dexes: "(SELECT d.name, e.trade_count"
        " FROM dexes_expected() e JOIN dexes d USING (dex_id)) AS named",
    }
    table = named.get(make, f"{make.__name__}_expected()")
    require_derived(reorganised, table, make(scenario.truth), make)


def test_derived_tables_are_as_the_audit_expects_them(finished, reorganised):
    assert auditing.run(reorganised, node=True) == auditing.EXACT
    assert auditing.run(finished) == auditing.EXACT


def test_checkpoints_are_as_the_node_has_it(finished, reorganised, scenario):
    key, columns = ("list", "key", "place"), ["ordinal", "block_number"]
    # The lists of which the scenario has many rows. Of the others the tests of the extensions
    # user_operations and block_records have more.
    history = lists.read_table().get("history", {}).values()
    plain = [entity for entity in lists.all_entities().values() if not entity.is_sparse]
    named = {
        *(list_.name for entity in plain for list_ in entity.counted),
        *(of_type[role] for of_type in history for role in {"sent", "received"} & of_type.keys()),
        "token_transfers_by_item",
        "token_items_by_token",
        "contract_creations",
        "contract_creations_by_creator",
        "contract_creations_by_factory",
    }
    computed = {n for n, *_ in derived_lists.list_checkpoints(scenario.truth, SHORT_CHECKPOINTS)}
    unknown, missing = sorted(computed - named), sorted(named - computed)
    assert not unknown, f"{unknown}: no list with a counter in [lists] of sql/lists.toml"
    assert not missing, (
        f"{missing}: say under which keys a record is listed in NAMES_OF_KEYS of"
        " tests/support/derived_lists.py"
    )
    for settings, every in ((finished, 128), (reorganised, SHORT_CHECKPOINTS)):
        truth = derived_lists.list_checkpoints(scenario.truth, every)
        require_same(stored(settings, "list_checkpoints", key, columns), truth)


def test_creations_are_counted_as_the_node_has_them(finished, reorganised, scenario):
    entries = derived_lists.entries_of_contract_creations(scenario.truth)
    for settings in (finished, reorganised):
        rows = stored(settings, "list_counts", ("list", "key"), ["count"])
        counts = {key: row for key, row in rows.items() if key[0] in {name for name, _ in entries}}
        require_same(counts, {key: {"count": len(listed)} for key, listed in entries.items()})


@pytest.mark.parametrize(
    ("change", "field", "value", "make"),
    [
        pytest.param("value = 12345", "value", "12345", derived_truth.addresses, id="is paid"),
        pytest.param("status = false", "status", False, derived_truth.daily_stats, id="failed"),
    ],
)
def test_a_creation_is_counted_as_what_it_is(copied, scenario, change, field, value, make):
    """Coin that it pays is sent; one that failed makes no contract."""
    creation = next(t for t in scenario.truth.transactions if t["contractAddress"] and t["status"])
    hash_ = bytes.fromhex(creation["hash"][2:])
    execute(copied.database_url, f"UPDATE transactions SET {change} WHERE hash = %s", hash_)  # noqa: S608
    changed = [t | {field: value} if t is creation else t for t in scenario.truth.transactions]
    truth = make(replace(scenario.truth, transactions=changed))
    require_derived(copied, f"{make.__name__}_expected()", truth, make)


def test_items_are_not_counted_for_those_who_spent_more_than_they_had(copied, scenario):
    transfers = scenario.truth.token_transfers
    mint = next(
        index
        for index, transfer in enumerate(reversed(transfers))
        if transfer["tokenType"] == "BEP1155" and transfer["fromAddress"] == ZERO
    )
    newest = len(transfers) - 1
    execute(copied.database_url, "UPDATE token_transfers SET value = 0 WHERE ordinal = %s", mint)
    spent = [
        {**transfer, "value": "0"} if newest - index == mint else transfer
        for index, transfer in enumerate(transfers)
    ]
    truth = replace(scenario.truth, token_transfers=spent)
    assert any(row["balance"] < 0 for row in derived_truth.item_balances(truth).values())
    for make in (
        derived_truth.item_balances,
        derived_truth.token_items,
        derived_truth.tokens,
        derived_truth.addresses,
    ):
        require_derived(copied, f"{make.__name__}_expected()", make(truth), make)


def test_blocks_count_those_before_them_that_have_traces(copied, scenario):
    url, head = copied.database_url, scenario.truth.head
    columns = ["traced_before", "untraced_before"]
    chance, of_blocks = random.Random(3), (None, True, False)  # None where that is not known
    traced = [[value] * (head + 1) for value in of_blocks]
    traced += [[True] * head + [False], [False] * head + [True], [False, *[None] * head]]
    traced += [chance.choices(of_blocks, k=head + 1) for _ in range(2)]
    for values in traced:
        execute(url, "UPDATE blocks SET traced = (%s::boolean[])[number + 1]", values)
        counted = {
            number: {
                "traced_before": values[:number].count(True),
                "untraced_before": values[:number].count(False),
            }
            for number in range(head + 1)
        }
        assert stored(copied, "blocks_expected()", ("number",), columns) == counted
        execute(
            url,
            "UPDATE blocks b SET traced_before = e.traced_before,"
            " untraced_before = e.untraced_before FROM blocks_expected() e"
            " WHERE e.number = b.number",
        )
        untraced = [number for number, value in enumerate(values) if value is False]
        count = None if untraced and True not in values else len(untraced)
        newest = max(untraced, default=-1)
        counted = execute(url, "SELECT untraced_blocks(), newest_untraced_block()")
        assert counted == [(count, newest)]
