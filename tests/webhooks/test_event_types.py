"""Internal transfers and trades as events: whom they concern, in which order, and on forks."""

import pytest

from scan.ethereum.blocks import EventLog
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.hex import to_hex
from scan.webhooks.registration import EVENT_TYPES
from tests.support import expected, openapi_document, serving
from tests.support.made_blocks import TOKEN, Move, address

URL = "https://localhost:1/"
ANNA, BERT, POOL, PURSE = (address(name) for name in ("anna", "bert", "pool", "purse"))


def internal(recipient, value, index=0):
    return InternalTransfer(0, index, TransferType.CALL, PURSE, recipient, value)


def test_events_are_as_expected(webhooks):
    watched = {
        "tx": ANNA,
        "token_transfer": BERT,
        "internal_transfer": BERT,
        "dex_trade": POOL,
        "log": PURSE,
    }
    names = {
        f"of type {type_}": str(webhooks.register(watcher, URL, (type_,)).id)
        for type_, watcher in watched.items()
    }
    names["nobody's"] = str(webhooks.register(address("nobody"), URL, EVENT_TYPES).id)
    webhooks.chain.append()
    method = {"method": bytes.fromhex("a9059cbb")}
    move = Move(ANNA, BERT, value=2**255, tokens=5, pool=POOL, fields=method)
    _, transaction = webhooks.chain.append(
        [Move(POOL, POOL), move],
        [EventLog(1, 5, PURSE, (bytes([0xA]) * 32, bytes([0xB]) * 32), bytes([5]))],
        internal_transfers=[internal(BERT, 7)._replace(transaction_index=1)],
        is_traced=True,
    )
    names |= {"transaction": to_hex(transaction), "anna": to_hex(ANNA), "bert": to_hex(BERT)}
    names |= {"pool": to_hex(POOL), "purse": to_hex(PURSE), "token": to_hex(TOKEN)}
    reader = webhooks.another(owner_auth="never")
    expected.compare(__file__, reader, names)


@pytest.mark.parametrize(
    ("reason", "names"),
    [
        ("senders of transactions of type 0", ["from", "contractAddress"]),
        ("statuses", None),  # covered: it did not use all of its gas
        ("value of transactions of type 3", None),  # of another type
        ("value of transactions of type 0", ["value"]),
    ],
)
def test_an_event_names_what_nothing_proves_of_it(webhooks, reason, names):
    hook = webhooks.register(ANNA, URL, ("tx",))
    webhooks.chain.append([Move(ANNA, BERT)], unproven=reason)
    [event] = (delivery["payload"] for delivery in webhooks.deliveries(hook))
    page = openapi_document.DOCUMENT["webhooks"]["event"]["post"]["requestBody"]
    openapi_document.check(page["content"]["application/json"]["schema"], event, "tx")
    assert event["data"].get("unproven") == names


def test_events_come_in_the_order_of_the_chain_and_are_revoked_in_reverse(webhooks, receiver):
    webhooks.register(ANNA, receiver.url(), EVENT_TYPES)
    webhooks.chain.append()
    webhooks.chain.append(
        [Move(ANNA, BERT, tokens=5, pool=POOL), Move(ANNA, BERT)],
        [EventLog(0, 0, ANNA, (), b"")],
        internal_transfers=[internal(ANNA, 1), internal(ANNA, 2, 1)],
        is_traced=True,
    )
    with webhooks.delivering():
        events = [r.event for r in receiver.wait_for(7)]
        types = "tx internal_transfer internal_transfer token_transfer dex_trade log tx"
        assert [e["event"] for e in events] == types.split()
        serving.wait_until(lambda: not webhooks.pending())
        webhooks.chain.unwind(0)
        revoked = [r.event for r in receiver.wait_for(14)[7:]]
    assert all(e["data"].pop("removed") for e in revoked)
    assert revoked == events[::-1]


def test_test_events_have_the_fields_of_their_types(webhooks):
    hooks = {type_: webhooks.register(ANNA, URL, (type_,)) for type_ in EVENT_TYPES}
    webhooks.chain.append(
        [Move(ANNA, ANNA, tokens=1, pool=POOL)],
        [EventLog(0, 0, ANNA, (), b"")],
        internal_transfers=[internal(ANNA, 1)],
        is_traced=True,
    )

    def shape(value):
        return type(value), len(value) if str(value).startswith("0x") else None

    page = openapi_document.DOCUMENT["webhooks"]["event"]["post"]["requestBody"]
    for event_type, hook in hooks.items():
        webhooks.client.post(f"/api/v1/webhooks/{hook.id}/test", headers=hook.headers)
        real, sample = (delivery["payload"] for delivery in webhooks.deliveries(hook))
        openapi_document.check(page["content"]["application/json"]["schema"], real, event_type)
        assert sample["event"] == real["event"] == event_type
        assert sample["data"].pop("test") is True
        assert sample["data"].keys() == real["data"].keys() - {"methodId"}
        for name, value in sample["data"].items():
            assert shape(value) == shape(real["data"][name]), name
