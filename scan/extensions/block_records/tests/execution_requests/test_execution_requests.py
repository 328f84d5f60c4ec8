"""Requests to the consensus layer: the real contracts of EIP-7002 and EIP-7251, and a deposit
contract's event. Anvil makes no calls as the system, so tests make them: see
tests/support/request_contracts.py. Hashes of requests are written into the index for that reason.
"""

import random
from collections import namedtuple

import pytest

from scan.extensions.block_records.queries import MOST_QUEUED
from scan.extensions.blockscout.tests import published
from tests.support import database, expected, indexing
from tests.support import request_contracts as contracts
from tests.support.lists import Listed, by_links, get
from tests.support.request_contracts import (
    BUILDER_DEPOSITS,
    BUILDER_EXITS,
    CONSOLIDATIONS,
    DEPOSITS,
    WITHDRAWALS,
)

FORWARDER = f"0x{0xF0:040x}"  # passes call data and value on to WITHDRAWALS
FEE = 10**6  # above what 30 waiting requests make of it
EMPTY = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
WITHDRAWN = (3, 40, 0, 20, 2, 0, 0)  # submitted in each block: the queue gives 16 a block
CONSOLIDATED = (1, 0, 5, 0, 0, 0, 0)  # and this one 2
DEPOSITED = (1, 0, 2, 0, 0, 0, 0)
BUILDERS = (2, 70, 0, 3, 0, 0, 0)  # deposits of builders, of which a block takes 64
EXITED = (0, 1, 20, 0, 0, 0, 0)  # exits of builders, of which it takes 16
SUBMITTED = (WITHDRAWN, CONSOLIDATED, DEPOSITED, BUILDERS, EXITED)
GWEI = 10**9


# `deposits` and `taken` are those of each block, by its number.
Requested = namedtuple("Requested", "node url client deposits taken")


@pytest.fixture(scope="module")
def requested(shared_anvil, shared_database_url):
    node, url = shared_anvil, shared_database_url
    contracts.place(node)
    node.call("anvil_setCode", FORWARDER, f"0x365f5f375f5f365f3473{WITHDRAWALS[2:]}5af100")
    choice = random.Random(3)
    deposits = {}
    taken = {}
    queues = contracts.Queue(64), contracts.Queue(16)
    for counts in zip(*SUBMITTED, strict=True):
        number = node.head() + 1
        contracts.end_block(node)
        for index in range(counts[0]):
            data = f"0x{choice.randbytes(48).hex()}{index:016x}"
            to = FORWARDER if index % 3 else WITHDRAWALS
            node.send(node.accounts[index % 9], to, data=data, value=FEE)
        for _ in range(counts[1]):
            node.send(
                node.accounts[0], CONSOLIDATIONS, data=f"0x{choice.randbytes(96).hex()}", value=FEE
            )
        deposits[number] = []
        for index in range(counts[2]):
            credentials = bytes([index, *bytes(11), *choice.randbytes(20)])
            values = [choice.randbytes(48), credentials, (32 * GWEI).to_bytes(8, "little")]
            values += [choice.randbytes(96), (100 + index).to_bytes(8, "little")]
            node.send(node.accounts[1], DEPOSITS, data=contracts.deposit_data(*values), value=0)
            deposits[number].append(values)
        builders, exits = [], []
        for _ in range(counts[3]):
            head, signature = choice.randbytes(48) + bytes([1, *bytes(11), *b"b" * 20]), bytes(96)
            data = head + (2 * GWEI).to_bytes(8) + signature
            node.send(node.accounts[5], BUILDER_DEPOSITS, data="0x" + data.hex())
            builders.append(head + (2 * GWEI).to_bytes(8, "little") + signature)
        for _ in range(counts[4]):
            pubkey = choice.randbytes(48)
            node.send(node.accounts[6], BUILDER_EXITS, data="0x" + pubkey.hex())
            exits.append(bytes.fromhex(node.accounts[6][2:]) + pubkey)
        # What is no request: of another size, without enough for the fee, and of others' logs.
        node.send(node.accounts[2], WITHDRAWALS, data="0x" + "ab" * 56)
        node.send(node.accounts[3], WITHDRAWALS, data="0x" + "ab" * 55, value=FEE)
        for contract in (DEPOSITS, BUILDER_DEPOSITS, BUILDER_EXITS):
            node.send(node.accounts[4], contract, data="0xab")
        node.mine()
        of_builders = [q.take(of) for q, of in zip(queues, (builders, exits), strict=True)]
        taken[number] = contracts.taken(node) + of_builders
    client = indexing.Indexing(url, node.url).run_until(node.head()).client()
    return Requested(node, url, client, deposits, taken)


def listed(client, **query):
    """The whole list, a few at a time, and its total."""
    rows = by_links(client, Listed("/execution-requests", "requests"), **query)
    return rows, get(client, "/execution-requests", **query)["total"]


def test_all_requests_are_listed_oldest_first(requested):
    rows, total = listed(requested.client, orderBy="asc")
    assert total == len(rows) == sum(map(sum, SUBMITTED))
    assert rows == listed(requested.client)[0][::-1]


