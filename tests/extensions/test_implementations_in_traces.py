"""What a trace says of the implementation that ran, beside what is stated of the proxy."""

from pathlib import Path

import pytest

from scan.contracts.known_proxies import IMPLEMENTATION_SLOT
from scan.extensions.decoding.details import ListBounds
from scan.extensions.etherscan.transactions import PageBounds
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.indexing import sources
from tests.support.many_functions import VERSION
from tests.support.proxies import EIP1167, FORWARD, assembled, either, word

SOURCE = Path(__file__).with_name("Versions.sol").read_text()


def act(number):
    return calldata("act(uint256)", number)


def upgrade(to):
    return calldata("upgradeTo(address)", to)


@pytest.fixture(scope="module")
def versions(explorer):
    """Two verified implementations, and the creation code of their proxy."""
    standard = standard_input({"P.sol": SOURCE})
    verified = [explorer.verified(standard, VERSION, f"P.sol:{name}") for name in ("V1", "V2")]
    return *verified, compiled(VERSION, standard, "P.sol", "P").creation


def in_one_block(explorer, proxy, *calls):
    """The hashes of transactions, which follow each other in a block."""
    anvil = explorer.anvil
    sent = [anvil.send(anvil.accounts[0], proxy, data=data) for data in calls]
    anvil.mine()
    explorer.wait_for_block(anvil.head())
    return sent


def decoded(client, sent):
    """The names of the argument and of the event's, and how many are possible of each."""
    record = client.get(f"/api/v1/transactions/{sent}").json
    both = record["method"], record["logs"][0]["event"]
    assert {item["source"] for item in both} == {"verified"}
    names = [item["arguments"][0]["name"] for item in both]
    return *names, *(len(item.get("alternatives") or ()) for item in both)


def test_a_call_before_an_upgrade_in_its_block_is_of_the_version_that_ran(explorer, versions):
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])
    before, _, after = in_one_block(explorer, proxy, act(1), upgrade(second), act(2))
    untraced = explorer.indexing.client(traces="off")
    for sent in (before, after):
        assert decoded(untraced, sent)[2:] == (2, 2)
    assert decoded(explorer.client, before) == ("first", "oldNumber", 0, 0)
    assert decoded(explorer.client, after) == ("second", "newNumber", 0, 0)
    frames = explorer.get(f"/api/v1/transactions/{before}/trace")["frames"]
    assert [frame["function"]["arguments"][0]["name"] for frame in frames] == ["first"] * 2
    assert {frame["contradiction"] for frame in frames} == {None}


def test_a_trace_that_contradicts_the_stated_implementation_decides_and_says_so(explorer, versions):
    """The proxy had another implementation between two transactions of its block alone."""
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])
    calls = upgrade(second), act(1), upgrade(first), act(2)
    _, other, _, same = in_one_block(explorer, proxy, *calls)
    assert decoded(explorer.client, other) == ("second", "newNumber", 0, 0)
    assert decoded(explorer.client, same) == ("first", "oldNumber", 0, 0)
    frames = explorer.get(f"/api/v1/transactions/{other}/trace")["frames"]
    assert frames[0]["function"]["arguments"][0]["name"] == "second"
    assert first in frames[0]["contradiction"] and second in frames[0]["contradiction"]
    page = explorer.get(f"/tx/{other}?tab=calls")
    assert "The implementation of this proxy is" in page and "passed on to" in page
    frames = explorer.get(f"/api/v1/transactions/{same}/trace")["frames"]
    assert [frame["contradiction"] for frame in frames] == [None, None]


def listed(app, proxy, head):
    """What Etherscan's list names calls, and how the list of logs names arguments and how many it
    has as possible, by hash."""
    client = app.test_client()
    path = f"/api?module=account&action=txlist&address={proxy}&_={head}"
    names = {row["hash"]: row["functionName"] for row in client.get(path).json["result"]}
    logs = client.get(f"/api/v1/logs?address={proxy}&_={head}").json["logs"]
    events = {
        log["transactionHash"]: log["event"]
        and (log["event"]["arguments"][0]["name"], len(log["event"].get("alternatives", ())))
        for log in logs
    }
    return {sent: (names.get(sent), event) for sent, event in events.items()}


