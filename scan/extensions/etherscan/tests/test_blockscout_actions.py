"""Actions that Blockscout has beside Etherscan's, beside what the node says."""

import json
import re
from collections import Counter

import pytest

from scan.extensions.etherscan.interface import NOT_OFFERED
from tests.support.database import execute
from tests.support.indexing import client_over
from tests.support.made_blocks import Move, address


def test_mined_blocks_are_the_nodes(ask, etherscan_truth):
    miners = Counter(block["miner"] for block in etherscan_truth.blocks)
    miner, count = miners.most_common(1)[0]
    mined = [block for block in reversed(etherscan_truth.blocks) if block["miner"] == miner]
    rows = ask.rows("account", "getminedblocks", address=miner)
    assert [(row["blockNumber"], row["timeStamp"]) for row in rows] == [
        (str(int(block["number"], 16)), str(int(block["timestamp"], 16))) for block in mined
    ]
    assert ask.rows("account", "getminedblocks", address=miner, page=2, offset=3) == rows[3:6]
    assert count > 6
    empty = ask("account", "getminedblocks", address="0x" + "9d" * 20)
    assert (empty["status"], empty["message"], empty["result"]) == ("0", "No blocks found", [])
    refused = ask("account", "getminedblocks", address=miner, page=3, offset=5000)
    assert refused["result"] is None and refused["message"].startswith("Result window")


def test_a_block_reward_is_what_its_transactions_left_to_the_producer(ask, etherscan_truth):
    block = max(etherscan_truth.blocks, key=lambda b: len(b["transactions"]))
    base_fee = int(block["baseFeePerGas"], 16)
    left = sum(
        (int(receipt["effectiveGasPrice"], 16) - base_fee) * int(receipt["gasUsed"], 16)
        for receipt in (etherscan_truth.receipts[t["hash"]] for t in block["transactions"])
    )
    assert ask.result("block", "getblockreward", blockno=int(block["number"], 16)) == {
        "blockNumber": str(int(block["number"], 16)),
        "timeStamp": str(int(block["timestamp"], 16)),
        "blockMiner": block["miner"],
        "blockReward": str(left),
        "uncles": [],
        "uncleInclusionReward": "0",
    }
    assert ask("block", "getblockreward", blockno=10**30)["result"] == "Block does not exist"
    assert ask("block", "getblockreward")["result"] == "Error! Missing blockno"


def mine(chain):
    for _ in range(3):
        chain.append([Move(address("sender"), address("recipient"))], base_fee=3)


def test_mined_blocks_have_the_reward_for_their_mining(chain, database_url):
    """Not that for an uncle, which is a credit of the same block."""
    mine(chain)
    client = client_over(database_url)
    miner = client.get("/api/v1/blocks").json["blocks"][0]["miner"]
    path = f"/api?module=account&action=getminedblocks&address={miner}"
    fees = [int(row["blockReward"]) for row in client.get(path).json["result"]]
    insert = "INSERT INTO credits VALUES (first_ordinal_in(%s) + %s, %s, NULL, %s, %s, %s)"
    for block, index, kind, amount in ((2, 0, 2, 700), (2, 1, 3, 50), (1, 0, 3, 9)):
        credit = (block, index, block, kind, bytes.fromhex(miner[2:]), amount)
        execute(database_url, insert, *credit)
    again = client_over(database_url).get(path)
    rewards = [int(row["blockReward"]) for row in again.json["result"]]
    assert rewards == [fees[0] + 700, *fees[1:]] and len(rewards) == 3


def test_mined_blocks_end_where_their_range_or_their_producer_does(chain, database, database_url):
    mine(chain)
    execute(database_url, "UPDATE blocks SET miner = 'other' WHERE number = 0")
    [(miner,)] = execute(database_url, "SELECT miner FROM blocks WHERE number = 2")
    for limit, since, before, numbers, following in (
        (1, 0, 9, [2], 2),
        (2, 0, 9, [2, 1], None),
        (2, 1, 9, [2, 1], None),
        (1, 2, 9, [2], None),
        (2, 2, 9, [2], None),
        (2, 0, 2, [1], None),
    ):
        parameters = {"miner": miner, "limit": limit, "offset": 0, "since": since, "before": before}
        row = database.row("queries/blocks_list_by_miner", **parameters)
        assert ([r["number"] for r in json.loads(row[1])], row[2]) == (numbers, following)


def test_a_countdown_goes_by_the_newest_blocks(ask, etherscan_truth):
    newest = etherscan_truth.blocks[-100:]
    span = int(newest[-1]["timestamp"], 16) - int(newest[0]["timestamp"], 16)
    head = etherscan_truth.head
    assert ask.result("block", "getblockcountdown", blockno=head + 500) == {
        "CurrentBlock": str(head),
        "CountdownBlock": str(head + 500),
        "RemainingBlock": "500",
        "EstimateTimeInSec": f"{span / (len(newest) - 1) * 500:.1f}",
    }
    assert ask("block", "getblockcountdown", blockno=head)["result"].endswith("already pass")
    assert ask("block", "getblockcountdown", blockno=-1)["status"] == "0"
    assert ask("block", "getblockcountdown", blockno=2**256 - 1)["status"] == "1"


