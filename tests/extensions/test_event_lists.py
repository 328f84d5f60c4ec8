"""Lists of an event's logs: what SELECT of its view returns, by filters, pages and as files."""

import io
import json
from random import Random
from urllib.parse import quote

import pytest

from scan.extensions.events.tests.random_events import Contract, add, signature
from tests.extensions.event_doors import Followed, require_exports, require_rows, rows_of
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.refusals import require_parameter
from tests.support.solidity import node_script


@pytest.fixture(scope="module")
def followed(postgres, template, tmp_path_factory):
    with Anvil() as anvil, postgres.cloned(template) as url:
        contract = Contract(anvil, Random(7), 12)
        abi = tmp_path_factory.mktemp("abi") / "abi.json"
        abi.write_text(json.dumps(contract.abi))
        contract.emit(400)
        indexing = Indexing(url, anvil.url, until=anvil.head())
        with indexing:
            add(url, contract.address, abi)
            yield Followed(url, indexing.client(), contract.address, contract)


def test_events_are_listed_with_their_counts(followed):
    listed = followed.get()
    assert listed["name"] == "emitter"
    assert listed["completeFrom"] == 0
    counts = {e["name"]: e["count"] for e in listed["events"] if not e["anonymous"]}
    assert counts == {
        event["name"]: len(followed.contract.expected(n))
        for n, event in enumerate(followed.contract.abi)
        if not event["anonymous"]
    }
    assert {e["signature"] for e in listed["events"]} == set(map(signature, followed.contract.abi))


def test_pages_and_files_have_the_rows_of_the_view(followed):
    for event in followed.get()["events"]:
        followed.require_pages_and_files(event, followed.rows(event["view"]))


def test_a_file_in_parquet_has_the_rows_of_the_view(followed):
    for event in followed.get()["events"]:
        path = f"{followed.path}/{event['name']}?format=parquet"
        rows = rows_of(followed.url, event["view"])
        require_rows(io.BytesIO(followed.client.get(path).data), rows)
    require_parameter(followed.client.get("/api/v1/transactions?format=parquet"), "format")


@pytest.mark.thorough
def test_an_export_has_the_rows_of_the_view(followed, tmp_path):
    views = [event["view"] for event in followed.get()["events"]]
    require_exports(followed.url, views, tmp_path)


def test_filters_select_by_every_argument(followed):
    draw = Random(3)
    types = set()
    texts = ("string", "bytes")
    for event, logs in logs_by_event(followed):
        path = f"/{event['name']}"
        # Of some strings and bytes the logs do not have the text.
        known = [a for a in event["arguments"] if not (a["hashed"] and a["type"] in texts)]
        for argument in (a for a in known if a["parameter"] is not None):
            value = draw.choice(logs)["args"][argument["name"]]
            text = str(value).lower() if isinstance(value, bool) else value
            listed = followed.get(path, limit=100, **{argument["parameter"]: text})
            expected = [log for log in logs if log["args"][argument["name"]] == value]
            assert listed["events"] == expected
            in_json = json.dumps({argument["parameter"]: value})
            assert followed.get(path, args=in_json, limit=100)["events"] == expected
            types.add(argument["type"])
    assert {"address", "bool", "uint256"} <= types


def logs_by_event(followed):
    return [
        (event, followed.get(f"/{event['name']}", limit=100)["events"])
        for event in followed.get()["events"]
    ]


def test_lists_and_records_have_no_filter(followed):
    unfiltered = [
        log["args"][argument["name"]]
        for event, logs in logs_by_event(followed)
        for argument in event["arguments"]
        if argument["parameter"] is None
        for log in logs
    ]
    assert unfiltered and all(isinstance(value, list | dict) for value in unfiltered)


def test_filters_select_numbers_by_their_bounds(followed):
    draw = Random(4)
    numbers = [
        (f"/{event['name']}", logs, argument)
        for event, logs in logs_by_event(followed)
        for argument in event["arguments"]
        if argument["type"].startswith(("uint", "int")) and argument["type"][-1] != "]"
    ]
    assert numbers
    for path, logs, argument in numbers:
        name = argument["name"]
        value = draw.choice(logs)["args"][name]
        bounds = {f"{name}Min": value, f"arg.{argument['column']}.max": value}
        equal = [log for log in logs if log["args"][name] == value]
        assert followed.get(path, limit=100, **bounds)["events"] == equal
        least = followed.get(path, limit=100, **{f"{name}Min": value})
        assert least["events"] == [log for log in logs if int(log["args"][name]) >= int(value)]


def test_the_page_of_an_event_has_its_filters_and_its_file(followed):
    address = followed.contract.address
    tab = f"/address/{address}?tab=events"
    for event in followed.get()["events"]:
        assert f"event={event['name'].lower()}" in followed.client.get(tab).text
        response = followed.client.get(f"{tab}&event={event['name']}")
        assert response.status_code == 200, response.text
        for argument in event["arguments"]:
            has_field = f'name="{argument["parameter"]}"' in response.text
            assert has_field is (argument["parameter"] is not None)
        for file in ("csv", "ndjson"):
            path = f"/api/v1/contracts/{address}/events/{quote(event['signature'], safe='')}"
            path += f"?format={file}"
            assert f'href="{path}"' in response.text


@pytest.mark.thorough
def test_arguments_are_those_that_ethers_decodes(followed):
    listed = [
        log
        for event in followed.get()["events"]
        for log in followed.get(f"/{event['name']}", limit=100)["events"]
    ]
    logs = execute(
        followed.url,
        "SELECT block_number, log_index, topic0, topic1, topic2, topic3, data FROM contract_events",
    )
    stored = {
        (block, index): {
            "topics": ["0x" + bytes(topic).hex() for topic in topics if topic is not None],
            "data": "0x" + bytes(data).hex(),
        }
        for block, index, *topics, data in logs
    }
    request = {
        "abi": followed.contract.abi,
        "logs": [
            {"event": log["name"], **stored[log["blockNumber"], log["logIndex"]]} for log in listed
        ],
    }
    decoded = node_script("decode_events.cjs", stdin=request)
    assert [log["args"] for log in listed] == decoded
