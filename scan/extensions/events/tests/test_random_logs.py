"""Random logs of random events, in views of the schema `events`: SELECT returns what eth_abi
encoded."""

import json
from contextlib import closing
from decimal import Decimal
from random import Random

import psycopg2
import pytest

from scan.extensions.events.tests.random_events import PER_BLOCK, Contract, add, signature
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scan_command import scan
from tests.support.table_digest import digest

pytestmark = pytest.mark.thorough

FEW = (12, 400)
MANY = (60, 20_000)


def views_of(contract, url):
    """The rows of each event's view in the chain's order: block and arguments."""
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        for number, event in enumerate(contract.abi):
            names = [
                f'"{one["name"]}{"_hash" if is_hashed(one) else ""}"' for one in event["inputs"]
            ]
            columns = ", ".join(["block_number", *names, "is_malformed"])
            view = f"events.emitter_event{number}"
            order = "block_number, log_index"
            cursor.execute(f"SELECT {columns} FROM {view} ORDER BY {order}")  # noqa: S608
            yield number, [(block, [*map(shown, row)]) for block, *row, _ in cursor.fetchall()]


def is_hashed(one):
    return one["indexed"] and (
        one["type"] in ("bytes", "string", "tuple") or one["type"][-1] == "]"
    )


def shown(value):
    return str(int(value)) if isinstance(value, Decimal) else value


@pytest.mark.parametrize(("events", "logs"), [FEW, pytest.param(*MANY, marks=pytest.mark.long)])
def test_views_have_what_was_encoded_through_forks_and_after_a_rebuild(
    postgres, template, tmp_path, events, logs
):
    forks = (12, 3, 12)  # depths
    with Anvil() as anvil, postgres.cloned(template) as url, postgres.cloned(template) as fresh:
        contract = Contract(anvil, Random(102), events)
        abi = tmp_path / "abi.json"
        abi.write_text(json.dumps(contract.abi))
        contract.emit(logs // 2)
        with Indexing(url, anvil.url, until=anvil.head()) as index:
            add(url, contract.address, abi)
            contract.emit(logs // 2)
            for depth in forks:
                anvil.mine(depth)
                contract.emit(PER_BLOCK)
                index.wait_for(anvil.head())
                contract.forget(anvil.head() - depth)
                anvil.reorganise(depth)
                contract.emit(PER_BLOCK)
                index.wait_for(anvil.head())
        with Indexing(fresh, anvil.url, until=anvil.head()):
            add(fresh, contract.address, abi)
        views = [*views_of(contract, url)]
        assert views
        for number, rows in views:
            assert rows == contract.expected(number), signature(contract.abi[number])
        before = digest(url)
        assert before == digest(fresh)
        done = scan("rebuild", "contract_events", "--workers", "1", DATABASE_URL=url)
        assert done.returncode == 0, done.stderr
        assert digest(url) == before