def test_lists_name_a_call_by_the_version_that_ran_or_not_at_all(explorer, versions):
    """As its page does: in a block that another version had both before and after, too, and in one
    between two blocks of the other."""
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])
    [lone] = in_one_block(explorer, proxy, act(1))
    before, _, after = in_one_block(explorer, proxy, act(1), upgrade(second), act(2))
    [between] = in_one_block(explorer, proxy, act(3))
    in_one_block(explorer, proxy, upgrade(first))
    calls = upgrade(second), act(1), upgrade(first), act(2)
    _, other, _, same = in_one_block(explorer, proxy, *calls)
    old, new = ("act(uint256 first)", ("oldNumber", 0)), ("act(uint256 second)", ("newNumber", 0))
    expected = {lone: old, before: old, after: new, between: new, other: new, same: old}
    head = explorer.anvil.head()
    assert listed(explorer.app, proxy, head) == expected
    bounded = explorer.indexing.client().application
    # Of each list's first doubtful row: calls are listed in their order, events backwards.
    sources(bounded.test_client()).get(ListBounds).traced = 1
    possible, unnamed = ("newNumber", 2), ("act(uint256)", ("", 0))
    beyond = {before: (old[0], possible), after: (unnamed[0], possible), other: unnamed}
    beyond |= {lone: (old[0], unnamed[1]), between: (new[0], unnamed[1])}
    beyond[same] = (unnamed[0], old[1])
    assert listed(bounded, proxy, head) == expected | beyond


def test_a_change_there_and_back_by_another_contract_names_nothing_wrongly(explorer, versions):
    """It emits no event, and the state after the block is the one before: the trace decides, and
    without one only the signature is said. In a transaction itself, too; and where the contract
    that ran is not verified, nothing is said."""
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])
    standard = standard_input({"P.sol": SOURCE})
    both = explorer.deploy(compiled(VERSION, standard, "P.sol", "Both").creation)
    changed = SOURCE.replace("contract V2", "contract V3").replace("newNumber", "other")
    standard = standard_input({"P.sol": changed})
    unverified = explorer.deploy(compiled(VERSION, standard, "P.sol", "V3").creation)

    def while_it_is(other):
        anvil, sender = explorer.anvil, explorer.anvil.accounts[0]
        there, back = (calldata("upgrade(address,address)", proxy, to) for to in (other, first))
        sent = [
            anvil.send(sender, to, data=data)
            for to, data in ((both, there), (proxy, act(5)), (both, back), (proxy, act(6)))
        ]
        anvil.mine()
        return sent[1], sent[3]

    other, same = while_it_is(second)
    unknown, known = while_it_is(unverified)
    inside = explorer.send(both, calldata("run(address,address,address)", proxy, second, first))
    explorer.wait_for_block(head := explorer.anvil.head())
    names = listed(explorer.app, proxy, head)
    old, new = ("act(uint256 first)", ("oldNumber", 0)), ("act(uint256 second)", ("newNumber", 0))
    assert names == {other: new, same: old, unknown: ("", None), known: old, inside: (None, old[1])}
    untraced = explorer.indexing.client(traces="off").application
    unnamed = ("act(uint256)", ("", 0))
    assert listed(untraced, proxy, head) == dict.fromkeys(names, unnamed) | {
        inside: (None, ("newNumber", 2))  # the index has the trace of one that ran
    }
    logs = explorer.get(f"/api/v1/logs?address={proxy}&limit=2")["logs"]
    of_inside = [log["event"]["arguments"][0]["name"] for log in logs]
    assert of_inside == ["newNumber", "oldNumber"]


def test_a_list_reads_the_states_of_few_proxies_and_blocks(explorer, versions):
    first, _, creation = versions
    proxy, another = (explorer.deploy(creation, word(first)[2:]) for _ in range(2))
    sender = explorer.anvil.accounts[0]
    for to in (proxy, another, proxy, proxy):
        explorer.send(to, act(1))
    bounded = explorer.indexing.client().application
    path = f"/api?module=account&action=txlist&address={sender}&page=1&offset=4&sort=desc&_={proxy}"
    bounds = sources(bounded.test_client()).get(PageBounds)
    bounds.proxies, bounds.states = 1, 2
    rows = bounded.test_client().get(path).json["result"]
    assert [(row["to"], row["functionName"]) for row in rows] == [
        (proxy, "act(uint256 first)"),
        (proxy, "act(uint256)"),
        (another, ""),
        (proxy, "act(uint256 first)"),
    ]


