"""A chain of the OP Stack: deposits, fees of vaults, and histories that add up to balances; and
one whose form is switched off."""

import os
import sys

import pytest

from scan.extensions.chains.tests.rollup import BLOCKS, L1_HASH, SIGNS, balance_of, history, rollup
from tests.support.database import execute
from tests.support.serving import ROOT, completed

__all__ = ["rollup"]


def test_every_history_adds_up_to_the_balance(rollup):
    addresses = [
        f"0x{bytes(a).hex()}" for (a,) in execute(rollup.url, "SELECT address FROM addresses")
    ]
    types = set()
    for address in (*addresses, rollup.node.accounts[9]):  # which no block has seen
        rows, page = history(rollup.client, address)
        balance = balance_of(rollup.node, address)
        assert sum(SIGNS[r["direction"]] * int(r["amount"]) for r in rows) == balance, address
        assert (page["complete"], page["reason"], page["unexplained"]) == (True, None, "0")
        types |= {row["type"] for row in rows}
        premined = address in map(str.lower, rollup.node.accounts)
        assert ([row["type"] for row in rows[-1:]] == ["genesis"]) == premined, address
    assert {"mint", "fee_vault", "genesis", "fee", "transaction"} <= types


def test_a_deposit_says_what_it_is(rollup):
    statuses = set()
    for hash_, (sender, mint) in rollup.deposits.items():
        record = rollup.client.get(f"/api/v1/transactions/{hash_}").json
        sent = rollup.node.call("eth_getTransactionByHash", hash_)
        receipt = rollup.node.call("eth_getTransactionReceipt", hash_)
        assert (record["type"], record["fee"], record["fromAddress"]) == (0x7E, "0", sender)
        assert record["feeParts"] == {"execution": "0", "blob": None, "l1": None, "operator": None}
        assert int(record.get("mint", "0")) == mint
        fields = record["chainFields"]
        assert (fields["typeName"], fields["sourceHash"]) == ("deposit", sent["sourceHash"])
        assert fields["depositNonce"] == str(int(receipt["depositNonce"], 16))
        statuses.add(record["status"])
        page = rollup.client.get(f"/tx/{hash_}").text
        assert "(deposit)" in page and ("Minted" in page) is (mint > 0)
    assert statuses == {True, False}


def test_a_deposit_is_told_in_a_sentence(rollup):
    """Where what it sends is what it brought; any other deposit sends coin that was there."""
    records = {
        hash_: rollup.client.get(f"/api/v1/transactions/{hash_}").json for hash_ in rollup.deposits
    }
    deposits = {hash_ for hash_, r in records.items() if " from L1 to " in r["summary"]["text"]}
    assert deposits == {
        hash_
        for hash_, (_, mint) in rollup.deposits.items()
        if records[hash_]["status"] and mint and int(records[hash_]["value"]) == mint
    }
    assert {records[hash_]["summary"]["action"] for hash_ in deposits} == {"deposit"}


def test_a_block_tells_its_origin_and_burns_nothing(rollup):
    head = rollup.node.head()
    record = rollup.client.get(f"/api/v1/blocks/{head}").json
    assert record["burntFees"] == "0"
    origin = record["chainFields"]["l1Origin"]
    assert (origin["hash"], origin["number"]) == (f"0x{L1_HASH}", str(900 + BLOCKS - 1))
    assert L1_HASH in rollup.client.get(f"/block/{head}").text
    assert execute(rollup.url, "SELECT sum(burnt_wei) FROM daily_stats") == [(0,)]
    base_fee_vault = "0x4200000000000000000000000000000000000019"
    assert balance_of(rollup.node, base_fee_vault) > 0


@pytest.mark.thorough
def test_a_chain_whose_form_is_off_is_not_indexed():
    program = (
        "from scan.ethereum.forms.matching import require_form;"
        "require_form(1); print('Ethereum'); require_form(10)"
    )
    environ = os.environ | {"SCAN_EXTENSIONS": "none"}
    result = completed([sys.executable, "-c", program], cwd=ROOT, env=environ)
    assert result.stdout == "Ethereum\n"
    assert "the form of chain 10 is of the extension chains, which is off" in result.stderr
