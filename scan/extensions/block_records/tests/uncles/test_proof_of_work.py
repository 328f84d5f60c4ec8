"""Ethereum before Byzantium: uncles, rewards, and receipts that do not say what failed.

Blocks, hashes and roots are anvil's with `--hardfork homestead`; tests/support/mined_chain.py adds
what a node of that time returns besides.
"""

import json

import pytest
import rlp

from scan.ethereum import blocks, units
from scan.ethereum.client import Node
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.extensions.block_records.tests.uncles.mined_blocks import (
    BLOCKS,
    MINERS,
    POOR,
    TRAP,
    UNCLE_MINERS,
    UNCLES,
    mined,
)
from scan.indexer.block_source import BlockSource
from tests.support import auditing, faulty_node, indexing, mined_chain, table_digest
from tests.support.database import execute

__all__ = ["mined"]

SIGNS = {"in": 1, "out": -1, "self": 0}


def test_every_history_adds_up_to_the_balance(mined):
    types = {}
    for (address,) in execute(mined.url, "SELECT address FROM addresses"):
        holder = f"0x{bytes(address).hex()}"
        page = mined.client.get(f"/api/v1/addresses/{holder}/history?limit=100").json
        rows = page["history"]
        balance = mined.chain.node.call("eth_getBalance", holder, "latest")
        expected = int(balance, 16) + mined.chain.earned(holder, "latest")
        assert sum(SIGNS[r["direction"]] * int(r["amount"]) for r in rows) == expected, holder
        assert (page["complete"], page["reason"], page["total"]) == (True, None, len(rows))
        types[holder] = {row["type"] for row in rows}
    assert types[MINERS[0]] == {"mining_reward", "block_reward"}
    assert types[UNCLE_MINERS[0]] == {"uncle_reward"}
    assert types[POOR] == {"internal_transfer", "transaction"}


def test_what_failed_is_known_by_traces(mined):
    for hash_ in mined.failed:
        record = mined.client.get(f"/api/v1/transactions/{hash_}").json
        assert (record["status"], record["contractAddress"]) == (False, None)
    totals = execute(mined.url, "SELECT count(*), count(*) FILTER (WHERE status) FROM transactions")
    assert totals == [(4 * (BLOCKS - 1), 2 * (BLOCKS - 1))]


def test_without_traces_nothing_says_that_a_transaction_succeeded(mined, postgres, template):
    """A call and a creation used all their gas and failed; receipts of the time do not tell it."""
    with postgres.cloned(template) as url:
        index = indexing.Indexing(url, mined.node.url, traces="off").run_until(BLOCKS)
        client = index.client()
        records = client.get("/api/v1/transactions?limit=100").json["transactions"]
        listed = {record["hash"]: record for record in records}
        unknown = {hash_ for hash_, record in listed.items() if "statusKnown" in record}
        assert unknown == {*mined.failed}
        for hash_ in mined.failed[:2]:
            record = client.get(f"/api/v1/transactions/{hash_}").json
            assert (record["status"], record["statusKnown"]) == (True, False)
            assert {"status", "contractAddress"} <= {*record["unproven"]}
            page = client.get(f"/tx/{hash_}").text
            assert "not known" in page and 'class="badge good">success' not in page
            sentence = client.get(f"/api/v1/transactions/{hash_}").json["summary"]["text"]
            assert sentence == "Used all its gas; whether it succeeded is not known"
            for action, field in (("getstatus", "isError"), ("gettxreceiptstatus", "status")):
                query = {"module": "transaction", "action": action, "txhash": hash_}
                assert client.get("/api", query_string=query).json["result"][field] == ""
            theirs = client.get(f"/api/v2/transactions/{hash_}").json
            assert (theirs["status"], theirs["result"]) == (None, "awaiting_internal_transactions")
        [created] = {listed[mined.failed[1]]["contractAddress"]}
        query = {
            "module": "contract",
            "action": "getcontractcreation",
            "contractaddresses": created,
        }
        assert not client.get("/api", query_string=query).json["result"]
        creations = client.get("/api/v1/contract-creations?limit=100").json["contractCreations"]
        assert {row["statusKnown"] for row in creations} == {False}
        sender = listed[mined.failed[0]]["fromAddress"]
        query = {"module": "account", "action": "txlist", "address": sender}
        rows = client.get("/api", query_string=query).json["result"]
        assert {r["isError"] for r in rows if r["hash"] in unknown} == {""}
        assert "badge bad" not in client.get("/txs").text
        assert "status not known" in client.get("/txs").text


