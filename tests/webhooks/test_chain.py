"""A real chain, the real indexer, and the receivers that the documentation shows."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scan.settings import ROOT
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.receiver import Authority, Receiver
from tests.support.scenario import play
from tests.support.serving import free_port
from tests.support.truth import ZERO, Truth, read_truth
from tests.support.webhooks import Webhooks, wait_until

BLOCKS = 300
EXAMPLES = ROOT / "docs" / "examples"
BOTH = ("tx", "token_transfer")

Told = tuple[str, str, str, int]


@pytest.fixture(scope="module")
def played() -> Iterator[tuple[Anvil, Truth]]:
    """The scenario's honest part, and payments up to block 300."""
    with Anvil() as node:
        stage = play(node, rounds=20, per_block=(0, 4), poison=False)
        while node.head() < BLOCKS:
            sender, recipient = stage.random.sample(node.accounts, 2)
            node.send(sender, recipient, value=stage.random.randrange(10**18))
            stage.do(sender, "harbor", "transfer", recipient, stage.random.randrange(10**6))
            node.mine()
        yield node, read_truth(node)


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
            bytes.fromhex(address[2:]), receiver.url(f"/{address}"), BOTH
        ).secret
        for address in watched
    }
    expected = Counter(told for address in watched for told in _expected(truth, address))
    assert sum(expected.values()) > 500
    with (
        Indexing(webhooks.settings.database_url, node.url) as indexing,
        webhooks.delivering(),
    ):
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


@pytest.mark.parametrize(
    "command",
    [[sys.executable, str(EXAMPLES / "receiver.py")], ["node", str(EXAMPLES / "receiver.mjs")]],
    ids=["python", "node"],
)
def test_the_documented_receivers_tell_ours_from_others(
    command: list[str], anvil: Anvil, webhooks: Webhooks, authority: Authority
) -> None:
    sender, recipient = anvil.accounts[:2]
    certificate, key = authority.certificate("localhost")
    # The port is in the url, and the secret comes with the registration: a port is taken first.
    port = free_port()
    hook = webhooks.register(bytes.fromhex(sender[2:]), f"https://localhost:{port}/")
    with (
        _example([*command, str(port), str(certificate), str(key)], hook.secret) as lines,
        Indexing(webhooks.settings.database_url, anvil.url) as indexing,
        webhooks.delivering(),
    ):
        hashes = [anvil.send(sender, recipient, value=value) for value in (1, 2, 3)]
        anvil.mine()
        indexing.wait_for(1)
        assert [next(lines) for _ in hashes] == [
            f"note tx {found} {value}" for value, found in enumerate(hashes, start=1)
        ]
        anvil.reorganise(1)
        anvil.mine()
        assert next(lines) == f"undo tx {hashes[2]} 3"
        wait_until(lambda: not webhooks.pending())
        assert {d["status"] for d in webhooks.deliveries(hook)} == {"delivered"}
    wrong = webhooks.register(bytes.fromhex(recipient[2:]), f"https://localhost:{port}/")
    with (
        _example([*command, str(port), str(certificate), str(key)], "not the secret"),
        webhooks.delivering(),
    ):
        webhooks.client.post(f"/api/v1/webhooks/{wrong.id}/test")
        wait_until(lambda: webhooks.record(bytes.fromhex(recipient[2:]), wrong)["failCount"])
    assert webhooks.deliveries(wrong)[0]["responseCode"] == 401


def _watched(truth: Truth) -> list[str]:
    """The ten busiest addresses, the zero address of mints, and five that hardly do anything."""
    parties = Counter(
        address
        for t in truth.transactions
        for address in {t["fromAddress"], t["toAddress"], truth.created.get(t["hash"])} - {None}
    )
    moves = Counter(a for x in truth.token_transfers for a in (x["fromAddress"], x["toAddress"]))
    busy = [address for address, _ in (parties + moves).most_common(10)]
    quiet = [address for address, count in sorted(parties.items()) if count == 1][:5]
    return list(dict.fromkeys([*busy, *quiet, *list(truth.created.values())[:3], ZERO]))


def _expected(truth: Truth, address: str) -> Iterator[Told]:
    for transaction in truth.transactions_of(address):
        yield address, "tx", transaction["hash"], transaction["blockNumber"]
    for transfer in truth.token_transfers:
        if address in (transfer["fromAddress"], transfer["toAddress"]):
            place = f"{transfer['logIndex']}/{transfer['batchIndex']} {transfer['value']}"
            yield address, "token_transfer", place, transfer["blockNumber"]


def _told(address: str, event: dict[str, Any]) -> Told:
    data = event["data"]
    if event["event"] == "tx":
        return address, "tx", data["hash"], data["blockNumber"]
    place = f"{data['logIndex']}/{data['batchIndex']} {data['value']}"
    return address, "token_transfer", place, data["blockNumber"]


@contextmanager
def _example(command: Sequence[str], secret: str) -> Iterator[Iterator[str]]:
    """A receiver of the documentation, running; what it prints, line by line."""
    process = subprocess.Popen(
        command,
        env={"SECRET": secret, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = (line.rstrip("\n") for line in process.stdout)
        assert next(lines).startswith("listening")
        yield lines
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
