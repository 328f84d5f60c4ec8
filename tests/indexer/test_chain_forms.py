"""Chains in the form of other chains' nodes, as they are documented, through the whole service.

Of each: all blocks are indexed, fees are the documented ones, histories add up to the balances of
all accounts but those that docs/chains.md names, and bulk has the same rows.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask.testing import FlaskClient

from app import create_app
from scan.ethereum.block_validation import contradicting_fields
from scan.ethereum.client import Node
from scan.extensions.demo.demo_node import DemoNode
from scan.extensions.demo.replay import Recording
from scan.indexer.block_source import BlockSource
from scan.settings import Settings
from tests.extensions.audit import auditing
from tests.extensions.bulk.backfilling import backfill
from tests.indexer.test_op_stack import SIGNS, history
from tests.support.chain_forms.forms import FORMS
from tests.support.chain_forms.made_chain import MadeChain
from tests.support.chain_forms.others import polygon
from tests.support.database import Postgres
from tests.support.faulty_node import Calls, FaultyNode, Forward, Reply
from tests.support.indexing import Indexing, settings_for
from tests.support.table_digest import digest

# What the log says cannot be compared: types of transactions that no root is made of, hashes.
UNCHECKED = {
    "arbitrum": {"type 106", "type 100", "type 101", "type 104", "type 105"},
    "zksync": {"header and hash"},
    "polygon": {"a state sync"},
    "madhugiri": {"type 127"},
    "unnamed": {"type 80"},
}


@contextmanager
def indexed(
    chain: MadeChain, postgres: Postgres, template: str
) -> Iterator[tuple[Settings, DemoNode]]:
    node = DemoNode(Recording(chain.lines()), 0)
    with postgres.cloned(template) as url:
        yield Indexing(url, node.url).run_until(chain.head).settings, node
    node.stop()


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_indexed_as_it_is_documented(name, postgres, template, caplog):
    chain = FORMS[name]()
    with caplog.at_level(logging.WARNING), indexed(chain, postgres, template) as (settings, _):
        said = [record.getMessage() for record in caplog.records]
        unchecked = UNCHECKED.get(name, set())
        assert len(said) == len(unchecked), said
        assert all(any(part in message for message in said) for part in unchecked), said
        client = create_app(settings).test_client()
        blocks = client.get("/api/v1/blocks", query_string={"limit": 100}).json["blocks"]
        assert [block["number"] for block in blocks] == [*range(chain.head, -1, -1)]
        check_fees(chain, client)
        check_histories(chain, client)
        assert auditing.run(settings, node=True) == 0


def test_a_ticket_and_its_redemptions_name_each_other(postgres, template):
    with indexed(FORMS["arbitrum"](), postgres, template) as (settings, _):
        client = create_app(settings).test_client()
        listed = {
            type_: client.get(f"/api/v1/transactions?type={type_}&orderBy=asc").json["transactions"]
            for type_ in (0x68, 0x69)
        }
        counts = []
        for ticket in listed[0x69]:
            record = client.get(f"/api/v1/transactions/{ticket['hash']}").json
            own = [r for r in listed[0x68] if r["chainFields"]["ticketId"] == ticket["hash"]]
            assert record["redemptions"] == [r["hash"] for r in own]
            counts.append(len(own))
            page = client.get(f"/tx/{ticket['hash']}").text
            assert all(f"/tx/{r['hash']}" in page for r in own)
            assert f"/tx/{ticket['hash']}" in client.get(f"/tx/{own[0]['hash']}").text
            assert "redemptions" not in client.get(f"/api/v1/transactions/{own[0]['hash']}").json
        assert counts == [1, 2]


@pytest.mark.long
@pytest.mark.parametrize("name", FORMS)
def test_bulk_indexes_a_form_alike(name, postgres, template, tmp_path):
    chain = FORMS[name]()
    with indexed(chain, postgres, template) as (settings, node), postgres.cloned(template) as bulk:
        assert backfill(settings_for(bulk, node.url), tmp_path / "files", last_block=chain.head)
        assert digest(bulk) == digest(settings.database_url)


def test_a_state_sync_is_in_no_root_and_its_receipt_may_be_apart(postgres, template):
    chain = polygon()
    node = DemoNode(Recording(chain.lines(apart=frozenset(chain.state_syncs))), 0)
    with indexed(chain, postgres, template) as (settings, _), postgres.cloned(template) as url:
        Indexing(url, node.url).run_until(chain.head)
        assert digest(url) == digest(settings.database_url)
        client = create_app(settings).test_client()
        for hash_, number in chain.state_syncs.items():
            record = client.get(f"/api/v1/transactions/0x{hash_.hex()}").json
            assert (record["blockNumber"], record["status"], record["fee"]) == (number, True, "0")
            assert record["fromAddress"] == record["toAddress"] == f"0x{0:040x}"
            assert [int(log["address"], 16) for log in record["logs"]] == [0x1010, 0x1001]
            [(block, receipts)] = BlockSource(Node([node.url])).raw_blocks(number, number)
            assert len(block.transactions) == len(receipts) == {2: 3, 4: 1}[number]
            assert contradicting_fields(block, receipts) == ""
            if number == 2:
                block.transactions[0].value = "0x77"
                assert contradicting_fields(block, receipts) == "transactions and transactionsRoot"
    node.stop()


def test_receipts_that_lack_their_fee_for_l1_once_are_read_again(postgres, template):
    chain = FORMS["isthmus"]()
    recording = DemoNode(Recording(chain.lines()), 0)
    lacking: set[str] = set()

    def without_fee_once(calls: Calls, forward: Forward) -> Reply:
        answers = forward(calls)
        for answer in answers:
            receipts = answer.get("result")
            for receipt in receipts if isinstance(receipts, list) else []:
                if "l1Fee" in receipt and receipt["blockNumber"] not in lacking:
                    lacking.add(receipt["blockNumber"])
                    del receipt["l1Fee"]
        return Reply(body=answers)

    with FaultyNode(recording.url) as node, postgres.cloned(template) as url:
        node.fault = without_fee_once
        settings = Indexing(url, node.url).run_until(chain.head).settings
        assert lacking
        check_fees(chain, create_app(settings).test_client())
    recording.stop()


def check_fees(chain: MadeChain, client: FlaskClient) -> None:
    for hash_, fee in chain.fees.items():
        record = client.get(f"/api/v1/transactions/0x{hash_.hex()}").json
        assert int(record["fee"]) == fee, record
        parts = [int(part) for part in record["feeParts"].values() if part is not None]
        assert sum(parts) == fee, record


def check_histories(chain: MadeChain, client: FlaskClient) -> None:
    wrong = set()
    for holder in chain.addresses:
        rows, page = history(client, f"0x{holder.hex()}")
        moved = sum(SIGNS[row["direction"]] * int(row["amount"]) for row in rows)
        is_whole = moved == chain.balance(holder)
        assert (page["complete"], page["unexplained"] in ("0", None)) == (is_whole, is_whole), page
        if not is_whole:
            wrong.add(holder)
    assert wrong == chain.unknown, {*map(bytes.hex, wrong ^ chain.unknown)}