def test_a_day_has_the_rewards_and_uncles_of_its_blocks(mined):
    """In Etherscan's form; the genesis block may be of another day."""
    [(day,)] = execute(mined.url, "SELECT max(day)::text FROM daily_stats")
    params = {"module": "stats", "startdate": day, "enddate": day}
    amounts = {False: 0, True: 0}
    for _, address, amount in mined.chain.rewards:
        amounts[address in UNCLE_MINERS] += amount
    for action, values in {
        "dailyblockrewards": {"blockRewards_Eth": units.in_units(sum(amounts.values()))},
        "dailyuncleblkcount": {
            "uncleBlockCount": sum(map(len, UNCLES.values())),
            "uncleBlockRewards_Eth": units.in_units(amounts[True]),
        },
    }.items():
        [row] = mined.client.get("/api", query_string={**params, "action": action}).json["result"]
        assert {name: row[name] for name in values} == values


def test_a_block_lists_its_uncles_and_rewards(mined):
    for header in mined.chain.headers[1:]:
        number = int(header["number"], 16)
        record = mined.client.get(f"/api/v1/blocks/{number}").json
        uncles = UNCLES.get(number, [])
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


@pytest.mark.long
def test_bulk_and_reorganisations_agree(mined, postgres, template, tmp_path):
    with postgres.cloned(template) as url:
        settings = indexing.settings_for(url, mined.node.url)
        assert backfill(settings, tmp_path / "files", last_block=BLOCKS - 3)
        follow(settings, BLOCKS)
        assert table_digest.digest(url) == table_digest.digest(mined.url)
    with postgres.cloned(template) as url, faulty_node.FaultyNode(mined.chain.node.url) as fork:
        others = {**UNCLES, 5: [(3, UNCLE_MINERS[1])]}
        fork.fault = mined_chain.MinedChain(mined.chain.node, others, BLOCKS - 1)
        indexing.Indexing(url, fork.url).run_until(BLOCKS - 1)
        fork.fault = mined.chain
        indexing.Indexing(url, fork.url).run_until(BLOCKS)
        assert table_digest.digest(url) == table_digest.digest(mined.url)


def lying(alter, chain):
    def reply(calls, forward):
        answers = json.loads(json.dumps(chain(calls, forward).body))
        for call, answer in zip(calls, answers, strict=True):
            alter(call["method"], answer)
        return faulty_node.Reply(body=answers)

    return reply


def other_miner(method, answer):
    if method == "eth_getUncleByBlockHashAndIndex":
        answer["result"]["miner"] = TRAP


def no_uncles(method, answer):
    if method == "eth_getBlockByNumber" and answer["result"]["number"] == "0x6":
        answer["result"]["uncles"] = []


@pytest.mark.parametrize("alter", [other_miner, no_uncles])
def test_a_block_whose_uncles_are_not_those_of_its_hash_is_refused(mined, alter):
    """Another node is asked first; the blocks before it are indexed."""
    true = BlockSource(Node([mined.node.url])).blocks(3, 6)
    with faulty_node.FaultyNode(mined.chain.node.url, lying(alter, mined.chain)) as node:
        assert BlockSource(Node([node.url, mined.node.url])).blocks(3, 6) == true
        alone = BlockSource(Node([node.url]))
        first = 4 if alter == other_miner else 6  # the first block that has uncles, or lacks them
        assert alone.blocks(3, 6) == true[: first - 3]
        with pytest.raises(blocks.MalformedBlock, match="uncles and sha3Uncles"):
            alone.blocks(first, 6)
