"""A real chain, the real indexer, and the receivers that the documentation shows."""

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager

import pytest
import requests

from scan.ethereum.blocks import EventLog
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.hex import to_hex
from scan.webhooks.registration import EVENT_TYPES
from scan.webhooks.sender import signature_header
from tests.support import WAIT_S
from tests.support.indexing import Indexing
from tests.support.made_blocks import Move, address
from tests.support.serving import ROOT, ending, free_port, wait_until

EXAMPLES = ROOT / "docs" / "examples"


def test_every_event_of_a_chain_is_of_the_parties_that_its_node_tells(webhooks, scenario, truth):
    """One webhook watches all addresses; each transaction and record is told to its parties."""
    fields = {
        "tx": (),
        "token_transfer": ("logIndex", "batchIndex", "value"),
        "internal_transfer": ("transferIndex", "value"),
        "dex_trade": ("logIndex", "tokenIn", "amountOut"),
    }

    def values(event, data):
        return tuple(str(data[name]) for name in ("hash", "blockNumber", *fields[event]))

    expected = Counter()
    for transaction in truth.transactions:
        created = truth.created.get(transaction["hash"])
        for party in {transaction["fromAddress"], transaction["toAddress"], created} - {None}:
            expected[party, "tx", values("tx", transaction)] += 1
    for event, (names, records) in {
        "token_transfer": (("fromAddress", "toAddress"), truth.token_transfers),
        "internal_transfer": (("fromAddress", "toAddress"), truth.internal_transfers),
        "dex_trade": (("maker", "pairAddress"), truth.dex_trades),
    }.items():
        for record in records:
            told = values(event, {"hash": record["transactionHash"], **record})
            expected.update((party, event, told) for party in {record[n] for n in names})
    watched = sorted({party for party, *_ in expected})
    webhooks.register(address("owner"), "https://localhost:1/", fields, watchAddresses=watched)
    node = scenario.anvil
    Indexing(webhooks.settings.database_url, node.url).run_until(node.head())
    stored = "SELECT body FROM event_bodies JOIN deliveries ON body_id = event_bodies.id"
    events = [json.loads(body) for (body,) in webhooks.execute(stored)]
    data = [(event["event"], event["data"]) for event in events]
    assert Counter((d["watchAddress"], type_, values(type_, d)) for type_, d in data) == expected
    assert {type_ for _, type_, _ in expected} == {*fields}


RECEIVERS = pytest.mark.parametrize(
    "command",
    [[sys.executable, str(EXAMPLES / "receiver.py")], ["node", str(EXAMPLES / "receiver.mjs")]],
    ids=["python", "node"],
)


@RECEIVERS
def test_the_documented_receivers_handle_events_of_every_type(command, webhooks, authority):
    """The watched contract is a party of all of them, and a fork undoes them in reverse."""
    certificate, key = authority.certificate("localhost")
    # The port is in the url, and the secret comes with the registration: a port is taken first.
    port, payer, pool = free_port(), address("payer"), address("pool")
    hook = webhooks.register(pool, f"https://localhost:{port}/", EVENT_TYPES)
    webhooks.chain.append()
    [transaction] = webhooks.chain.append(
        [Move(payer, pool, tokens=5, pool=pool)],
        [EventLog(0, 0, pool, (), b"")],
        internal_transfers=[InternalTransfer(0, 0, TransferType.CALL, payer, pool, 7)],
        is_traced=True,
    )
    hash_ = to_hex(transaction)
    events = [
        f"tx {hash_} 1",
        f"internal_transfer {hash_} 7",
        f"token_transfer {hash_} 5",
        f"dex_trade {hash_} 3",
        f"log {hash_} anonymous",
    ]
    with (
        _example([*command, str(port), str(certificate), str(key)], hook.secret) as lines,
        webhooks.delivering(),
    ):
        assert [next(lines) for _ in events] == [f"note {event}" for event in events]
        wait_until(lambda: not webhooks.pending())
        webhooks.chain.unwind(0)
        assert [next(lines) for _ in events] == [f"undo {event}" for event in reversed(events)]
        wait_until(lambda: not webhooks.pending())
    assert {d["status"] for d in webhooks.deliveries(hook)} == {"delivered"}


@pytest.mark.check
@RECEIVERS
def test_the_documented_receivers_check_signatures_and_accept_a_retry(command):
    port = free_port()
    with _example([*command, str(port)], "the secret") as lines:

        def post(event, delivery="17", secret="the secret"):
            body = json.dumps(event).encode()
            headers = {
                "X-Scan-Signature": signature_header(secret, body),
                "X-Scan-Delivery": delivery,
                "Content-Type": "application/json",
            }
            url = f"http://127.0.0.1:{port}/"
            return requests.post(url, data=body, headers=headers, timeout=WAIT_S).status_code

        assert post({"event": "tx", "data": {"hash": "0xab"}}, secret="another") == 401
        assert post({"event": "tx", "data": {}}) == 500
        assert post({"event": "tx", "data": {"hash": "0xab", "value": "3"}}) == 204
        assert next(lines) == "note tx 0xab 3"
        assert post({"event": "tx", "data": {"hash": "0xab", "value": "3"}}) == 204
        assert post({"event": "tx", "data": {}}) == 204, "the delivery was handled"
        test = {"hash": "0x00", "value": "0", "test": True}
        assert post({"event": "tx", "data": test}, delivery="18") == 204
        assert next(lines) == "test tx"


@contextmanager
def _example(command, secret):
    """A receiver of the documentation, running; what it prints, line by line."""
    env = {"SECRET": secret, "PATH": os.environ["PATH"]}
    with ending(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        lines = (line.rstrip("\n") for line in process.stdout)
        assert next(lines).startswith("listening")
        yield lines