def test_json_rpc_forms(ask, scenario, etherscan_truth):
    person = scenario.stage.people[2]
    assert ask("block", "eth_block_number")["result"] == hex(etherscan_truth.head)
    for block in ("latest", "0x5"):
        balance = scenario.anvil.call("eth_getBalance", person, block)
        assert ask("account", "eth_get_balance", address=person, block=block)["result"] == balance


def test_tokens_of_an_address(ask, etherscan_truth):
    standards = {"BEP20": "ERC-20", "BEP721": "ERC-721", "BEP1155": "ERC-1155"}
    truth = etherscan_truth.truth
    holder = max(truth.addresses, key=lambda address: len(truth.tokens_held_by(address)))
    held = {token["tokenAddress"]: token for token in truth.tokens_held_by(holder)}
    rows = ask.rows("account", "tokenlist", address=holder)
    assert {row["contractAddress"] for row in rows} == set(held)
    for row in rows:
        token = held[row["contractAddress"]]
        assert row["type"] == standards[token["type"]]
        assert (row["name"], row["symbol"]) == (token["name"], token["symbol"])
        assert ("id" in row) == (token["type"] == "BEP1155")
    balances = {row["contractAddress"]: row["balance"] for row in rows if row["type"] == "ERC-20"}
    assert balances == {a: t["balance"] for a, t in held.items() if t["type"] == "BEP20"} != {}
    assert ask("account", "tokenlist", address="0x" + "9d" * 20)["message"] == "No tokens found"


def test_a_token_and_its_holders(ask, etherscan_truth):
    token = next(t for t in etherscan_truth.truth.tokens if t["type"] == "BEP20")
    assert ask.result("token", "getToken", contractaddress=token["address"]) == {
        "type": "ERC-20",
        "name": token["name"],
        "symbol": token["symbol"],
        "totalSupply": token["totalSupply"],
        "decimals": str(token["decimals"]),
        "contractAddress": token["address"],
        "cataloged": True,
    }
    holders = ask.rows("token", "getTokenHolders", contractaddress=token["address"], offset=5)
    same = ask.rows("token", "tokenholderlist", contractaddress=token["address"], offset=5)
    expected = [(row["TokenHolderAddress"], row["TokenHolderQuantity"]) for row in same]
    assert [(row["address"], row["value"]) for row in holders] == expected
    unknown = ask("token", "getToken", contractaddress="0x" + "9d" * 20)
    assert unknown["result"] == "Contract address not found"


def test_a_transaction_with_its_logs(ask, etherscan_truth, scenario):
    most = max(etherscan_truth.receipts.values(), key=lambda receipt: len(receipt["logs"]))
    sent = etherscan_truth.by_hash[most["transactionHash"]]
    logs, following = [], {}
    while following is not None:
        info = ask.result("transaction", "gettxinfo", txhash=sent["hash"], **following)
        logs += info["logs"]
        following = info["next_page_params"]
    expected = [(log["address"], int(log["logIndex"], 16), log["data"]) for log in most["logs"]]
    assert [(log["address"], int(log["index"]), log["data"]) for log in logs] == expected
    assert [topic for topic in logs[0]["topics"] if topic] == most["logs"][0]["topics"]
    assert len(logs[0]["topics"]) == 4
    assert (info["input"], info["success"]) == (sent["input"], True)
    assert info["gasUsed"] == str(int(most["gasUsed"], 16))
    reverted = next(
        receipt["transactionHash"]
        for receipt in etherscan_truth.receipts.values()
        if receipt["status"] == "0x0"
    )
    assert ask.result("transaction", "gettxinfo", txhash=reverted)["success"] is False
    missing = ask("transaction", "gettxinfo", txhash="0x" + "9d" * 32)
    assert missing["result"] == "Transaction not found"


def test_fees_of_a_day(ask, etherscan_truth):
    days = Counter()
    for transaction in etherscan_truth.truth.transactions:
        days[transaction["timestamp"][:10]] += int(transaction["fee"])
    for day, fees in days.items():
        assert ask.result("stats", "totalfees", date=day) == {"total_fees": str(fees)}
    assert ask("stats", "totalfees", date="1999-01-01")["status"] == "0"
    assert ask("stats", "totalfees", date="2026-02-30")["result"] == "An incorrect date provided"


@pytest.mark.parametrize(("module", "action"), sorted(NOT_OFFERED))
def test_what_is_not_offered_says_why(ask, module, action):
    body = ask(module, action.upper())
    assert (body["status"], body["message"]) == ("0", "NOTOK")
    assert body["result"] == f"Error! {action} is not offered: {NOT_OFFERED[module, action]}"
    for path in re.findall(r"/api/v1/\S+", body["result"]):
        assert ask.client.get(path).status_code == 200