@pytest.mark.thorough
def test_events_are_of_the_version_that_emitted_them_where_a_transaction_has_both(
    explorer, versions
):
    """By no event, and only inside of the transaction: the state of its block does not show it."""
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])
    standard = standard_input({"P.sol": SOURCE})
    both = explorer.deploy(compiled(VERSION, standard, "P.sol", "Both").creation)
    sent = explorer.send(both, calldata("run(address,address,address)", proxy, second, first))
    record = explorer.get(f"/api/v1/transactions/{sent}")
    frames = explorer.get(f"/api/v1/transactions/{sent}/trace")["frames"]
    for logs in (record["logs"], [log for frame in frames for log in frame["logs"]]):
        names = [log["event"]["arguments"][0]["name"] for log in logs]
        assert names == ["oldNumber", "newNumber"]
        assert not any("alternatives" in log["event"] for log in logs)
    assert "logs.event" in record["unproven"]


def test_a_proxy_that_depends_on_the_caller_is_known_by_its_calls_alone(explorer, versions):
    """What it ran is named in all forms, with what it claims as a warning; never the claim."""
    first, second, _ = versions
    proxy = explorer.place(assembled(either("CALLER 7 EQ")).hex())
    for slot, to in ((IMPLEMENTATION_SLOT, first), (f"0x{7:064x}", second)):
        explorer.anvil.call("anvil_setStorageAt", proxy, slot, word(to))
    client = explorer.client
    page = client.get(f"/address/{proxy}?tab=contract&view=write").text
    assert "says that it is a proxy" in page and first in page and second not in page
    assert client.get(f"/api/v2/addresses/{proxy}").json["implementations"] == []
    sent = explorer.send(proxy, act(1))
    untraced = explorer.indexing.client(traces="off")
    assert decoded(client, sent) == ("second", "newNumber", 0, 0)
    assert decoded(untraced, sent)[2:] == (2, 2)  # it may have been either
    assert client.get(f"/api/v1/transactions/{sent}").json["method"]["evidence"] == "trace"
    page = client.get(f"/address/{proxy}?tab=contract&view=write").text
    assert "Traces of transactions show it" in page and second in page
    assert f"It says that its implementation is {first}" in page
    for path in (f"/api/v2/addresses/{proxy}", f"/api/v2/smart-contracts/{proxy}"):
        [ran] = client.get(path).json["implementations"]
        assert ran["address_hash"].lower() == second
    check = f"/api?module=contract&action=checkproxyverification&guid=proxy-{proxy[2:]}-{first[2:]}"
    assert client.get(check).json["status"] == "0"


@pytest.mark.thorough
def test_a_facet_that_a_diamond_names_but_does_not_call_decodes_nothing(explorer, versions):
    first, second, _ = versions
    diamond = f"""0 CALLDATALOAD 224 SHR DUP1 0x52ef6b2c EQ @loupe JUMPI SLOAD {FORWARD}
        loupe: 32 0 MSTORE 1 32 MSTORE {first} 64 MSTORE 96 0 RETURN"""
    proxy = explorer.place(assembled(diamond).hex())
    slot = f"0x{act(1)[2:10]:0>64}"
    explorer.anvil.call("anvil_setStorageAt", proxy, slot, word(second))
    sent = explorer.send(proxy, act(1))
    untraced = explorer.indexing.client(traces="off")
    method = untraced.get(f"/api/v1/transactions/{sent}").json["method"]
    assert method["arguments"][0]["name"] == "second", method
    assert explorer.call(proxy, "n()").status_code == 422  # of the facet that it names
    page = explorer.get(f"/address/{proxy}?tab=contract")
    assert second in page


