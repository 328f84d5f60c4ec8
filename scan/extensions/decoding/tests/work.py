"""A contract whose calls and events are decoded, and proxies of it."""

from collections import namedtuple
from pathlib import Path

import pytest
from eth_abi import encode

from tests.support import faulty_node, many_functions
from tests.support.anvil import encoded_call

SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
WORKER = Path(__file__).with_name("Worker.sol").read_text()
NEXT = WORKER.replace("contract Worker", "contract Next").replace("work(Step", "labour(Step")
STEPS = "(uint256,string)[]"
WORK = encoded_call(f"work({STEPS},string)", [(5, "five")], "note")


class Work(namedtuple("Work", "explorer worker")):
    """Contracts of one code: verified, and what stands before it."""

    def send(self, to, data=b"", **fields):
        """The hash of a transaction once it is indexed."""
        text = data if isinstance(data, str) else "0x" + data.hex()
        return self.explorer.send(to, text, **fields)

    def get(self, transaction, client=None):
        answer = (client or self.explorer.client).get(f"/api/v1/transactions/{transaction}")
        return answer.status_code, answer.json

    def details(self, transaction):
        status, record = self.get(transaction)
        assert status == 200 and record["unavailable"] is None
        return record


@pytest.fixture(scope="module")
def work(explorer):
    return Work(explorer, many_functions.verified(explorer, WORKER, "Worker"))


def proxy_to(work, address, slot=SLOT):
    arguments = encode(["address", "bytes32"], [address, bytes.fromhex(slot[2:])]).hex()
    return many_functions.deploy(work.explorer, many_functions.PROXY, "Proxy", arguments)


def check_work(record):
    """That it is decoded; how, expected/ has."""
    method, events = record["method"], [log["event"] for log in record["logs"]]
    assert (method["name"], method["source"]) == ("work", "verified")
    assert [(event["name"], event["source"]) for event in events] == [
        ("Worked", "verified"),
        ("Quiet", "verified"),
    ]


def no_storage(calls, forward):
    """A node that does not say which implementation a proxy had."""
    is_asked = any(call["method"] == "eth_getStorageAt" for call in calls)
    return faulty_node.Reply(503) if is_asked else faulty_node.Reply(body=forward(calls))


def events(client, emitter):
    """Oldest first, by the list and by the query, which have to agree."""
    logs = client.get(f"/api/v1/logs?address={emitter}").json["logs"]
    body = {"entity": "logs", "filter": {"address": emitter}}
    rows = client.post("/api/v1/query", json=body).json["data"]
    assert [log["event"] for log in rows] == [log["event"] for log in logs]
    return [log["event"] for log in reversed(logs)]