# The fields that follow the public key in the input of each type. Where none of them is the
# address, it is who called the contract, which may be another contract.
@pytest.mark.parametrize(
    ("type_", "counts", "fields"),
    [
        (
            "withdrawal",
            WITHDRAWN,
            lambda rest: {"amount": str(int(rest, 16) * GWEI), "targetPubkey": None},
        ),
        ("consolidation", CONSOLIDATED, lambda rest: {"amount": None, "targetPubkey": f"0x{rest}"}),
        ("builder_exit", EXITED, lambda _: {"amount": None, "targetPubkey": None}),
        (
            "builder_deposit",
            BUILDERS,
            lambda rest: {
                **{"amount": str(2 * 10**18), "depositIndex": None, "signature": f"0x{rest[80:]}"},
                **{"address": f"0x{rest[24:64]}", "withdrawalCredentials": f"0x{rest[:64]}"},
            },
        ),
    ],
    ids=["withdrawal", "consolidation", "builder_exit", "builder_deposit"],
)
def test_a_request_has_the_fields_of_its_input(requested, type_, counts, fields):
    rows, total = listed(requested.client, requestType=type_)
    assert total == len(rows) == sum(counts)
    for row in rows:
        transaction = requested.node.call("eth_getTransactionByHash", row["transactionHash"])
        data, caller = transaction["input"][2:], {FORWARDER: FORWARDER}.get(transaction["to"])
        expected = {"pubkey": f"0x{data[:96]}", "address": caller or transaction["from"]}
        expected |= fields(data[96:])
        assert {name: row[name] for name in expected} == expected


def test_deposits_have_the_values_of_their_event(requested):
    rows, _ = listed(requested.client, requestType="deposit", orderBy="asc")
    values = [deposit for block in requested.deposits.values() for deposit in block]
    for row, (pubkey, credentials, _, signature, index) in zip(rows, values, strict=True):
        assert row["pubkey"] == "0x" + pubkey.hex()
        assert row["withdrawalCredentials"] == "0x" + credentials.hex()
        assert row["address"] == ("0x" + credentials[12:].hex() if credentials[0] else None)
        assert (row["amount"], row["signature"]) == (str(32 * 10**18), "0x" + signature.hex())
        assert row["depositIndex"] == int.from_bytes(index, "little")


def test_a_block_lists_what_it_took_of_the_queues(requested):
    """By the contracts' own answers to the system's call."""
    client = requested.client
    for number, queues in requested.taken.items():
        deposits = b"".join(b"".join(values) for values in requested.deposits[number])
        hash_ = contracts.hash_of(deposits, queues)
        record = client.get(f"/api/v1/blocks/{number}").json
        count = sum(counts[number - 1] for counts in SUBMITTED)
        shown = record.get("requestsHash"), record.get("requestCount")
        assert shown == ((EMPTY, count) if count else (None, None))  # anvil's
        body = client.get(f"/api/v1/blocks/{number}/execution-requests").json
        assert body["requests"] == ([] if not any((deposits, *queues)) else None)
        change = "UPDATE blocks SET requests_hash = %s WHERE number = %s RETURNING number"
        assert database.execute(requested.url, change, hash_, number) == [(number,)]
        # By its hash, as the response by its number is cached.
        body = client.get(f"/api/v1/blocks/{record['hash']}/execution-requests").json
        assert body["requestsHash"] == "0x" + hash_.hex()
        expected = count > 0 or "0x" + hash_.hex() != EMPTY
        assert ("requestsHash" in client.get(f"/api/v1/blocks/{record['hash']}").json) == expected
        keys = [row["pubkey"][2:] for row in body["requests"]]
        sizes = ((deposits, 192, 0), (queues[0], 76, 20), (queues[1], 116, 20))
        sizes += ((queues[2], 184, 0), (queues[3], 68, 20))
        assert keys == [
            encoded[at + offset : at + offset + 48].hex()
            for encoded, size, offset in sizes
            for at in range(0, len(encoded), size)
        ]
        database.execute(requested.url, change, bytes.fromhex(EMPTY[2:]), number)
    assert client.get("/api/v1/blocks/999/execution-requests").status_code == 404


def test_a_block_lists_more_deposits_than_a_queue_can_hold(requested):
    """Of deposits a block takes all: only its gas bounds them."""
    url, number, count = requested.url, requested.node.head(), MOST_QUEUED + 1
    database.execute(
        url,
        "INSERT INTO execution_requests (SELECT (jsonb_populate_record(q, jsonb_build_object("
        "'ordinal', first_ordinal_in(%s) + n, 'block_number', %s, 'transaction_index', 0,"
        " 'log_index', 1000 + n))).*"
        " FROM execution_requests q, generate_series(1, %s) n"
        " WHERE q.ordinal = (SELECT min(ordinal) FROM execution_requests WHERE type = '\\x00'))",
        number,
        number,
        count,
    )
    deposit = b"".join(requested.deposits[1][0])
    change = "UPDATE blocks SET requests_hash = %s WHERE number = %s"
    database.execute(url, change, contracts.hash_of(deposit * count, [b"", b""]), number)
    body = requested.client.get(f"/api/v1/blocks/{number}/execution-requests?=new").json
    assert len(body["requests"]) == count
    database.execute(url, change, bytes.fromhex(EMPTY[2:]), number)
    database.execute(url, "DELETE FROM execution_requests WHERE log_index > 1000")


def test_deposits_in_blockscouts_form_are_as_expected(requested):
    """Of an account, a block and a transaction, too."""
    [row, *_], _ = listed(requested.client, requestType="deposit")
    names = {"account": row["address"], "transaction": row["transactionHash"]}
    expected.compare(__file__, requested.client, names)
    shown = requested.client.get("/api/v2/beacon/deposits").json
    assert not published.faults("/api/v2/beacon/deposits", shown)
