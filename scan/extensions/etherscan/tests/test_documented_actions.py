"""Etherscan's documented actions: all are answered, or say why not; those that few clients use."""

from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from app import create_app
from scan.database.connection import Database
from scan.extensions.etherscan.tests.conftest import Asking
from tests.support import indexing, made_blocks
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.scenario.stage import STRANGERS


def test_name_tags_are_the_labels(own_index):
    url, labelled = own_index.url, STRANGERS[3]
    execute(url, "INSERT INTO labels VALUES (%s, 'Treasury')", bytes.fromhex(labelled[2:]))
    ask = Asking(own_index.client())
    addresses = ",".join((STRANGERS[4], labelled.upper().replace("X", "x"), labelled))
    [row] = ask.result("nametag", "getaddresstag", address=addresses)
    assert (row["address"], row["nametag"], row["labels"]) == (labelled.lower(), "Treasury", [])
    assert ask("nametag", "getaddresstag", address=STRANGERS[4])["result"] == []
    many = ",".join([labelled] * 101)
    assert "Maximum" in ask("nametag", "getaddresstag", address=many)["result"]


def test_top_holders_are_the_largest(ask, scenario, etherscan_truth):
    types = Counter()
    for token in etherscan_truth.truth.tokens:
        holders = etherscan_truth.truth.holders.get(token["address"], {})
        parameters = {"contractaddress": token["address"], "offset": 7}
        rows = ask.rows("token", "topholders", **parameters)
        unit = 10 ** (token["decimals"] or 0)
        quantities = [Fraction(row["TokenHolderQuantity"]) * unit for row in rows]
        assert quantities == sorted(holders.values(), reverse=True)[:7]
        for row in rows:
            code = scenario.anvil.call("eth_getCode", row["TokenHolderAddress"], "latest")
            is_account = code == "0x" or code.startswith("0xef0100")  # which may delegate
            assert (row["TokenHolderAddressType"] == "E") is is_account
        types += Counter(row["TokenHolderAddressType"] for row in rows)
    assert types["C"] and types["E"]
    assert ask("token", "topholders", **parameters | {"offset": 1001})["result"] is None


def test_an_inventory_has_the_items_of_one_token(ask, scenario):
    keepers = scenario.stage.contracts["keepers"]
    owned = {}
    transfers = [
        transfer
        for transfer in reversed(scenario.truth.token_transfers)
        if transfer["tokenAddress"] == keepers.address.lower()
    ]
    for transfer in transfers:
        for ids in owned.values():
            ids.discard(transfer["tokenId"])
        owned.setdefault(transfer["toAddress"], set()).add(transfer["tokenId"])
    owners = {owner: ids for owner, ids in owned.items() if ids and int(owner, 16)}
    assert len(owners) > 1
    for owner, ids in owners.items():
        parameters = {"address": owner, "contractaddress": keepers.address}
        rows = ask.result("account", "addresstokennftinventory", **parameters)
        assert {row["TokenId"] for row in rows} == ids
        assert {row["TokenAddress"] for row in rows} == {keepers.address.lower()}
        paged = ask.rows("account", "addresstokennftinventory", **parameters, page=2, offset=1)
        assert paged == rows[1:2]
        other = parameters | {"contractaddress": scenario.stage.contracts["forge"].address}
        assert ask.rows("account", "addresstokennftinventory", **other) == []


def test_an_inventory_of_too_many_items_is_refused(ask, scenario, monkeypatch):
    monkeypatch.setattr("scan.extensions.etherscan.account.MOST_OWNED", 0)
    keepers = scenario.stage.contracts["keepers"].address
    parameters = {"address": scenario.stage.people[1], "contractaddress": keepers}
    body = ask("account", "addresstokennftinventory", **parameters)
    assert body["status"] == "0" and "owns more than" in body["result"]


def first_transfer(truth, address):
    """Transaction, sender and value of the first coin that an address got from another."""
    positions = {t["hash"]: (t["blockNumber"], t["transactionIndex"]) for t in truth.transactions}
    transfers = [
        (*positions[t["hash"]], 0, t["hash"], t["fromAddress"], t["value"])
        for t in truth.transactions
        if t["status"]
        and (t["toAddress"] or t["contractAddress"]) == address
        and t["fromAddress"] != address
    ]
    transfers += [
        (*positions[i["transactionHash"]], n, i["transactionHash"], i["fromAddress"], i["value"])
        for n, i in enumerate(reversed(truth.internal_transfers), 1)
        if i["toAddress"] == address and i["fromAddress"] != address
    ]
    received = sorted(transfer for transfer in transfers if transfer[-1] != "0")
    return received[0][3:] if received else None


