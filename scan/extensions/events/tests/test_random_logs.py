"""Random logs of random events, in views of the schema `events`: SELECT returns what eth_abi
encoded."""

import json
from random import Random

import pytest

from scan.extensions.events.tests.random_events import PER_BLOCK, Contract, add, rows_of, signature
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scan_command import scan
from tests.support.table_digest import digest

pytestmark = pytest.mark.thorough

FEW = (12, 400)
MANY = (60, 20_000)


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
        for number, event in enumerate(contract.abi):
            rows = rows_of(url, f"events.emitter_event{number}", event)
            assert rows == contract.expected(number), signature(event)
        before = digest(url)
        assert before == digest(fresh)
        done = scan("rebuild", "contract_events", "--workers", "1", DATABASE_URL=url)
        assert done.returncode == 0, done.stderr
        assert digest(url) == before
