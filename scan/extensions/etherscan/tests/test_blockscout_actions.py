"""Actions that Blockscout has beside Etherscan's, beside what the node says."""

import json
import re
from collections import Counter

import pytest

from scan import parameters
from scan.extensions.etherscan.interface import NOT_OFFERED
from tests.support.database import execute
from tests.support.indexing import client_over
from tests.support.made_blocks import Move, address


def test_mined_blocks_have_the_reward_for_their_mining(chain, database_url):
    """Not that for an uncle, which is a credit of the same block."""
    for _ in range(3):
        chain.append([Move(address("sender"), address("recipient"))], base_fee=3)
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
    for _ in range(3):
        chain.append([Move(address("sender"), address("recipient"))], base_fee=3)
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


def test_a_countdown_goes_by_the_newest_blocks(ask, truth):
    newest, head = truth.blocks[:100], truth.head
    last_s, first_s = (parameters.time_s(newest[n]["timestamp"], "") for n in (0, -1))
    span = last_s - first_s
    assert ask.result("block", "getblockcountdown", blockno=head + 500) == {
        "CurrentBlock": str(head),
        "CountdownBlock": str(head + 500),
        "RemainingBlock": "500",
        "EstimateTimeInSec": f"{span / (len(newest) - 1) * 500:.1f}",
    }
    assert ask("block", "getblockcountdown", blockno=head)["result"].endswith("already pass")
    assert ask("block", "getblockcountdown", blockno=-1)["status"] == "0"
    assert ask("block", "getblockcountdown", blockno=2**256 - 1)["status"] == "1"


def test_a_transaction_with_its_logs(ask, scenario, truth):
    [(busiest, _)] = Counter(log["transactionHash"] for log in truth.logs).most_common(1)
    most = scenario.anvil.call("eth_getTransactionReceipt", busiest)
    sent = scenario.anvil.call("eth_getTransactionByHash", busiest)
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


@pytest.mark.parametrize(("module", "action"), sorted(NOT_OFFERED))
def test_what_is_not_offered_says_why(ask, module, action):
    body = ask(module, action.upper())
    assert (body["status"], body["message"]) == ("0", "NOTOK")
    assert body["result"] == f"Error! {action} is not offered: {NOT_OFFERED[module, action]}"
    for path in re.findall(r"/api/v1/\S+", body["result"]):
        assert ask.client.get(path).status_code == 200
