"""Internal transfers and trades as events: whom they concern, in which order, and on forks."""

from typing import Any

import pytest

from scan.ethereum.blocks import EventLog
from scan.ethereum.traces import InternalTransfer, TransferType
from scan.hex import to_hex
from scan.webhooks.registration import EVENT_TYPES
from tests.support.made_blocks import TOKEN, Move, address
from tests.support.openapi_document import DOCUMENT, check
from tests.support.receiver import Receiver
from tests.support.serving import wait_until
from tests.support.webhooks import Webhooks

URL = "https://localhost:1/"
ANNA, BERT, POOL, PURSE = (address(name) for name in ("anna", "bert", "pool", "purse"))


def internal(recipient: bytes, value: int, index: int = 0) -> InternalTransfer:
    return InternalTransfer(0, index, TransferType.CALL, PURSE, recipient, value)


def payloads(webhooks: Webhooks, hook: Any) -> list[dict[str, Any]]:
    return [delivery["payload"] for delivery in webhooks.deliveries(hook)]


def test_a_deposit_made_by_a_contract_is_an_event(webhooks: Webhooks) -> None:
    hook = webhooks.register(BERT, URL, ("internal_transfer",))
    other = webhooks.register(ANNA, URL, ("internal_transfer",))
    purse = webhooks.register(PURSE, URL, ("internal_transfer",))
    [transaction] = webhooks.chain.append(
        [Move(ANNA, PURSE, fields={"method": bytes.fromhex("a9059cbb")})],
        internal_transfers=[internal(BERT, 7), internal(PURSE, 8, 1)],
        is_traced=True,
    )
    [event] = payloads(webhooks, hook)
    assert event == {
        "event": "internal_transfer",
        "timestamp": "2023-11-14T22:13:20Z",
        "data": {
            "hash": to_hex(transaction),
            "from": to_hex(PURSE),
            "to": to_hex(BERT),
            "value": "7",
            "blockNumber": 0,
            "transferIndex": 0,
            "type": "call",
            "methodId": "0xa9059cbb",
        },
    }
    assert payloads(webhooks, other) == []
    # One to itself is one event.
    assert [e["data"]["value"] for e in payloads(webhooks, purse)] == ["7", "8"]


@pytest.mark.parametrize("watched", [ANNA, POOL])
def test_a_trade_is_an_event_of_its_maker_and_its_pool(webhooks: Webhooks, watched: bytes) -> None:
    hook = webhooks.register(watched, URL, ("dex_trade",))
    [transaction, _] = webhooks.chain.append([Move(ANNA, BERT, pool=POOL), Move(BERT, ANNA)])
    [event] = payloads(webhooks, hook)
    assert event["event"] == "dex_trade"
    assert event["data"] == {
        "hash": to_hex(transaction),
        "blockNumber": 0,
        "logIndex": 0,
        "dex": "uniswap-v2",
        "pairAddress": to_hex(POOL),
        "maker": to_hex(ANNA),
        "tokenIn": to_hex(TOKEN),
        "tokenOut": to_hex(POOL),
        "amountIn": "3",
        "amountOut": "4",
        "methodId": None,
    }


def test_events_come_in_the_order_of_the_chain_and_are_revoked_in_reverse(
    webhooks: Webhooks, receiver: Receiver
) -> None:
    webhooks.register(ANNA, receiver.url(), EVENT_TYPES)
    webhooks.chain.append()
    webhooks.chain.append(
        [Move(ANNA, BERT, tokens=5, pool=POOL), Move(ANNA, BERT)],
        [EventLog(0, 0, ANNA, (), b"")],
        internal_transfers=[internal(ANNA, 1), internal(ANNA, 2, 1)],
        is_traced=True,
    )
    with webhooks.delivering():
        sent = [r.event for r in receiver.wait_for(7)]
        assert [e["event"] for e in sent] == [
            *("tx", "internal_transfer", "internal_transfer", "token_transfer", "dex_trade", "log"),
            "tx",
        ]
        wait_until(lambda: not webhooks.pending())
        webhooks.chain.unwind(0)
        revoked = [r.event for r in receiver.wait_for(14)[7:]]
    assert all(e["data"].pop("removed") for e in revoked)
    assert revoked == sent[::-1]


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_a_test_event_has_the_fields_of_its_type(webhooks: Webhooks, event_type: str) -> None:
    hook = webhooks.register(ANNA, URL, (event_type,))
    webhooks.chain.append(
        [Move(ANNA, ANNA, tokens=1, pool=POOL)],
        [EventLog(0, 0, ANNA, (), b"")],
        internal_transfers=[internal(ANNA, 1)],
        is_traced=True,
    )
    webhooks.client.post(f"/api/v1/webhooks/{hook.id}/test")
    real, made = payloads(webhooks, hook)
    page = DOCUMENT["webhooks"]["event"]["post"]["requestBody"]
    check(page["content"]["application/json"]["schema"], real, event_type)
    assert made["event"] == real["event"] == event_type
    assert made["data"].pop("test") is True
    assert made["data"].keys() == real["data"].keys() - {"methodId"}
