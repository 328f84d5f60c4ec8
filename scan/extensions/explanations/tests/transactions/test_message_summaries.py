"""Messages of webhooks have the sentences that the API has of their transactions."""

import math
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.extensions.explanations.transactions.message_summaries import PLACES, MessageSummaries
from scan.hex import to_hex
from scan.http.process_services import message_summaries as made_when_needed
from scan.http.process_services import own_services
from scan.webhooks.messages import SummaryPart, plain_summary
from tests.support import WAIT_S, serving
from tests.support.database import execute
from tests.support.made_blocks import TOKEN, Move, address

OWNER, SHOP = address("owner"), address("shop")


def test_sentences_are_those_of_the_api_and_are_of_transactions_that_succeeded(indexed, client):
    services = own_services(indexed.settings)
    rows = execute(
        indexed.url,
        "SELECT hash, block_number, status FROM transactions ORDER BY ordinal DESC LIMIT 400",
    )
    summaries = MessageSummaries(lambda: services, burst_s=math.inf)
    hashes = {to_hex(row[0]): row for row in rows}
    read = {}
    for transaction_hash, (_, number, _) in hashes.items():
        read |= summaries.read({transaction_hash: number})
    assert {h for h, row in hashes.items() if row[2]} == set(read)
    sample = [*read][::5]
    answers = {h: client.get(f"/api/v1/transactions/{h}").json["summary"] for h in sample}
    texts = {h: "".join(part.text for part in read[h]) for h in sample}
    assert texts == {h: a["text"] for h, a in answers.items()}
    assert {a["action"] for a in answers.values()} > {"swap", "transfer", "call"}
    assert any("Swapped" in plain_summary(summary, {}) for summary in read.values())
    some, (_, number, _) = next((h, row) for h, row in hashes.items() if row[2])
    assert summaries.read({some: number + 1, "0x" + "11" * 32: 1}) == {}


@pytest.fixture
def blocks(indexed):
    """Of nine transactions that succeeded, by their hashes."""
    rows = execute(indexed.url, "SELECT hash, block_number FROM transactions WHERE status LIMIT 9")
    return {to_hex(transaction_hash): number for transaction_hash, number in rows}


def test_sentences_take_a_share_of_the_time(indexed, blocks):
    services = own_services(indexed.settings)
    without_more = MessageSummaries(lambda: services, burst_s=1e-9, share=0.0)
    [known] = without_more.read(blocks)
    assert [*without_more.read(blocks)] == [known]
    with_more = MessageSummaries(lambda: services, burst_s=1e-9, share=1e9)
    assert with_more.read(blocks).keys() == blocks.keys()


def test_no_message_waits_for_the_sentences_of_others(indexed, blocks):
    services = own_services(indexed.settings)
    one_block = dict([next(iter(blocks.items()))])
    begun, may_end = threading.Semaphore(0), threading.Event()

    def slow_services():
        begun.release()
        assert may_end.wait(WAIT_S)
        return services

    summaries = MessageSummaries(slow_services)
    with ThreadPoolExecutor(PLACES) as pool:
        others = [pool.submit(summaries.read, one_block) for _ in range(PLACES)]
        assert all(begun.acquire(timeout=WAIT_S) for _ in others)
        assert summaries.read(one_block) == {}
        may_end.set()
        assert all(other.result(WAIT_S) for other in others)
    assert summaries.read(one_block)


def test_a_message_says_what_its_transaction_did_and_what_of_it_is_the_watched_ones(
    webhooks, receiver
):
    webhooks.chain.append([Move(SHOP, SHOP, tokens=1)])
    symbol = "@everyone <!channel> [x](https://evil.example) **b** :smile: \u202etxt"
    webhooks.execute("UPDATE tokens SET symbol = %s, decimals = 2", symbol)
    webhooks.register(OWNER, receiver.url("/"), ("tx", "token_transfer"), format="discord")
    webhooks.chain.append(
        [Move(SHOP, OWNER, value=0, tokens=150), Move(SHOP, OWNER, value=0, status=False)]
    )
    with webhooks.delivering(summaries=made_when_needed(lambda: own_services(webhooks.settings))):
        [request] = receiver.wait_for(1)
    of_transaction, of_transfer, failed = request.event["content"].split("\n")
    owner = to_hex(OWNER)
    token = f"({to_hex(TOKEN)[:8]}…{to_hex(TOKEN)[-4:]})"
    sentence = f"Sent 0 coin to {owner[:8]}…{owner[-4:]}, sent 1.5 “everyone channel” {token}"
    assert of_transaction.startswith(sentence)
    assert of_transfer.startswith(sentence)
    assert (
        f"{owner[:8]}…{owner[-4:]} received 1.5 “everyone channel xhttpse” {token}" in of_transfer
    )
    assert "called" in of_transaction
    assert failed.startswith(f"{to_hex(SHOP)[:8]}…")
    assert not re.search(r"[@<>\[\]*_`:~|]\S", of_transfer)


def test_a_message_has_no_more_events_than_its_service_takes(webhooks, receiver):
    webhooks.register(OWNER, receiver.url("/"), format="discord")
    hashes = webhooks.chain.append([Move(SHOP, OWNER, value=n) for n in range(10)])
    summaries = {to_hex(h): [SummaryPart("word " * 60)] for h in hashes}
    with webhooks.delivering(summaries=lambda blocks: summaries, public_url="https://s.example"):
        receiver.wait_for(2)
        serving.wait_until(lambda: not webhooks.pending())
    texts = [request.event["content"] for request in receiver.received]
    assert all(len(text) <= 2000 for text in texts)
    lines = [line for text in texts for line in text.split("\n")]
    assert [to_hex(h) in line for h, line in zip(hashes, lines, strict=True)] == [True] * 10
