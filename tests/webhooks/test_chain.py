"""A real chain, the real indexer, and the receivers that the documentation shows."""

import json
import os
import queue
import subprocess
import sys
import threading
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
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.made_blocks import Move, address
from tests.support.scenario import play
from tests.support.serving import ROOT, free_port, wait_until
from tests.support.truth import read_truth, reading

BLOCKS = 200
EXAMPLES = ROOT / "docs" / "examples"

FIELDS = {
    "tx": (),
    "token_transfer": ("logIndex", "batchIndex", "value"),
    "internal_transfer": ("transferIndex", "value"),
    "dex_trade": ("logIndex", "tokenIn", "amountOut"),
}


@pytest.fixture(scope="module")
def played():
    """The scenario's honest part, and payments up to block 200."""
    with Anvil() as node:
        stage = play(node, rounds=20, per_block=(0, 4), poison=False)
        while node.head() < BLOCKS:
            sender, recipient = stage.random.sample(node.accounts, 2)
            node.send(sender, recipient, value=stage.random.randrange(10**18))
            stage.do(sender, "harbor", "transfer", recipient, stage.random.randrange(10**6))
            node.mine()
        yield node, read_truth(node)


@pytest.mark.long
def test_every_event_of_a_chain_is_delivered_and_a_fork_revokes_what_was_sent(
    played, webhooks, receiver, authority, tmp_path
):
    node, truth = played
    assert node.head() == BLOCKS
    watched = _watched(truth)
    listed = ("tx", "token_transfer", "internal_transfer", "dex_trade")
    secrets = {
        address: webhooks.register(
            bytes.fromhex(address[2:]), receiver.url(f"/{address}"), listed
        ).secret
        for address in watched
    }
    expected = Counter(key for address in watched for key in _expected(truth, address))
    assert sum(expected.values()) > 500
    assert {event for _, event, *_ in expected} == set(listed)
    with Indexing(webhooks.settings.database_url, node.url) as indexing, webhooks.delivering():
        indexing.wait_for(node.head())
        receiver.wait_for(sum(expected.values()))
        wait_until(lambda: not webhooks.pending())
        received = list(receiver.received)
        assert (
            Counter(_key(r.path[1:], r.event["event"], r.event["data"]) for r in received)
            == expected
        )
        assert all(r.is_signed_with(secrets[r.path[1:]]) for r in received)
        assert not any("removed" in r.event["data"] for r in received)

        depth = 20
        fork = node.head() - depth
        node.reorganise(depth)
        node.mine()
        indexing.wait_for(node.head())
        wait_until(lambda: not webhooks.pending())
    lost = Counter({key: n for key, n in expected.items() if key[3] > fork})
    assert lost
    after = receiver.received[len(received) :]
    assert {r.event["data"].get("removed") for r in after} == {True}
    assert Counter(_key(r.path[1:], r.event["event"], r.event["data"]) for r in after) == lost
    assert all(r.is_signed_with(secrets[r.path[1:]]) for r in after)


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


@RECEIVERS
def test_the_documented_receivers_refuse_other_signatures(command, webhooks, authority):
    certificate, key = authority.certificate("localhost")
    port, owner = free_port(), bytes(range(20))
    hook = webhooks.register(owner, f"https://localhost:{port}/")
    with (
        _example([*command, str(port), str(certificate), str(key)], "not the secret"),
        webhooks.delivering(),
    ):
        webhooks.client.post(f"/api/v1/webhooks/{hook.id}/test", headers=hook.headers)
        wait_until(lambda: webhooks.record(owner, hook)["failCount"])
    assert webhooks.deliveries(hook)[0]["responseCode"] == 401


@pytest.mark.check
@RECEIVERS
def test_the_documented_receivers_accept_a_retry_of_what_they_failed_to_handle(command):
    port = free_port()
    with _example([*command, str(port)], "the secret") as lines:

        def post(event, delivery="17"):
            body = json.dumps(event).encode()
            headers = {
                "X-Scan-Signature": signature_header("the secret", body),
                "X-Scan-Delivery": delivery,
                "Content-Type": "application/json",
            }
            url = f"http://127.0.0.1:{port}/"
            return requests.post(url, data=body, headers=headers, timeout=WAIT_S).status_code

        assert post({"event": "tx", "data": {}}) == 500
        assert post({"event": "tx", "data": {"hash": "0xab", "value": "3"}}) == 204
        assert next(lines) == "note tx 0xab 3"
        assert post({"event": "tx", "data": {"hash": "0xab", "value": "3"}}) == 204
        assert post({"event": "tx", "data": {}}) == 204, "the delivery was handled"
        test = {"hash": "0x00", "value": "0", "test": True}
        assert post({"event": "tx", "data": test}, delivery="18") == 204
        assert next(lines) == "test tx"


def _watched(truth):
    """The ten busiest addresses, the zero address of mints, five that hardly do anything, and some
    parties of internal transfers and trades."""
    parties = Counter(
        address
        for t in truth.transactions
        for address in {t["fromAddress"], t["toAddress"], truth.created.get(t["hash"])} - {None}
    )
    moves = Counter(a for x in truth.token_transfers for a in (x["fromAddress"], x["toAddress"]))
    busy = [address for address, _ in (parties + moves).most_common(10)]
    quiet = [address for address, count in sorted(parties.items()) if count == 1][:5]
    traders = [truth.dex_trades[0]["maker"], truth.dex_trades[0]["pairAddress"]]
    paid = [t["toAddress"] for t in truth.internal_transfers[:2]]
    created = list(truth.created.values())[:3]
    return list(dict.fromkeys([*busy, *quiet, *created, *traders, *paid, reading.ZERO]))


def _expected(truth, address):
    for transaction in truth.transactions_of(address):
        yield _key(address, "tx", transaction)
    for event, parties, records in (
        ("token_transfer", ("fromAddress", "toAddress"), truth.token_transfers),
        ("internal_transfer", ("fromAddress", "toAddress"), truth.internal_transfers),
        ("dex_trade", ("maker", "pairAddress"), truth.dex_trades),
    ):
        for record in records:
            if address in (record[name] for name in parties):
                yield _key(address, event, {"hash": record["transactionHash"], **record})


def _key(address, event, data):
    values = " ".join(str(data[name]) for name in ("hash", *FIELDS[event]))
    return address, event, values, data["blockNumber"]


@contextmanager
def _example(command, secret):
    """A receiver of the documentation, running; what it prints, line by line."""
    process = subprocess.Popen(
        command,
        env={"SECRET": secret, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    printed = queue.Queue()
    reader = threading.Thread(target=_read_lines, args=(process.stdout, printed), daemon=True)
    reader.start()
    try:
        lines = iter(lambda: printed.get(timeout=WAIT_S), "")
        assert next(lines).startswith("listening")
        yield lines
    finally:
        process.kill()
        process.wait()
        reader.join(WAIT_S)
        process.stdout.close()


def _read_lines(stdout, printed):
    for line in stdout:
        printed.put(line.rstrip("\n"))