def test_a_list_names_calls_of_a_router_that_names_no_facets_by_their_traces(explorer, versions):
    first, second, _ = versions
    router = f"0 CALLDATALOAD 224 SHR SLOAD {FORWARD}"  # slots of its own, and no list of them
    proxy = explorer.place(assembled(router).hex())
    slot = f"0x{act(1)[2:10]:0>64}"
    sent = []
    for facet in (first, second):
        explorer.anvil.call("anvil_setStorageAt", proxy, slot, word(facet))
        sent.append(explorer.send(proxy, act(1)))
    path = f"/api?module=account&action=txlist&address={proxy}"
    names = {row["hash"]: row["functionName"] for row in explorer.get(path)["result"]}
    assert [names[hash_] for hash_ in sent] == ["act(uint256 first)", "act(uint256 second)"]


@pytest.mark.thorough
def test_functions_that_the_code_has_itself_are_not_decoded_by_its_implementation(
    explorer, versions
):
    first, *_ = versions
    own = f"""0 CALLDATALOAD 224 SHR 0x{act(1)[2:10]} EQ @own JUMPI
        {int(IMPLEMENTATION_SLOT, 16)} SLOAD {FORWARD} own: STOP"""
    proxy = explorer.place(assembled(own).hex())
    explorer.anvil.call("anvil_setStorageAt", proxy, IMPLEMENTATION_SLOT, word(first))
    explorer.send(explorer.anvil.accounts[1], "")  # in the state of a block without a call
    sent = explorer.send(proxy, act(1))
    record = explorer.get(f"/api/v1/transactions/{sent}")
    assert record["method"] is None or record["method"]["source"] != "verified"
    answer = explorer.call(proxy, "n()")
    assert answer.status_code == 200 and answer.json["evidence"] == "claim"
    page = explorer.get(f"/address/{proxy}?tab=contract&view=write")
    assert "says that it is a proxy" in page


def test_code_that_is_long_to_follow_holds_neither_the_index_nor_a_reader(explorer, versions):
    """Nobody follows it: it is matched with what is known, whose size alone decides how long."""
    first, *_ = versions
    anvil, sender = explorer.anvil, explorer.anvil.accounts[0]
    # Builds a value of 300 operations over the size of its input, stores at it and reads, again and
    # again; each operation more would have been followed once.
    endless = "CALLDATASIZE " + "DUP1 1 ADD XOR " * 100 + "DUP1 DUP1 MSTORE DUP1 MLOAD POP " * 460
    bare = assembled(endless).hex()
    codes = [f"{n:02x}".join(("60", "50")) + bare + "f4" for n in range(40)]
    codes.append(EIP1167.format(first[2:]))
    creations = [
        f"0x61{len(code) // 2:04x}600e60003961{len(code) // 2:04x}6000f3" for code in codes
    ]
    sent = [
        anvil.send(sender, None, data=creation + code, gas=700_000)
        for creation, code in zip(creations, codes, strict=True)
    ]
    anvil.mine()
    explorer.wait_for_block(anvil.head())
    made = [anvil.receipt_of(hash_)["contractAddress"] for hash_ in sent]
    record = explorer.contract(made[-1]).json
    assert record["proxy"] == {"type": "eip1167", "implementation": first, "evidence": "code"}
    beacon = f"0x{IMPLEMENTATION_SLOT[2:]} POP 0x5c60da1b POP 7 SLOAD {FORWARD}"
    proxy = explorer.place(assembled(beacon).hex())
    anvil.call("anvil_setStorageAt", proxy, IMPLEMENTATION_SLOT, word(made[0]))
    assert explorer.client.get(f"/address/{proxy}?tab=contract").status_code == 200


def test_lists_in_etherscans_form_name_functions_by_the_implementation(explorer, versions):
    """By the trace where it was changed in the block of a call; not at all without the node."""
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])

    def names(client=explorer.client, **window):
        query = {"module": "account", "action": "txlist", "address": proxy, **window}
        return [
            row["functionName"] for row in client.get("/api", query_string=query).json["result"]
        ]

    in_one_block(explorer, proxy, act(1))
    assert names() == ["", "act(uint256 first)"]  # after the creation
    in_one_block(explorer, proxy, upgrade(second))
    in_one_block(explorer, proxy, act(2))
    assert names(startblock=explorer.anvil.head()) == ["act(uint256 second)"]
    assert names() == ["", "act(uint256 first)", "", "act(uint256 second)"]
    assert names(explorer.indexing.client(rpc_urls=("http://127.0.0.1:9",))) == [""] * 4