def test_an_address_is_funded_by_the_first_who_sent_coin(ask, scenario):
    truth = scenario.truth
    of_internal = {i["transactionHash"] for i in truth.internal_transfers}
    firsts = {address: first_transfer(truth, address) for address in truth.addresses}
    unfunded = [address for address, first in firsts.items() if first is None]
    funded = {address: first for address, first in firsts.items() if first is not None}
    assert unfunded and funded
    for address in unfunded:
        body = ask("account", "fundedby", address=address)
        assert body == {"status": "0", "message": "No data found", "result": None}
    numbers = {block["number"] for block in truth.blocks} - {0}
    for address, first in funded.items():
        funding = ask("account", "fundedby", address=address)["result"]
        assert (funding["fundingTxn"], funding["fundingAddress"], funding["value"]) == first
        assert funding["block"] in numbers
        assert ask.result("block", "getblocknobytime", timestamp=funding["timeStamp"])
    hashes = {hash_ for hash_, *_ in funded.values()}
    assert hashes & of_internal and hashes - of_internal


def test_funding_is_not_known_without_the_traces_before(own_index):
    url = own_index.url
    ask = Asking(own_index.client())
    execute(url, "UPDATE blocks SET untraced_before = 1 WHERE number > 5")
    body = ask("account", "fundedby", address=STRANGERS[2])
    assert body["status"] == "0" and "traces" in body["result"]


def test_funding_is_not_known_where_the_index_begins_late(database_url, scenario):
    head = scenario.anvil.head()
    late = Indexing(database_url, scenario.anvil.url, start_block=head - 3).run_until(head)
    ask = Asking(create_app(late.settings).test_client())
    body = ask("account", "fundedby", address=scenario.stage.people[1])
    assert body["result"].endswith(f"transactions before block {head - 3} are not indexed")


def test_rows_of_a_block_are_counted_by_list(ask, scenario):
    counts = {"erc20TxsCount": "BEP20", "erc721TxsCount": "BEP721", "erc1155TxsCount": "BEP1155"}
    truth = scenario.truth
    transfers = Counter((t["blockNumber"], t["tokenType"]) for t in truth.token_transfers)
    internal = Counter(i["blockNumber"] for i in truth.internal_transfers)
    for block in truth.blocks:
        number = block["number"]
        assert ask.result("block", "getblocktxnscount", blockno=number) == {
            "block": number,
            "txsCount": block["txCount"],
            "internalTxsCount": internal[number],
            **{name: transfers[number, kind] for name, kind in counts.items()},
        }
    body = ask("block", "getblocktxnscount", blockno=truth.head + 1)
    assert body["result"] == "Block does not exist"


def test_block_times_are_means_of_days(ask, client, etherscan_truth):
    times = [int(block["timestamp"], 16) for block in etherscan_truth.blocks]
    spans = {}
    for before, time_s in pairwise(times[1:]):  # genesis may have any time
        spans.setdefault(time_s - time_s % 86_400, []).append(time_s - before)
    days = client.get("/api/v1/stats/daily").json["days"]
    dates = {"startdate": days[0]["date"], "enddate": days[-1]["date"]}
    rows = ask.result("stats", "dailyavgblocktime", **dates)
    expected = {
        str(day): f"{Decimal(sum(gaps)) / len(gaps):.2f}" for day, gaps in sorted(spans.items())
    }
    assert {row["unixTimeStamp"]: row["blockTime_sec"] for row in rows} == expected
    assert ask.result("stats", "dailyavgblocktime", **dates, sort="desc") == rows[::-1]


def test_the_mean_of_a_day_begins_at_the_block_before_it(database_url):
    """At its first block where that is the first with a parent whose time counts."""
    midnight_s = 1_700_006_400
    with closing(Database(database_url, statement_timeout_ms=0)) as database:
        chain = made_blocks.Chain(database)
        for second in (0, 10, 40, 100, 86_405, 86_465):
            chain.append(timestamp_s=midnight_s + second)
    dates = {"startdate": "2023-11-15", "enddate": "2023-11-16"}
    rows = Asking(indexing.client_over(database_url)).result("stats", "dailyavgblocktime", **dates)
    assert [row["blockTime_sec"] for row in rows] == ["45.00", "43182.50"]


