"""Hard forks that this version does not know: fields of headers. A type of transactions that it
does not know: test_frames.py.

The chain has Sepolia's id. Blocks 1 to 3 are Prague's, 4 to 6 Amsterdam's, and from block 7 on
headers have two more fields, which end in another order than that of their names.
"""

import logging

import pytest

from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node
from scan.ethereum.fork_schedule import fork_warnings
from scan.extensions.demo.tests.replaying import served
from scan.extensions.operations.doctor import checks as doctor
from tests.support import auditing
from tests.support.chain_forms.encoding import HEADER_FIELDS
from tests.support.chain_forms.made_chain import MadeChain, log, word
from tests.support.chain_forms.others import ALICE, BOB, CAROL, GENESIS
from tests.support.faulty_node import altering, changing, replacing
from tests.support.indexing import Indexing, source_of

SEPOLIA, NOBODY_KNOWS = 11_155_111, 987_654
AMSTERDAM = ("blockAccessListHash", "slotNumber")
EVENT = word("an event")
HEAD = 9


def made(chain_id=SEPOLIA, *, novel=None, last=HEAD):
    """The chain; `novel` are the last fields of headers."""
    novel = novel or {"zetaRoot": word("zeta"), "alphaCount": 77}
    chain = MadeChain(chain_id, GENESIS)
    chain.header_fields = (*HEADER_FIELDS, *AMSTERDAM, *novel)
    for number in range(1, last + 1):
        fields = {} if number < 4 else dict(zip(AMSTERDAM, (word("l"), number), strict=True))
        logs = [log(CAROL, EVENT, data=number.to_bytes(32))]
        chain.pay(ALICE, BOB, number, receipt={"logs": logs})
        chain.mine(withdrawalsRoot=None, **fields, **(novel if number > 6 else {}))
    return chain


def gas_limit(block):
    block["gasLimit"] = "0x1312d00"


def amount(receipts):
    receipts[-1]["logs"][0]["data"] = "0x" + (999).to_bytes(32).hex()


ALTERATIONS = [(gas_limit, "eth_getBlockByNumber"), (amount, "eth_getBlockReceipts")]


def unproven(client):
    blocks = client.get("/readyz").json["unproven"]
    return [(entry["firstBlock"], entry["lastBlock"], entry["reason"]) for entry in blocks]


def test_a_chain_that_changes_its_form_twice_is_indexed_without_a_pause(database_url, caplog):
    with served(made()) as node:
        with caplog.at_level(logging.WARNING):
            index = Indexing(database_url, node.url).run_until(HEAD)
        records = (r for r in caplog.records if r.name.startswith("scan.indexer."))
        assert [record.getMessage() for record in records] == [
            "since block 7 headers have zetaRoot, alphaCount,"
            " unknown to this version of Scan, update it"
        ]
        client = index.client()
        assert unproven(client) == []
        assert "slotNumber" not in client.get("/api/v1/blocks/3").json
        block = client.get("/api/v1/blocks/8").json
        assert block["slotNumber"] == 8
        page = client.get("/block/8").text
        assert block["blockAccessListHash"] == "0x" + word("l").hex() in page
        assert "<dt>Slot</dt><dd>8</dd>" in page and "<dt>Access list</dt>" in page
        assert auditing.run(index.settings, node=True) == 0


# Beside each fork, read with all blocks before it or alone; of block 8 the fields are known from
# block 7 on.
@pytest.mark.thorough
@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    ("number", "is_newest"), [(3, False), (4, True), (6, True), (7, False), (8, True)]
)
def test_an_altered_block_beside_a_fork_is_refused_and_named(number, is_newest):
    head = number if is_newest else HEAD
    with served(made(last=head)) as node:
        true = source_of(node).blocks(0, head)
        for alteration in ALTERATIONS:
            node.fault = changing(*alteration, block=number)
            source = source_of(node)
            assert source.blocks(0, head) == true[:number]
            for reader in (source, source_of(node)):
                with pytest.raises(MalformedBlock, match=f"block {number} contradicts itself"):
                    reader.blocks(number, head)
            node.fault = None
            assert source.blocks(0, head) == true


def test_more_fields_than_are_tried_are_proven_by_bytes_alone():
    names = "betaRoot, deltaRoot, etaRoot, gammaRoot"
    many = {name: word(name) for name in ("deltaRoot", "betaRoot", "etaRoot", "gammaRoot")}
    with served(made(novel=many), has_bytes=True) as node:
        source = source_of(node)
        assert [fetched.block.unproven for fetched in source.blocks(0, HEAD)] == [None] * (HEAD + 1)
        for number, (alter, method) in ((8, ALTERATIONS[1]), (6, ALTERATIONS[0])):
            node.fault = changing(alter, method, block=number)
            with pytest.raises(MalformedBlock, match=f"block {number} contradicts itself"):
                source.blocks(number, HEAD)
        node.fault = changing(*ALTERATIONS[0], block=8)
        with pytest.raises(MalformedBlock, match="header and its bytes"):
            source.blocks(8, 8)
    for chain_id in (SEPOLIA, NOBODY_KNOWS):
        with served(made(chain_id, novel=many)) as node:
            source = source_of(node)
            assert len(source.blocks(0, HEAD)) == 7
            with pytest.raises(MalformedBlock, match=f"header and hash, with fields {names}"):
                source.blocks(7, HEAD)


