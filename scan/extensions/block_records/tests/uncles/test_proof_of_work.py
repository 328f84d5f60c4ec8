"""Ethereum before Byzantium: uncles, rewards, and receipts that do not say what failed.

Blocks, hashes and roots are anvil's with `--hardfork homestead`; tests/support/mined_chain.py adds
what a node of that time returns besides.
"""

import pytest
import rlp

from scan.ethereum import blocks
from scan.ethereum.client import Node
from scan.extensions.block_records.tests.uncles import mined_blocks
from scan.extensions.block_records.tests.uncles.mined_blocks import mined
from scan.indexer.block_source import BlockSource
from tests.support import auditing, expected, faulty_node, indexing, mined_chain
from tests.support.database import execute

__all__ = ["mined"]


def test_every_history_adds_up_to_the_balance(mined):
    types = {}
    signs = {"in": 1, "out": -1, "self": 0}
    for (address,) in execute(mined.url, "SELECT address FROM addresses"):
        holder = f"0x{bytes(address).hex()}"
        page = mined.client.get(f"/api/v1/addresses/{holder}/history?limit=100").json
        rows = page["history"]
        balance = mined.chain.node.call("eth_getBalance", holder, "latest")
        right = int(balance, 16) + mined.chain.earned(holder, "latest")
        assert sum(signs[r["direction"]] * int(r["amount"]) for r in rows) == right, holder
        assert (page["complete"], page["reason"], page["total"]) == (True, None, len(rows))
        types[holder] = {row["type"] for row in rows}
    assert types[mined_blocks.MINERS[0]] == {"mining_reward", "block_reward"}
    assert types[mined_blocks.UNCLE_MINERS[0]] == {"uncle_reward"}
    assert types[mined_blocks.POOR] == {"internal_transfer", "transaction"}


def test_what_failed_is_known_by_traces(mined):
    for hash_ in mined.failed:
        record = mined.client.get(f"/api/v1/transactions/{hash_}").json
        assert (record["status"], record["contractAddress"]) == (False, None)
    totals = execute(mined.url, "SELECT count(*), count(*) FILTER (WHERE status) FROM transactions")
    assert totals == [(4 * (mined_blocks.BLOCKS - 1), 2 * (mined_blocks.BLOCKS - 1))]


def test_without_traces_statuses_are_as_expected(mined, clone, template):
    """A call and a creation used all their gas and failed; receipts of the time do not tell it."""
    index = indexing.Indexing(clone(template), mined.node.url, traces="off").run_until(
        mined_blocks.BLOCKS
    )
    client = index.client()
    records = client.get("/api/v1/transactions?limit=100").json["transactions"]
    listed = {record["hash"]: record for record in records}
    unknown = {hash_ for hash_, record in listed.items() if "statusKnown" in record}
    assert unknown == {*mined.failed}
    names = dict(zip(("called", "created"), mined.failed, strict=False))
    names["contract"] = listed[names["created"]]["contractAddress"]
    names["sender"] = listed[names["called"]]["fromAddress"]
    expected.compare(__file__, client, names)
    assert "badge bad" not in client.get("/txs").text


def test_a_block_lists_its_uncles_and_rewards(mined):
    for header in mined.chain.headers[1:]:
        number = int(header["number"], 16)
        record = mined.client.get(f"/api/v1/blocks/{number}").json
        uncles = mined_blocks.UNCLES.get(number, [])
        assert (
            int(record["miningReward"])
            == mined_chain.REWARD + len(uncles) * mined_chain.REWARD // 32
        )
        assert ("uncles" in record) == bool(uncles)
        # Its size is anvil's with three more bytes of difficulty, and the uncles in place of none.
        headers = rlp.encode([mined_chain.fields_of(uncle) for uncle in mined.chain.uncles[number]])
        assert record["size"] == int(header["size"], 16) + 3 + len(headers) - len(rlp.encode([]))
        assert record["unproven"] == []
        for uncle, (distance, miner), sent in zip(
            record.get("uncles", []), uncles, mined.chain.uncles[number], strict=True
        ):
            assert (uncle["number"], uncle["miner"]) == (number - distance, miner)
            assert uncle["hash"] == sent["hash"]
            assert int(uncle["reward"]) == mined_chain.REWARD * (8 - distance) // 8
            assert uncle["hash"] in mined.client.get(f"/block/{number}").text
    assert not {"uncles", "miningReward"} & mined.client.get("/api/v1/blocks/0").json.keys()


def test_the_audit_finds_no_difference(mined):
    assert auditing.run(indexing.settings_for(mined.url, mined.node.url), node=True) == 0


# The first block that has uncles, and one that lacks them.
@pytest.mark.parametrize(
    ("method", "lie", "block", "first"),
    [
        ("eth_getUncleByBlockHashAndIndex", {"miner": mined_blocks.TRAP}, None, 4),
        ("eth_getBlockByNumber", {"uncles": []}, 6, 6),
    ],
)
def test_a_block_whose_uncles_are_not_those_of_its_hash_is_refused(
    mined, method, lie, block, first
):
    """Another node is asked first; the blocks before it are indexed."""
    true = BlockSource(Node([mined.node.url])).blocks(3, 6)
    fault = faulty_node.changing(lambda result: result.update(lie), method, block=block)
    with faulty_node.FaultyNode(mined.node.url, fault) as node:
        assert BlockSource(Node([node.url, mined.node.url])).blocks(3, 6) == true
        alone = BlockSource(Node([node.url]))
        assert alone.blocks(3, 6) == true[: first - 3]
        with pytest.raises(blocks.MalformedBlock, match="uncles and sha3Uncles"):
            alone.blocks(first, 6)