def test_blocks_of_a_day_are_taken_together(ask, etherscan_truth, monkeypatch):
    blocks = {}
    for block in etherscan_truth.blocks:
        time_s = int(block["timestamp"], 16)
        blocks.setdefault(time_s - time_s % 86_400, []).append(block)
    days = sorted(blocks)
    dates = {name: date_of(days[-1]) for name in ("startdate", "enddate")}
    sums = {
        name: sum(int(block[name], 16) for block in blocks[days[-1]])
        for name in ("gasLimit", "gasUsed")
    }
    sizes = {block["hash"]: block["size"] for block in etherscan_truth.truth.blocks}
    sums["size"] = sum(sizes[block["hash"]] for block in blocks[days[-1]])
    count, shown = len(blocks[days[-1]]), {"UTCDate": dates["enddate"]}
    for action, values in {
        "dailyavgblocksize": {"blockSize_bytes": round(Decimal(sums["size"]) / count)},
        "dailyavggaslimit": {"gasLimit": str(round(Decimal(sums["gasLimit"]) / count))},
        "dailynetutilization": {
            "networkUtilization": f"{Decimal(sums['gasUsed']) / sums['gasLimit']:.4f}"
        },
        "dailyblockrewards": {"blockRewards_Eth": "0"},  # proof of work alone has some
        "dailyuncleblkcount": {"uncleBlockCount": 0, "uncleBlockRewards_Eth": "0"},
    }.items():
        rows = ask.result("stats", action, **dates)
        assert rows == [{**shown, "unixTimeStamp": str(days[-1]), **values}], action
    monkeypatch.setattr("scan.extensions.etherscan.chain.MOST_BLOCKS", count - 1)
    refused = ask("stats", "dailyavgblocksize", **dates, sort="asc")
    assert refused["result"].endswith("request fewer days")


def test_block_sizes_that_are_not_known_are_no_mean(own_index):
    url = own_index.url
    ask = Asking(own_index.client())
    [(day,)] = execute(url, "SELECT max(day)::text FROM daily_stats")
    dates = {"startdate": str(day), "enddate": str(day)}
    assert ask.result("stats", "dailyavgblocksize", **dates)
    execute(url, "UPDATE blocks SET size = NULL WHERE number = (SELECT max(number) FROM blocks)")
    ask = Asking(own_index.client())
    refused = ask("stats", "dailyavgblocksize", **dates)
    assert refused["result"] == "Error! It is not known of all blocks of these days."
    assert ask.result("stats", "dailyavggaslimit", **dates)


def date_of(time_s):
    return datetime.fromtimestamp(time_s, UTC).date().isoformat()


@pytest.mark.parametrize("action", ["txlist", "txlistinternal", "tokentx"])
def test_lists_by_sender_and_recipient(ask, scenario, action):
    inner, transfer = (
        next(t for t in of if t["fromAddress"] != t["toAddress"])
        for of in (scenario.truth.internal_transfers, scenario.truth.token_transfers)
    )
    of = {"txlist": scenario.truth.transactions[0], "txlistinternal": inner, "tokentx": transfer}
    sender, recipient = of[action]["fromAddress"], of[action]["toAddress"]
    everything = ask.result("account", action, address=sender)
    sent = ask.result("account", action, **{"from": sender})
    assert sent == [row for row in everything if row["from"] == sender]
    both = ask.result("account", action, **{"from": sender, "to": recipient})
    assert both == [row for row in sent if row["to"] == recipient]
    assert 0 < len(both) <= len(sent) < len(everything)
    refused = ask("account", action, **{"from": sender, "to": recipient}, fromto_opr="or")
    assert "fromto_opr" in refused["result"]


def test_uncles_are_no_blocks(ask, scenario):
    miner = scenario.truth.blocks[0]["miner"]
    assert ask.result("account", "getminedblocks", address=miner, blocktype="blocks")
    refused = ask("account", "getminedblocks", address=miner, blocktype="uncles")
    assert refused["status"] == "0" and "blocktype" in refused["result"]
