"""Single objects of API v2: decoded calls, failures, countdowns, contracts, what is not stored."""

from collections import Counter

import pytest

from scan.contracts.abi_decoding import Argument, Decoded
from scan.contracts.proxy_contracts import KINDS as PROXY_KINDS
from scan.ethereum import checksums
from scan.extensions.blockscout import address_and_token_objects, blocks, decoded_objects
from scan.extensions.blockscout.blocks import NO_NONCE
from scan.extensions.blockscout.tests.asking import Asking
from scan.extensions.blockscout.tests.published import PREFIX, faults
from tests.support import database, indexing
from tests.support.indexing import sources
from tests.support.made_blocks import FIRST_TIMESTAMP_S, Move, address


def test_addresses_in_arguments_have_checksums():
    holder = "0x" + "ab" * 20
    arguments = (
        Argument("to", "address", holder),
        Argument("many", "address[2]", [holder, holder]),
        Argument(
            "orders", "(address,(uint256,address)[])[]", [{"a": holder, "b": [["7", holder]]}]
        ),
        Argument("word", "bytes20", holder),
        Argument("on", "bool", True),
    )
    shown = decoded_objects.call_object(Decoded("f", "f()", arguments, "verified"), bytes(36))
    assert shown is not None and shown["method_id"] == "00000000"
    good = checksums.checksummed(holder)
    expected = [good, [good, good], [[good, [["7", good]]]], holder, "true"]
    assert [parameter["value"] for parameter in shown["parameters"]] == expected


def test_a_list_reads_few_reasons_from_the_node(ask, truth):
    sources(ask.client).get(decoded_objects.ReasonBounds).read = 0
    failed = next(t for t in truth.transactions if not t["status"])
    rows = ask.rows(f"/blocks/{failed['blockNumber']}/transactions")
    [row] = [row for row in rows if row["hash"] == failed["hash"]]
    assert (row["status"], row["result"]) == ("error", decoded_objects.UNKNOWN)


@pytest.mark.thorough
def test_the_index_of_an_internal_transaction_is_its_place_in_the_trace(ask):
    """Whatever other calls, which move nothing or fail, come before it."""
    keys = []
    for row in ask.rows("/internal-transactions", items_count=100):
        call = ask(f"/transactions/{row['transaction_hash']}/raw-trace")[row["index"]]
        assert call["action"]["from"] == row["from"]["hash"]
        assert str(int(call["action"]["value"], 16)) == row["value"]
        assert call["type"] == row["type"]
        keys.append((row["transaction_hash"], row["index"]))
    counted = Counter(sent for sent, _ in keys)
    assert len({*keys}) == len(keys)
    assert any(index > counted[sent] for sent, index in keys)


def test_logs_that_are_not_stored_are_counted(explorer, many):
    """Or the frontend hides the tab of a contract's logs."""
    ask, person = Asking(explorer.client), "0x" + "9d" * 20
    for emitter in (many, person):
        counters, account = ask(f"/addresses/{emitter}/tabs-counters"), ask(f"/addresses/{emitter}")
        listed = ask(f"/addresses/{emitter}/logs")["items"]
        assert (counters["logs_count"], account["has_logs"]) == (len(listed), bool(listed))
        assert not faults("/api/v2/addresses/{}/tabs-counters", counters)


def test_logs_are_counted_up_to_51(ask, truth):
    """A counter that steers whether a tab is there is a number."""
    counts = Counter(log["address"] for log in truth.logs)
    for emitter, count in counts.items():
        counters = ask(f"/addresses/{emitter}/tabs-counters")
        assert counters["logs_count"] == min(count, 51)
    assert max(counts.values()) > 51 > min(counts.values())


def test_the_node_tells_nonces_of_mined_blocks_alone(database_url, chain, monkeypatch):
    """Of those since the Merge, which have withdrawals since Shanghai, all is known."""
    for withdrawals in (None, [], None):
        chain.append(withdrawals=withdrawals)
    database.insert(database_url, "chain", chain_id=1)
    ask = Asking(indexing.client_over(database_url))
    assert [block["nonce"] for block in ask("/blocks")["items"]] == [None, NO_NONCE, None]
    monkeypatch.setattr(blocks, "MERGES", {"1": 1})
    assert [ask(f"/blocks/{n}")["nonce"] for n in (2, 1, 0)] == [NO_NONCE, NO_NONCE, None]


def test_a_verified_contract_is_as_published(explorer, many):
    path = f"/api/v2/smart-contracts/{many}"
    shown = explorer.get(path)
    stored = explorer.get(f"/api/v1/contracts/{many}")
    assert shown is not None and stored is not None
    assert not faults("/api/v2/smart-contracts/{}", shown)
    assert (shown["name"], shown["is_verified"]) == ("Many", True)
    assert shown["is_fully_verified"] is (stored["match"] == "full")
    assert shown["abi"] == stored["abi"]
    sources = {path: source["content"] for path, source in stored["sources"].items()}
    files = {file["file_path"]: file["source_code"] for file in shown["additional_sources"]}
    assert {shown["file_path"]: shown["source_code"], **files} == sources
    address = explorer.get(f"/api/v2/addresses/{many}")
    assert (address["name"], address["is_verified"], address["is_contract"]) == ("Many", True, True)
    assert address["creation_transaction_hash"] == stored["creation"]["transactionHash"]


def test_a_proxy_has_its_implementation(explorer, many):
    assert [*address_and_token_objects.KINDS] == [*PROXY_KINDS]
    for implementation, name in ((many, "Many"), (explorer.place("6005600d60"), None)):
        proxy = explorer.place(
            f"363d3d373d3d3d363d73{implementation[2:]}5af43d82803e903d91602b57fd5bf3"
        )
        for path in ("addresses", "smart-contracts"):
            response = explorer.client.get(f"/api/v2/{path}/{proxy}")
            assert response.status_code == 200 and response.json is not None
            assert not faults(f"/api/v2/{path}/{{}}", response.json)
            assert response.json["proxy_type"] == "eip1167"
            is_verified = path == "addresses" and name is not None
            assert bool(response.json.get("is_verified")) is is_verified
            [shown] = response.json["implementations"]
            assert (shown["address_hash"].lower(), shown["name"]) == (implementation.lower(), name)


def test_new_contracts_are_those_of_the_day_before_the_newest_block(database_url, chain):
    for hour in (0, 1, 24, 25, 49):
        creation = Move(address("creator"), None, contract=address(f"contract {hour}"))
        chain.append([creation], timestamp_s=FIRST_TIMESTAMP_S + 3_600 * hour)
    counters = indexing.client_over(database_url).get("/api/v2/smart-contracts/counters").json
    assert (counters["smart_contracts"], counters["new_smart_contracts_24h"]) == ("5", "2")


def test_code_that_no_transaction_created_or_called_is_a_contract(world):
    """As in the native record: code of the genesis block, or of a fork of the chain."""
    contract = f"0x{0xC0DE:040x}"
    world.anvil.call("anvil_setCode", contract, "0x00")
    world.anvil.mine()
    world.read()
    assert world.get(f"/api/v1/addresses/{contract}")["isContract"] is True
    theirs = world.get(f"{PREFIX}/addresses/{contract}")
    assert (theirs["is_contract"], theirs["creation_status"]) == (True, "success")
