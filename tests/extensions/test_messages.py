"""Messages to L1 of a chain of the OP Stack, as its own contract announces them."""

from collections import Counter

from eth_abi import decode
from eth_utils import keccak

from scan.extensions.block_records.rows import MAX_DATA_BYTES
from scan.extensions.blockscout.tests import asking, published
from scan.extensions.chains.tests.rollup import PASSER, rollup
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.lists import Listed, by_links

__all__ = ["rollup"]


def passed_messages(node):
    """As the node has their logs, newest first."""
    passed = "MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)"
    topic = "0x" + keccak(text=passed).hex()
    logs = node.call("eth_getLogs", {"fromBlock": "0x0", "address": PASSER, "topics": [topic]})
    messages = []
    for log in logs:
        value, gas_limit, data, hash_ = decode(
            ["uint256", "uint256", "bytes", "bytes32"], bytes.fromhex(log["data"][2:])
        )
        _, nonce, sender, target = log["topics"]
        messages.append(
            {
                "hash": f"0x{hash_.hex()}",
                "transactionHash": log["transactionHash"],
                "blockNumber": int(log["blockNumber"], 16),
                "logIndex": int(log["logIndex"], 16),
                "nonce": str(int(nonce, 16)),
                "sender": f"0x{sender[26:]}",
                "target": f"0x{target[26:]}",
                "value": str(value),
                "gasLimit": str(gas_limit),
                "data": f"0x{data.hex()}" if len(data) <= MAX_DATA_BYTES else None,
                "dataSize": len(data),
                "state": "initiated",
            }
        )
    return messages[::-1]


def listed(client):
    """The whole list by its cursors, without times."""
    whole = Listed("/messages-to-l1", "messages", is_counted=False)
    rows = by_links(client, whole, 20)
    return [{k: v for k, v in row.items() if k != "timestamp"} for row in rows]


def test_messages_to_l1_are_those_of_the_chain_s_own_contract(rollup):
    """The same event of another contract is none."""
    messages, client = passed_messages(rollup.node), rollup.client
    assert len(messages) > 60 and any(m["data"] is None for m in messages)
    assert listed(client) == messages


def test_a_transaction_and_a_sender_have_their_messages(rollup):
    messages = passed_messages(rollup.node)
    counts = Counter(m["transactionHash"] for m in messages)
    assert {1, 27} == set(counts.values())
    for hash_, count in counts.items():
        record = rollup.client.get(f"/api/v1/transactions/{hash_}").json
        first = [m["hash"] for m in messages[::-1] if m["transactionHash"] == hash_][:25]
        assert [m["hash"] for m in record["messagesToL1"]] == first
        page = rollup.client.get(f"/tx/{hash_}").text
        assert "Messages to L1" in page and ("The first 25." in page) is (count > 25)
    sender, other = messages[0]["sender"], next(iter(rollup.deposits.values()))[0]
    page = rollup.client.get(f"/address/{sender}?tab=messages").text
    assert f"/tx/{messages[0]['transactionHash']}" in page and "messages-to-l1?sender=" in page
    assert "tab=messages" not in rollup.client.get(f"/address/{other}").text


def test_blockscouts_form_has_them_as_withdrawals_or_as_messages_of_arbitrum(rollup, database_url):
    """A message of an Arbitrum chain has a position as nonce, and no limit of gas."""
    messages, ask = passed_messages(rollup.node), asking.Asking(rollup.client)
    pages = [*ask.pages("/optimism/withdrawals")]
    assert len(pages) > 1
    rows = [row for page in pages for row in page]
    for row, message in zip(rows, messages, strict=True):
        assert row["msg_nonce"] + (row["msg_nonce_version"] << 240) == int(message["nonce"])
        assert (row["msg_nonce_raw"], row["msg_data"]) == (message["nonce"], message["data"])
        assert row["from"]["hash"].lower() == message["sender"]
        assert row["l2_transaction_hash"] == message["transactionHash"]
    sent = messages[0]["transactionHash"]
    of_arbitrum = [
        *("/arbitrum/messages/from-rollup", "/arbitrum/messages/from-rollup/count"),
        f"/arbitrum/messages/withdrawals/{sent}",
    ]
    of_stack = ["/optimism/withdrawals", "/optimism/withdrawals/count"]
    client = Indexing(database_url, rollup.node.url).run_until(rollup.node.head()).client()
    execute(database_url, "UPDATE messages_to_l1 SET gas_limit = NULL, nonce = ordinal %% 1000003")
    for served, own, others in (
        (rollup.client, of_stack, of_arbitrum),
        (client, of_arbitrum, of_stack[:1]),
    ):
        ask = asking.Asking(served)
        assert {served.get(f"/api/v2{path}").status_code for path in others} == {404}
        assert ask(own[1]) == len(messages)
        for path in (*own[:1], *own[2:]):
            assert not published.faults(f"/api/v2{path.replace(sent, '{}')}", ask(path))
    rows = ask.rows(of_arbitrum[0])
    expected = [(int(m["nonce"]), m["transactionHash"]) for m in listed(client)]
    assert [(row["id"], row["origination_transaction_hash"]) for row in rows] == expected
    of_sent = [m["value"] for m in messages[::-1] if m["transactionHash"] == sent]
    assert [row["callvalue"] for row in ask(of_arbitrum[2])["items"]] == of_sent[:25]
