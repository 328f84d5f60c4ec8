"""What is followed, in every selection of logs, and where their logs come from."""

import json
from contextlib import contextmanager

import pytest

from scan.extensions.events import following as events_following
from scan.extensions.events.following import MOST_AUTOMATIC
from scan.extensions.events.tests.coffers import ABI, address_of, coffers, fill, following
from tests.support.database import execute, insert
from tests.support.indexing import Indexing
from tests.support.scan_command import scan

__all__ = ["coffers"]


@contextmanager
def index_and_followed(coffers, url, *builds, **settings):
    """An index that follows the chain, with the ABIs of builds, and what is followed in it."""
    anvil = coffers.anvil
    with Indexing(url, anvil.url, until=anvil.head(), **settings) as index:
        coffers.build(url, builds)
        connection, followed = following(url, anvil.url)
        with connection:
            yield index, followed


@pytest.mark.thorough
def test_logs_of_blocks_that_are_not_stored_are_the_nodes(coffers, database_url):
    anvil = coffers.anvil
    amounts = "SELECT amount::integer FROM events.coffer_deposited ORDER BY block_number"
    with Indexing(database_url, anvil.url, until=anvil.head(), stores_bodies=False):
        connection, followed = following(database_url)
        with connection:
            followed.add(address_of(coffers.proxy), "coffer", json.dumps(ABI))
            followed.make_views()
            assert followed.fill(followed.fills()[0]) is None
            [contract] = followed.contracts()
            assert "not stored" in contract.problem
            assert execute(database_url, amounts) == []
        connection, followed = following(database_url, anvil.url)
        with connection:
            fill(followed)
            assert execute(database_url, amounts) == [(1,), (2,), (3,), (4,), (5,)]
            assert followed.contracts()[0][2:5] == (0, False, None)


def test_a_proxy_that_is_upgraded_while_it_is_followed(coffers, database_url):
    """By an event, and without one, among blocks in which nobody looked."""
    anvil = coffers.anvil
    builds = [("Third", coffers.third)]
    deposits = (
        "SELECT amount::integer, fee::integer, owner_2::integer"
        " FROM events.coffer_deposited ORDER BY block_number"
    )
    with index_and_followed(coffers, database_url, *builds) as (index, followed):
        followed.add(address_of(coffers.proxy), "coffer")
        followed.make_views()
        fill(followed)
        coffers.upgrade()
        coffers.deposit(60)
        coffers.replace(coffers.third)
        coffers.deposit(7)
        coffers.replace(coffers.first)
        coffers.deposit(8)
        index.wait_for(anvil.head())
        followed.make_views()
        rows = [*((n, None, None) for n in range(1, 6)), (60, 6, None), (None, None, 7)]
        assert execute(database_url, deposits) == [*rows, (8, None, None)]
        # Nothing but a log of it says that it was another one.
        for _ in range(40):
            coffers.deposit(8)
        coffers.replace(coffers.second)
        for _ in range(80):
            coffers.deposit(90)
        index.wait_for(anvil.head())
        followed.make_views()
        rows += [(8, None, None)] * 41 + [(90, 9, None)] * 80
        assert execute(database_url, deposits) == rows
    names = "SELECT amount_2 IS NOT NULL FROM events.coffer_deposited WHERE owner_2 IS NOT NULL"
    assert execute(database_url, names) == [(True,)]


def test_logs_of_an_upgrades_block_are_of_the_version_that_ran_else_each_is_said(
    coffers, database_url
):
    anvil, deposit, upgrade = coffers.anvil, "deposit(uint256)", "upgrade(address)"
    builds = [("Third", coffers.third), ("Fourth", coffers.fourth)]
    with index_and_followed(coffers, database_url, *builds) as (index, followed):
        followed.add(address_of(coffers.proxy), "coffer")
        fill(followed)
        followed.make_views()
        coffers.block((deposit, 6), (upgrade, coffers.fourth), (deposit, 7))
        coffers.block(("upgradeAndDeposit(address,uint256)", coffers.first, 8), (deposit, 9))
        # Nothing says where in the block it was another one.
        coffers.block((deposit, 10), ("replace(address)", coffers.fourth), (deposit, 11))
        coffers.deposit(12)
        # A version that is there within a block alone.
        coffers.block(
            (upgrade, coffers.third), (deposit, 13), (upgrade, coffers.first), (deposit, 14)
        )
        index.wait_for(anvil.head())
        followed.make_views()
    in_order = "ORDER BY block_number, log_index"
    amounts = "SELECT amount::integer, owner_2::integer FROM events.coffer_deposited"
    assert execute(database_url, f"{amounts} {in_order} OFFSET 5") == [
        *((6, None), (7, None), (None, None), (9, None), (None, None), (None, None)),
        *((12, None), (None, 13), (14, None)),
    ]
    alternatives = (
        "SELECT alternatives FROM decoded_events WHERE alternatives IS NOT NULL ORDER BY ordinal"
    )
    owner = coffers.owner.lower()
    said = [of for (both,) in execute(database_url, alternatives) for of in both]
    assert [of for of in said if of[0] == owner] == [[owner, str(n)] for n in (8, 10, 11)]