def test_what_is_not_proven_is_named_by_runs_and_unwound_with_blocks(database_url, database):
    """Blocks 3, 5, 6 and 9 have a field that looks like another chain's form, on a chain that
    nobody knows; blocks between them are proven."""

    def fee_for_l1(call, answer):
        if call["method"] == "eth_getBlockReceipts" and int(call["params"][0], 16) in (3, 5, 6, 9):
            for receipt in answer["result"]:
                receipt["l1Fee"] = "0x64"

    chain, reason = made(NOBODY_KNOWS), "fields of Scroll"
    with served(chain) as node:
        node.fault = altering(fee_for_l1)
        index = Indexing(database_url, node.url).run_until(HEAD)
        client = index.client()
        assert unproven(client) == [(9, 9, reason), (5, 6, reason), (3, 3, reason)]
        assert client.get("/readyz").json["unprovenBlocks"] == 4
        page = client.get("/status").text
        assert "<dt>5 to 6</dt>" in page and "5 to 9" not in page
        assert "scan_unproven_blocks 4.0" in client.get("/metrics").text
        texts = [outcome.text for outcome in doctor.check_database(database)]
        assert sum("are not proven" in text for text in texts) == 3
        assert auditing.run(index.settings, node=True) == 0
    other = made(NOBODY_KNOWS, last=6)
    for number in (7, 8, 9, 10):
        other.pay(ALICE, BOB, 2 * number)
        fields = dict(zip(AMSTERDAM, (word("l"), number), strict=True))
        other.mine(withdrawalsRoot=None, **fields)
    with served(other) as node:
        client = Indexing(database_url, node.url).run_until(HEAD + 1).client()
    assert unproven(client) == [(5, 6, reason), (3, 3, reason)]
    assert client.get("/readyz").json["unprovenBlocks"] == 3


def test_a_header_that_contradicts_its_hash_is_no_form_of_a_chain_that_was_proven():
    """Whatever its id; where no header was proven, the chain has headers of its own."""
    with served(made(NOBODY_KNOWS)) as node:
        node.fault = changing(*ALTERATIONS[0], block=3)
        with pytest.raises(MalformedBlock, match="block 3 contradicts itself"):
            source_of(node).blocks(3, 3)
        source = source_of(node)
        assert source.blocks(5, 5)[0].block.unproven is None  # a later one was proven before
        with pytest.raises(MalformedBlock, match="block 3 contradicts itself"):
            source.blocks(3, 3)

        @altering
        def every_header(_, answer):
            if isinstance(answer.get("result"), dict):
                gas_limit(answer["result"])

        node.fault = every_header
        blocks = source_of(node).blocks(0, 3)
        assert {"own form" in (fetched.block.unproven or "") for fetched in blocks} == {True}
        source = source_of(node)
        source.checker.record_proven(1)
        with pytest.raises(MalformedBlock, match="block 2 contradicts itself"):
            source.blocks(2, 3)


def test_forks_that_are_not_known_or_that_a_node_has_not_are_told(database_url, caplog):
    def schedule(current, following):
        node.fault = replacing("eth_config", {"current": current, "next": following, "last": None})
        return fork_warnings(Node([node.url]))

    amsterdam = "the node does not know the fork Amsterdam of 2026-10-06 13:53:36 UTC"
    scheduled = "a fork is scheduled for 2030-03-17 17:46:40 UTC (fork id 0x12345678)"
    # The current fork and the next, whether that is known, and whether the chain's newest is
    # missed: of Sepolia alone, as no other public chain has a time of Amsterdam.
    contracts = {"BEACON_ROOTS_ADDRESS": "0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02"}
    now = {
        "activationTime": 1_700_000_000,
        "forkId": "0x07c9462e",
        "systemContracts": contracts,
        "precompiles": {"ECREC": f"0x{1:040x}"},
        "blobSchedule": {"max": 6, "target": 3},
    }
    later = {**now, "activationTime": 1_900_000_000, "forkId": "0x12345678"}
    builders = {"BUILDER_DEPOSIT": "0x0000bFF46984e3725691FA540a8C7589300D8282"}
    amsterdam_s = 1_791_294_816  # 2026-10-06 13:53:36 UTC, the start of Sepolia's epoch 353,024
    novel_contract = {"systemContracts": {**contracts, "NOVEL": f"0x{0xABC:040x}"}}
    on_sepolia = {**now, "chainId": hex(SEPOLIA)}
    on_time = {**on_sepolia, "activationTime": amsterdam_s, **novel_contract}
    too_late = {**on_time, "activationTime": amsterdam_s + 384}
    schedules = [
        (now, None, True, False),
        (now, {**later, "blobSchedule": {"max": 21, "target": 14}}, True, False),
        (now, {**later, "systemContracts": {**contracts, **builders}}, True, False),  # Amsterdam's
        (now, {**later, **novel_contract}, False, False),
        (now, later, False, False),
        ({**now, "chainId": "0x1"}, None, True, False),
        (on_sepolia, None, True, True),
        (on_sepolia, on_time, True, False),
        (on_sepolia, too_late, False, True),
        (on_time, None, True, False),
        ({**on_time, "activationTime": amsterdam_s + 99_999}, None, True, False),
    ]
    with served(made(last=1)) as node:
        for current, following, is_known, is_missed in schedules:
            unknown, missed = schedule(current, following)
            assert (unknown == "", missed) == (is_known, amsterdam if is_missed else ""), following
        unknown, missed = schedule(on_sepolia, {**later, **novel_contract})
        assert scheduled in unknown and missed == amsterdam
        with caplog.at_level(logging.WARNING):
            index = Indexing(database_url, node.url).run_until(1)
        assert unknown in caplog.text and f"{amsterdam}: update the node" in caplog.text
        findings = [finding.text for finding in doctor.check_node(node.url, None, index.settings)]
        assert amsterdam in findings and any(unknown in text for text in findings)
