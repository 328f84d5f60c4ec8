"""A chain of the OP Stack: deposits, fees of vaults, and histories that add up to balances; and
one whose form is switched off."""

import csv
import io
import json
import os
import random
import sys
from collections import namedtuple

import pytest
import rlp

from tests.support import anvil, indexing
from tests.support.database import execute
from tests.support.lists import Listed, by_links, get
from tests.support.serving import ROOT, completed

DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001"
L1_BLOCK = "0x4200000000000000000000000000000000000015"
BASE_FEE_VAULT = "0x4200000000000000000000000000000000000019"
TRAP = f"0x{0xDEAD:040x}"  # fails whoever calls it
L1_HASH = "ab" * 32
PASSER = "0x4200000000000000000000000000000000000016"
FORGER = f"0x{0xF0E:040x}"
PASSED = "MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)"
LONG_BYTES = 16_385  # above what is stored of a message
SEED, BLOCKS = 7, 14
SIGNS = {"in": 1, "out": -1, "self": 0}


class Rollup(namedtuple("Rollup", "node url client deposits")):
    """`deposits` have, by hash, the sender and what it brought."""


def attributes(number):
    """The call of Ecotone and later that tells the L1 block; only what is read here counts."""
    fields = f"{number:016x}{1_700_000_000:016x}{900 + number:016x}"
    return f"0x440a5e20{1:08x}{2:08x}{fields}{30:064x}{1:064x}{L1_HASH}{'00' * 32}"


def deposit(node, sender, to, mint=0, value=0, data="0x"):
    """Sent as it stands in a block: nobody signs it."""
    source = random.Random(repr((node.head(), sender, to, mint, value, data))).randbytes(32)
    parties = [bytes.fromhex(party[2:]) for party in (sender, to)]
    fields = [source, *parties, mint, value, anvil.GAS, 0, bytes.fromhex(data[2:])]
    return str(node.call("eth_sendRawTransaction", f"0x7e{rlp.encode(fields).hex()}"))


def balance_of(node, address):
    return int(node.call("eth_getBalance", address, "latest"), 16)


def play(node):
    """Blocks at random, each with the deposit of L1's values first, as a derived block has it."""
    choice = random.Random(SEED)
    deposit(node, DEPOSITOR, L1_BLOCK, data=attributes(0))
    purse = node.deploy(node.accounts[0], "Purse")
    node.call("anvil_setCode", TRAP, "0xfe")
    passers = [node.place(address, "MessagePasser") for address in (PASSER, FORGER)]
    people = [*node.accounts[:4], *(f"0x{n:040x}" for n in (0xAA, 0xBB, 0xCC)), purse.address]
    deposits = {}
    for number in range(BLOCKS):
        deposit(node, DEPOSITOR, L1_BLOCK, data=attributes(number))
        # The pool takes one of each sender: its deposits have a nonce like any transaction.
        for sender in choice.sample(people, 4):
            mint = choice.choice((0, 2, 10**18))
            # Where the trap is called the deposit fails; what it minted stays.
            to = choice.choice((*people, TRAP))
            value = choice.choice((0, 2)) if balance_of(node, sender) > 1 else 0
            deposits[deposit(node, sender, to, mint=mint, value=value)] = sender.lower(), mint
        for _ in range(choice.randrange(4)):
            node.send(
                choice.choice(node.accounts[4:7]),
                choice.choice(people),
                value=choice.randrange(10**6),
                maxFeePerGas=10**11,
                maxPriorityFeePerGas=choice.choice((0, 10**9)),
            )
        for contract in passers:
            _pass_messages(node, contract, number)
        node.mine()
    return deposits


def _pass_messages(node, contract, number):
    """In some blocks one with value and data, in others several by one transaction."""
    sender, target = node.accounts[7 + number % 2], node.accounts[number % 3]
    fields = {"gas": hex(3_000_000), "maxFeePerGas": 10**11, "maxPriorityFeePerGas": 0}
    if number % 4 == 1:
        call = contract.data("initiateWithdrawal", target, 21_000 + number, b"\x07" * number)
        node.send(sender, contract.address, data=call, value=number, **fields)
    elif number % 4 == 2:
        large = contract.data("initiateWithdrawal", target, 1, b"\x07" * LONG_BYTES)
        node.send(sender, contract.address, data=large, **fields)
    elif number % 4 == 3:
        node.send(
            sender, contract.address, data=contract.data("initiateMany", target, 27), **fields
        )


@pytest.fixture(scope="module")
def rollup(postgres, template):
    with (
        anvil.Anvil("--network", "optimism", hardfork="isthmus") as node,
        postgres.cloned(template) as url,
    ):
        deposits = play(node)
        yield Rollup(
            node, url, indexing.Indexing(url, node.url).run_until(node.head()).client(), deposits
        )


def history(client, address):
    """Its rows, and the page that says whether they are complete."""
    path = f"/addresses/{address}/history"
    return by_links(client, Listed(path, "history")), get(client, path, limit=1)


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


def test_lists_and_files_have_what_one_record_has(rollup):
    """Of a transaction with fields of the chain's own: anvil gives others no fee for L1."""
    answer = rollup.client.get("/api/v1/transactions?format=ndjson", buffered=True)
    records = [json.loads(line) for line in answer.data.splitlines()]
    assert len(records) > len(rollup.deposits)
    for record in records:
        one = rollup.client.get(f"/api/v1/transactions/{record['hash']}").json
        own = record["unproven"]  # and what lists do not have
        assert one["unproven"][: len(own)] == own
        assert (record | {"unproven": one["unproven"]}).items() <= one.items()
        assert ("feeParts" in record) is ("chainFields" in one) is (record["type"] == 0x7E)
    answer = rollup.client.get("/api/v1/transactions?format=csv", buffered=True)
    rows = list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))
    assert [(row["type"], row["l1_fee_wei"]) for row in rows] == [
        (str(record["type"]), "") for record in records
    ]
    minted = {row["transaction"]: row["mint_wei"] for row in rows if row["mint_wei"]}
    with_mint = [record["hash"] for record in records if "mint" in record]
    mints = {hash_: rollup.deposits.get(hash_, ("", 0))[1] for hash_ in with_mint}
    assert minted == {hash_: f"{mint} wei" for hash_, mint in mints.items()}


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
    assert balance_of(rollup.node, BASE_FEE_VAULT) > 0


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