def test_older_logs_tell_of_further_implementations(coffers, database_url, monkeypatch):
    monkeypatch.setattr(events_following, "SAMPLES", 1)  # of blocks between the first and the last
    coffers.upgrade()
    coffers.deposit(60)
    coffers.replace(coffers.first)
    coffers.deposit(7)
    coffers.deposit(7)
    with index_and_followed(coffers, database_url, logs="none") as (_, followed):
        followed.add(address_of(coffers.proxy), "coffer")
        followed.make_views()
        followed.make_views()  # by the implementations that it knows now
        fill(followed)
        followed.make_views()
    fees = "SELECT amount::integer FROM events.coffer_deposited WHERE fee = 6"
    assert execute(database_url, fees) == [(60,)]
    counted = execute(database_url, "SELECT count(*)::integer FROM events.coffer_deposited")
    assert counted == [(8,)]


def test_contracts_of_builds_are_followed_by_themselves(coffers, database_url):
    with index_and_followed(coffers, database_url) as (_, followed):
        followed.follow_builds()
        names = [(c.name, c.is_automatic) for c in followed.contracts()]
        assert names == [("first", True), ("second", True)]
        followed.remove(address_of(coffers.first))
        followed.follow_builds()
        assert [c.name for c in followed.contracts()] == ["second"]


@pytest.mark.thorough
def test_only_so_many_contracts_of_builds_are_followed(coffers, database_url, caplog):
    with index_and_followed(coffers, database_url) as (_, followed):
        execute(
            database_url,
            "INSERT INTO contracts SELECT substr(sha256(n::text::bytea), 1, 20), 1, code_hash"
            " FROM built_abis, generate_series(1, 60) AS n WHERE contract_name = 'First'"
            " UNION ALL SELECT substr(sha256(n::text::bytea), 1, 20), 1, code_hash"
            " FROM built_abis, generate_series(61, 120) AS n WHERE contract_name = 'Second'",
        )
        followed.follow_builds()
        assert len(followed.contracts()) == MOST_AUTOMATIC
        assert "22 contracts of builds or more are not followed" in caplog.text


def test_during_a_bulk_backfill_nothing_is_followed(coffers, database_url):
    Indexing(database_url, coffers.anvil.url).run_until(coffers.anvil.head())
    insert(database_url, "bulk_backfill", first_block=0, last_block=1, stage="load")
    done = scan("events", "add", coffers.proxy, DATABASE_URL=database_url)
    assert done.returncode != 0
    assert "a bulk backfill is not finished: follow contracts after it" in done.stderr


@pytest.mark.thorough
def test_a_view_that_cannot_be_made_stops_no_other_contracts(coffers, database_url):
    """Versions of an event with more columns than PostgreSQL has."""
    with index_and_followed(coffers, database_url) as (_, followed):
        for version in range(17):
            kinds = {"uint256": 99 - version, "bool": version}
            types = [kind for kind, count in kinds.items() for _ in range(count)]
            inputs = [{"name": f"v{version}_{n}", "type": t} for n, t in enumerate(types)]
            event = {"type": "event", "name": "Wide", "inputs": inputs}
            followed.add(bytes(20), "wide", json.dumps([event]))
            followed.make_views()
        followed.add(address_of(coffers.proxy), "coffer", json.dumps(ABI))
        followed.make_views()
        coffer, wide = followed.contracts()
        assert (coffer.views, coffer.views_problem) == (1, None)
        assert "A limit of PostgreSQL is exceeded" in wide.views_problem
    listed = scan("events", "list", DATABASE_URL=database_url)
    assert "views cannot be made: A limit of PostgreSQL" in listed.stdout


@pytest.mark.thorough
def test_large_logs_are_filled_in_small_steps(coffers, database_url):
    anvil = coffers.anvil
    emitter = anvil.accounts[5]
    # CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY CALLDATASIZE PUSH0 LOG0: all call data
    anvil.call("anvil_setCode", emitter, "0x365f5f37365fa000")
    for _ in range(3):
        anvil.send(coffers.owner, emitter, data="0x" + "ab" * 100_000, gas=20_000_000)
        anvil.mine()
    with index_and_followed(coffers, database_url) as (_, followed):
        followed.step_bytes = 150_000
        followed.add(address_of(emitter), "emitter", "[]")
        steps = []
        while fills := followed.fills():
            steps.append(followed.fill(fills[0]))
        assert steps == [2, 1]
    sizes = execute(database_url, "SELECT octet_length(data) FROM contract_events")
    assert sizes == [(100_000,)] * 3


def test_a_command_follows_several_contracts_and_says_of_which_no_event_is_known(
    coffers, database_url, tmp_path
):
    nothing, abi = f"0x{'1c' * 20}", tmp_path / "abi.json"
    abi.write_text(json.dumps(ABI))
    rule = (nothing[:-1] + "d", f"--abi={abi}", "--children")

    def add(*arguments):
        return scan("events", "add", *arguments, DATABASE_URL=database_url)

    with Indexing(database_url, coffers.anvil.url, until=coffers.anvil.head()):
        coffers.build(database_url)
        added = add(coffers.first, nothing)
        refused = add(coffers.first, nothing, "--name", "coffer")
        taken = add(*rule, "E(address first)")
        wrong = [
            add(nothing, "--argument", "first"),
            add(*rule, "E(address first)", "--argument", "second"),
            *(add(*rule, event) for event in ("E(uint256 first)", "E")),
        ]
        listed = scan("events", "list", DATABASE_URL=database_url)
    assert added.returncode == 0, added.stderr
    assert "first: all logs from block 0 on" in added.stdout
    assert added.stdout.count("none of its events are known") == 1
    assert refused.returncode != 0 and "--name" in refused.stderr
    assert taken.stderr == "another contract is followed as first: give another --name\n"
    assert {call.returncode for call in wrong} == {2}
    assert "factory" not in listed.stdout  # nor is the factory followed
