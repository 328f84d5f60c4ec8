"""Lists of transactions say what moved of the sender's tokens, or of its address's."""

import re
from collections import Counter, defaultdict
from contextlib import closing
from types import SimpleNamespace

from scan.hex import to_hex
from scan.queries import transactions
from tests.support.anvil import ZERO
from tests.support.database import execute
from tests.support.explain import ExplainingDatabase
from tests.support.made_blocks import Move, address

ROW = re.compile(r'<tr id="tx-([0-9a-f]{64})".*?data-label="Value, [^"]*">(.*?)</td>', re.S)
AMOUNT = re.compile(r'<data value="(\d+)"[^>]*>[^<]*</data> <a href="/token/(0x[0-9a-f]{40})"')


def changes_of(scenario, party_of):
    """What each transaction changed of one party's tokens and items, {hash: {(token, id): sum}}."""
    parties = {row["hash"]: party_of(row) for row in scenario.truth.transactions}
    changes = defaultdict(Counter)
    for transfer in scenario.truth.token_transfers:
        hash, party = transfer["transactionHash"], parties[transfer["transactionHash"]]
        sign = (transfer["toAddress"] == party) - (transfer["fromAddress"] == party)
        asset = (transfer["tokenAddress"], transfer["tokenId"])
        changes[hash][asset] += sign * int(transfer["value"])
    return changes


def amounts_of(changes):
    """The tokens and amounts that a list shows: of single items it shows their ids alone."""
    return Counter(
        (token, abs(change))
        for (token, token_id), change in changes.items()
        if change and (token_id is None or abs(change) != 1)
    )


def shown(client, path):
    """The amounts in each row, and whether it says that there are more."""
    pages = (client.get(f"{path}?limit=100&page={number}").text for number in range(1, 4))
    return {
        f"0x{hash}": (Counter((t, int(value)) for value, t in AMOUNT.findall(cell)), cell)
        for page in pages
        for hash, cell in ROW.findall(page)
    }


def test_a_list_says_what_its_senders_gave_and_gained(client, scenario):
    """Or where that is nothing, what they had made or destroyed."""
    changes = changes_of(scenario, lambda row: row["fromAddress"])
    made = changes_of(scenario, lambda row: ZERO)
    taken_part = {
        (x["transactionHash"], party)
        for x in scenario.truth.token_transfers
        for party in (x["fromAddress"], x["toAddress"])
        if x["fromAddress"] != x["toAddress"]
    }
    changes |= {
        row["hash"]: made[row["hash"]]
        for row in scenario.truth.transactions
        if (row["hash"], row["fromAddress"]) not in taken_part
        and row["value"] == "0"
        and row["toAddress"]
    }
    rows = shown(client, "/txs")
    shortened = {hash for hash, (_, cell) in rows.items() if " more</span>" in cell}
    wrong = {
        hash: (amounts, amounts_of(changes[hash]))
        for hash, (amounts, _) in rows.items()
        if amounts != amounts_of(changes[hash]) and hash not in shortened
    }
    assert wrong == {}
    assert all(amounts <= amounts_of(changes[hash]) for hash, (amounts, _) in rows.items())
    assert sum(amounts.total() for amounts, _ in rows.values()) > 50


def test_an_address_s_list_is_seen_from_the_address(client, scenario):
    """Also where it did not send the transaction, but its contract gave what it had."""
    transfers = scenario.truth.token_transfers
    involved = {(x["transactionHash"], x["fromAddress"]) for x in transfers}
    calls = [x for x in scenario.truth.transactions if (x["hash"], x["toAddress"]) in involved]
    contract = calls[0]["toAddress"]
    changes = changes_of(scenario, lambda row: contract)
    rows = shown(client, f"/address/{contract}")
    assert rows[calls[0]["hash"]][0] == amounts_of(changes[calls[0]["hash"]])
    assert all(amounts <= amounts_of(changes[hash]) for hash, (amounts, _) in rows.items())


def test_a_block_with_thousands_of_transfers_of_one_party_is_read_in_bounds(
    chain, database, database_url
):
    """In each of its transactions 25 from one party, the first of them to itself; in the last but
    one 70, which are too many to be shown."""
    sender, recipient, count = address("sender"), address("recipient"), 200
    chain.append([Move(sender, recipient) for _ in range(count)])
    execute(database_url, "CREATE TABLE transfers PARTITION OF token_transfers DEFAULT")
    execute(
        database_url,
        "INSERT INTO token_transfers (ordinal, block_number, log_index, transaction_index,"
        " token_address, from_address, to_address, value)"
        " SELECT row_number() OVER (ORDER BY i, n) - 1, 0, row_number() OVER (ORDER BY i, n), i,"
        " %s, %s, CASE n WHEN 1 THEN %s ELSE %s END, i + 1 FROM generate_series(0, 199) AS i,"
        " generate_series(1, CASE i WHEN 198 THEN 70 ELSE 25 END) AS n",
        *(recipient, sender, sender, recipient),
    )
    [(transfers,)] = execute(database_url, "SELECT count(*) FROM token_transfers")
    execute(database_url, "UPDATE blocks SET token_transfer_count = %s", transfers)
    execute(database_url, "ANALYZE")
    record = {"blockNumber": 0, "status": True, "fromAddress": to_hex(sender)}
    records = [record | {"transactionIndex": i} for i in range(count)]
    with closing(ExplainingDatabase(database_url)) as explaining:
        # Its rows have no version of the index.
        read = lambda *args, **params: explaining.row(*args, **params)[1:]  # noqa: E731
        transactions.add_moved(SimpleNamespace(row=read), records)
        assert explaining.plans[0].buffers <= 200 * count
    assert records.pop(198)["moved"] == []
    changes = [change["change"] for record in records for change in record["moved"]]
    assert changes == [f"-{24 * (i + 1)}" for i in range(count) if i != 198]
