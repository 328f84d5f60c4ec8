"""A real chain, the real indexer, and the receivers that the documentation shows."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import requests

from scan.ethereum.internal_transfers import InternalTransfer, TransferType
from scan.hex import to_hex
from scan.webhooks.sender import signature_header
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.made_blocks import Move, address
from tests.support.receiver import Authority, Receiver
from tests.support.scenario import play
from tests.support.serving import ROOT, free_port, wait_until
from tests.support.truth import ZERO, Truth, read_truth
from tests.support.webhooks import Webhooks

BLOCKS = 200
EXAMPLES = ROOT / "docs" / "examples"
LISTED = ("tx", "token_transfer", "internal_transfer", "dex_trade")
ON_TOKENS = ("tx", "token_transfer", "log")  # what a token contract has

Told = tuple[str, str, str, int]


@pytest.fixture(scope="module")
def played() -> Iterator[tuple[Anvil, Truth]]:
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
    played: tuple[Anvil, Truth],
    webhooks: Webhooks,
    receiver: Receiver,
    authority: Authority,
    tmp_path: Path,
) -> None:
    node, truth = played
    assert node.head() == BLOCKS
    watched = _watched(truth)
    secrets = {
        address: webhooks.register(
            bytes.fromhex(address[2:]), receiver.url(f"/{address}"), LISTED
        ).secret
        for address in watched
    }
    expected = Counter(told for address in watched for told in _expected(truth, address))
    assert sum(expected.values()) > 500
    assert {event for _, event, *_ in expected} == set(LISTED)
    with Indexing(webhooks.settings.database_url, node.url) as indexing, webhooks.delivering():
        indexing.wait_for(node.head())
        receiver.wait_for(sum(expected.values()))
        wait_until(lambda: not webhooks.pending())
        received = list(receiver.received)
        assert Counter(_told(r.path[1:], r.event) for r in received) == expected
        assert all(r.is_signed_with(secrets[r.path[1:]]) for r in received)
        assert not any("removed" in r.event["data"] for r in received)

        depth = 20
        fork = node.head() - depth
        node.reorganise(depth)
        node.mine()
        indexing.wait_for(node.head())
        wait_until(lambda: not webhooks.pending())
    lost = Counter({told: n for told, n in expected.items() if told[3] > fork})
    assert lost
    after = receiver.received[len(received) :]
    assert {r.event["data"].get("removed") for r in after} == {True}
    assert Counter(_told(r.path[1:], r.event) for r in after) == lost
    assert all(r.is_signed_with(secrets[r.path[1:]]) for r in after)


RECEIVERS = pytest.mark.parametrize(
    "command",
    [[sys.executable, str(EXAMPLES / "receiver.py")], ["node", str(EXAMPLES / "receiver.mjs")]],
    ids=["python", "node"],
)


@RECEIVERS
def test_the_documented_receivers_handle_events_of_every_type(
    command: list[str], anvil: Anvil, webhooks: Webhooks, authority: Authority
) -> None:
    """The watched token contract is the recipient of the transactions, a party of the transfers
    and the emitter of the logs."""
    sender, recipient = anvil.accounts[:2]
    coin = anvil.deploy(sender, "Coin", "Name", "N", 18)
    certificate, key = authority.certificate("localhost")
    # The port is in the url, and the secret comes with the registration: a port is taken first.
    port = free_port()
    watched = bytes.fromhex(coin.address[2:])
    hook = webhooks.register(watched, f"https://localhost:{port}/", ON_TOKENS)
    with (
        _example([*command, str(port), str(certificate), str(key)], hook.secret) as lines,
        Indexing(webhooks.settings.database_url, anvil.url) as indexing,
    ):
        deployed = anvil.head()
        anvil.transact(sender, coin, "mint", coin.address, 5)
        anvil.mine()
        anvil.transact(sender, coin, "approve", recipient, 7)
        anvil.mine()
        indexing.wait_for(anvil.head())
        events = [
            (d["event"], d["payload"]["data"]["hash"])
            for d in webhooks.deliveries(hook)
            if d["blockNumber"] > deployed
        ]
        assert [event for event, _ in events] == [*ON_TOKENS, "tx", "log"]
        with webhooks.delivering():
            while (line := next(lines).split())[2] != events[0][1]:
                assert line[0] == "note"  # the deployment
            printed = [line[:3], *(next(lines).split()[:3] for _ in events[1:])]
            assert printed == [["note", *event] for event in events]
            anvil.reorganise(1)
            anvil.mine()
            undone = [next(lines).split()[:3] for _ in events[3:]]
            assert undone == [["undo", *event] for event in reversed(events[3:])]
            wait_until(lambda: not webhooks.pending())
        assert {d["status"] for d in webhooks.deliveries(hook)} == {"delivered"}


@RECEIVERS
def test_the_documented_receivers_handle_deposits_by_contracts_and_trades(
    command: list[str], webhooks: Webhooks, authority: Authority
) -> None:
    certificate, key = authority.certificate("localhost")
    port, payer, pool = free_port(), address("payer"), address("pool")
    hook = webhooks.register(pool, f"https://localhost:{port}/", ("dex_trade", "internal_transfer"))
    paid = InternalTransfer(0, 0, TransferType.CALL, payer, pool, 7)
    [transaction] = webhooks.chain.append(
        [Move(payer, payer, pool=pool)], internal_transfers=[paid], is_traced=True
    )
    with (
        _example([*command, str(port), str(certificate), str(key)], hook.secret) as lines,
        webhooks.delivering(),
    ):
        assert [next(lines) for _ in range(2)] == [
            f"note internal_transfer {to_hex(transaction)} 7",
            f"note dex_trade {to_hex(transaction)} 3",
        ]


@RECEIVERS
def test_the_documented_receivers_refuse_other_signatures(
    command: list[str], webhooks: Webhooks, authority: Authority
) -> None:
    certificate, key = authority.certificate("localhost")
    port, owner = free_port(), bytes(range(20))
    hook = webhooks.register(owner, f"https://localhost:{port}/")
    with (
        _example([*command, str(port), str(certificate), str(key)], "not the secret"),
        webhooks.delivering(),
    ):
        webhooks.client.post(f"/api/v1/webhooks/{hook.id}/test")
        wait_until(lambda: webhooks.record(owner, hook)["failCount"])
    assert webhooks.deliveries(hook)[0]["responseCode"] == 401


@pytest.mark.check
@RECEIVERS
def test_the_documented_receivers_accept_a_retry_of_what_they_failed_to_handle(
    command: list[str],
) -> None:
    port = free_port()
    with _example([*command, str(port)], "the secret") as lines:

        def post(event: dict[str, Any], delivery: str = "17") -> int:
            body = json.dumps(event).encode()
            headers = {
                "X-Scan-Signature": signature_header("the secret", body),
                "X-Scan-Delivery": delivery,
                "Content-Type": "application/json",
            }
            url = f"http://127.0.0.1:{port}/"
            return requests.post(url, data=body, headers=headers, timeout=30).status_code

        assert post({"event": "tx", "data": {}}) == 500
        assert post({"event": "tx", "data": {"hash": "0xab", "value": "3"}}) == 204
        assert next(lines) == "note tx 0xab 3"
        assert post({"event": "tx", "data": {"hash": "0xab", "value": "3"}}) == 204
        assert post({"event": "tx", "data": {}}) == 204, "the delivery was handled"
        test = {"hash": "0x00", "value": "0", "test": True}
        assert post({"event": "tx", "data": test}, delivery="18") == 204
        assert next(lines) == "test tx"


def _watched(truth: Truth) -> list[str]:
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
    return list(dict.fromkeys([*busy, *quiet, *created, *traders, *paid, ZERO]))


def _expected(truth: Truth, address: str) -> Iterator[Told]:
    for transaction in truth.transactions_of(address):
        yield address, "tx", transaction["hash"], transaction["blockNumber"]
    for transfer in truth.token_transfers:
        if address in (transfer["fromAddress"], transfer["toAddress"]):
            place = f"{transfer['logIndex']}/{transfer['batchIndex']} {transfer['value']}"
            yield address, "token_transfer", place, transfer["blockNumber"]
    for transfer in truth.internal_transfers:
        if address in (transfer["fromAddress"], transfer["toAddress"]):
            place = f"{transfer['transactionHash']} {transfer['transferIndex']} {transfer['value']}"
            yield address, "internal_transfer", place, transfer["blockNumber"]
    for trade in truth.dex_trades:
        if address in (trade["maker"], trade["pairAddress"]):
            place = f"{trade['logIndex']} {trade['tokenIn']} {trade['amountOut']}"
            yield address, "dex_trade", place, trade["blockNumber"]


def _told(address: str, event: dict[str, Any]) -> Told:
    data = event["data"]
    if event["event"] == "tx":
        return address, "tx", data["hash"], data["blockNumber"]
    if event["event"] == "internal_transfer":
        place = f"{data['hash']} {data['transferIndex']} {data['value']}"
        return address, "internal_transfer", place, data["blockNumber"]
    if event["event"] == "dex_trade":
        place = f"{data['logIndex']} {data['tokenIn']} {data['amountOut']}"
        return address, "dex_trade", place, data["blockNumber"]
    place = f"{data['logIndex']}/{data['batchIndex']} {data['value']}"
    return address, "token_transfer", place, data["blockNumber"]


@contextmanager
def _example(command: Sequence[str], secret: str) -> Iterator[Iterator[str]]:
    """A receiver of the documentation, running; what it prints, line by line."""
    process = subprocess.Popen(
        command,
        env={"SECRET": secret, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    printed: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    reader = threading.Thread(target=_read_lines, args=(process.stdout, printed), daemon=True)
    reader.start()
    try:
        lines = iter(lambda: printed.get(timeout=30), "")
        assert next(lines).startswith("listening")
        yield lines
    finally:
        process.kill()
        process.wait()
        reader.join(10)
        process.stdout.close()


def _read_lines(stdout: IO[str], printed: "queue.Queue[str]") -> None:
    for line in stdout:
        printed.put(line.rstrip("\n"))
