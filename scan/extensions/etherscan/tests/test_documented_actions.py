"""Etherscan's documented actions: all are answered, or say why not; those that few clients use."""

from scan.extensions.etherscan.tests.conftest import Asking
from tests.support.database import execute
from tests.support.indexing import Indexing, client_over
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


def test_an_inventory_of_too_many_items_is_refused(ask, scenario, monkeypatch):
    monkeypatch.setattr("scan.extensions.etherscan.account.MOST_OWNED", 0)
    keepers = scenario.stage.contracts["keepers"].address
    parameters = {"address": scenario.stage.people[1], "contractaddress": keepers}
    body = ask("account", "addresstokennftinventory", **parameters)
    assert body["status"] == "0" and "owns more than" in body["result"]


def test_an_address_is_funded_by_the_first_who_sent_coin(ask, scenario):
    truth = scenario.truth
    of_internal = {i["transactionHash"] for i in truth.internal_transfers}
    places = {t["hash"]: (t["blockNumber"], t["transactionIndex"]) for t in truth.transactions}
    records = [t for t in truth.transactions if t["status"]] + truth.internal_transfers[::-1]
    received = sorted(
        (*places[sent], number, recipient, (sent, record["fromAddress"], record["value"]))
        for number, record in enumerate(records)
        if (sent := record.get("transactionHash") or record["hash"])
        and (recipient := record["toAddress"] or record["contractAddress"]) in truth.addresses
        and recipient != record["fromAddress"]
        and record["value"] != "0"
    )
    funded = {recipient: first for *_, recipient, first in reversed(received)}
    unfunded = truth.addresses.keys() - funded.keys()
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


def test_funding_is_not_known_without_the_traces_or_transactions_before(
    own_index, database_url, scenario
):
    execute(own_index.url, "UPDATE blocks SET untraced_before = 1 WHERE number > 5")
    head = scenario.anvil.head()
    late = Indexing(database_url, scenario.anvil.url, start_block=head - 3).run_until(head)
    for index, reason in (
        (own_index, "traces"),
        (late, f"transactions before block {head - 3} are not indexed"),
    ):
        ask = Asking(index.client())
        body = ask("account", "fundedby", address=scenario.stage.people[1])
        assert body["status"] == "0" and reason in body["result"]


def test_the_mean_of_a_day_begins_at_the_block_before_it(database_url, chain):
    """At its first block where that is the first with a parent whose time counts."""
    midnight_s = 1_700_006_400
    for second in (0, 10, 40, 100, 86_405, 86_465):
        chain.append(timestamp_s=midnight_s + second)
    dates = {"startdate": "2023-11-15", "enddate": "2023-11-16"}
    ask = Asking(client_over(database_url))
    rows = ask.result("stats", "dailyavgblocktime", **dates)
    assert [row["blockTime_sec"] for row in rows] == ["45.00", "43182.50"]
    assert ask.result("stats", "dailyavgblocktime", **dates, sort="desc") == rows[::-1]


def test_means_of_unknown_sizes_and_of_too_many_blocks_are_refused(own_index, monkeypatch):
    [(day,)] = execute(own_index.url, "SELECT max(day)::text FROM daily_stats")
    dates = {"startdate": str(day), "enddate": str(day)}
    newest = "number = (SELECT max(number) FROM blocks)"
    execute(own_index.url, f"UPDATE blocks SET size = NULL WHERE {newest}")  # noqa: S608
    ask = Asking(own_index.client())
    refused = ask("stats", "dailyavgblocksize", **dates)
    assert refused["result"] == "Error! It is not known of all blocks of these days."
    assert ask.result("stats", "dailyavggaslimit", **dates)
    monkeypatch.setattr("scan.extensions.etherscan.chain.MOST_BLOCKS", 1)
    refused = ask("stats", "dailyavggaslimit", **dates, sort="asc")
    assert refused["result"].endswith("request fewer days")
