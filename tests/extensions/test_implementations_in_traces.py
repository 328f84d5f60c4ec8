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
from tests.support.proxies import FORWARD, assembled, word
from tests.support.serving import NOWHERE

SOURCE = Path(__file__).with_name("Versions.sol").read_text()


def act(number):
    return calldata("act(uint256)", number)


@pytest.fixture(scope="module")
def versions(explorer):
    """Two verified implementations, and the creation code of their proxy."""
    standard = standard_input({"P.sol": SOURCE})
    verified = [explorer.verified(standard, VERSION, f"P.sol:{name}") for name in ("V1", "V2")]
    return *verified, compiled(VERSION, standard, "P.sol", "P").creation


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


def test_calls_are_of_the_version_that_ran_in_details_and_lists_or_of_none(explorer, versions):
    """Also in a block that another version had both before and after, which the trace contradicts
    then, and in one between two blocks of the other."""
    first, second, creation = versions
    proxy = explorer.deploy(creation, word(first)[2:])
    to_first, to_second = (calldata("upgradeTo(address)", to) for to in (first, second))

    def in_one_block(*calls):
        """The hashes of transactions, which follow each other in a block."""
        sent = [explorer.anvil.send(explorer.me, proxy, data=data) for data in calls]
        explorer.anvil.mine()
        explorer.wait_for_block(explorer.head)
        return sent

    def decoded(client, sent):
        """The names of the argument and of the event's, and how many are possible of each."""
        record = client.get(f"/api/v1/transactions/{sent}").json
        both = record["method"], record["logs"][0]["event"]
        assert {item["source"] for item in both} == {"verified"}
        names = [item["arguments"][0]["name"] for item in both]
        return *names, *(len(item.get("alternatives") or ()) for item in both)

    [lone] = in_one_block(act(1))
    before, _, after = in_one_block(act(1), to_second, act(2))
    [between] = in_one_block(act(3))
    in_one_block(to_first)
    _, other, _, same = in_one_block(to_second, act(1), to_first, act(2))
    old, new = ("act(uint256 first)", ("oldNumber", 0)), ("act(uint256 second)", ("newNumber", 0))
    expected = {lone: old, before: old, after: new, between: new, other: new, same: old}
    shown = {sent: decoded(explorer.client, sent) for sent in expected}
    assert shown == {
        **dict.fromkeys((lone, before, same), ("first", "oldNumber", 0, 0)),
        **dict.fromkeys((after, between, other), ("second", "newNumber", 0, 0)),
    }
    untraced = explorer.indexing.client(traces="off")
    assert {decoded(untraced, sent)[2:] for sent in (before, after)} == {(2, 2)}
    frames = {sent: explorer.frames(sent) for sent in (before, other, same)}
    names = [frame["function"]["arguments"][0]["name"] for frame in frames[before]]
    assert names == ["first"] * 2
    assert {frame["contradiction"] for frame in frames[before] + frames[same]} == {None}
    contradiction = frames[other][0]["contradiction"]
    assert first in contradiction and second in contradiction
    page = explorer.get(f"/tx/{other}?tab=calls")
    assert "The implementation of this proxy is" in page and "passed on to" in page
    check = f"/api?module=contract&action=checkproxyverification&guid=proxy-{proxy[2:]}-"
    assert [explorer.get(check + of[2:])["status"] for of in (first, second)] == ["1", "0"]
    head = explorer.head
    assert listed(explorer.app, proxy, head) == expected
    bounded = explorer.indexing.client().application
    # Of each list's first doubtful row: calls are listed in their order, events backwards.
    sources(bounded.test_client()).get(ListBounds).traced = 1
    possible, unnamed = ("newNumber", 2), ("act(uint256)", ("", 0))
    beyond = {before: (old[0], possible), after: (unnamed[0], possible), other: unnamed}
    beyond |= {lone: (old[0], unnamed[1]), between: (new[0], unnamed[1])}
    beyond[same] = (unnamed[0], old[1])
    assert listed(bounded, proxy, head) == expected | beyond
    without_node = explorer.indexing.client(rpc_urls=(NOWHERE,)).application
    assert {name for name, _ in listed(without_node, proxy, head).values()} == {""}


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
        there, back = (calldata("upgrade(address,address)", proxy, to) for to in (other, first))
        sent = [
            explorer.anvil.send(explorer.me, to, data=data)
            for to, data in ((both, there), (proxy, act(5)), (both, back), (proxy, act(6)))
        ]
        explorer.anvil.mine()
        return sent[1], sent[3]

    other, same = while_it_is(second)
    unknown, known = while_it_is(unverified)
    inside = explorer.send(both, calldata("run(address,address,address)", proxy, second, first))
    explorer.wait_for_block(head := explorer.head)
    names = listed(explorer.app, proxy, head)
    old, new = ("act(uint256 first)", ("oldNumber", 0)), ("act(uint256 second)", ("newNumber", 0))
    assert names == {other: new, same: old, unknown: ("", None), known: old, inside: (None, old[1])}
    untraced = explorer.indexing.client(traces="off").application
    unnamed = ("act(uint256)", ("", 0))
    assert listed(untraced, proxy, head) == dict.fromkeys(names, unnamed) | {
        inside: (None, ("newNumber", 2))  # the index has the trace of one that ran
    }
    lists = {
        "record": explorer.transaction(inside)["logs"],
        "trace": [log for frame in explorer.frames(inside) for log in frame["logs"]],
        "list": explorer.get(f"/api/v1/logs?address={proxy}&limit=2")["logs"][::-1],
    }
    for door, logs in lists.items():
        names = [log["event"]["arguments"][0]["name"] for log in logs]
        assert names == ["oldNumber", "newNumber"], door
        assert not any(log["event"].get("alternatives") for log in logs), door


def test_a_list_reads_the_states_of_few_proxies_and_blocks(explorer, versions):
    first, _, creation = versions
    proxy, another = (explorer.deploy(creation, word(first)[2:]) for _ in range(2))
    for to in (proxy, another, proxy, proxy):
        explorer.send(to, act(1))
    bounded = explorer.indexing.client().application
    path = f"/api?module=account&action=txlist&address={explorer.me}&_={proxy}"
    bounds = sources(bounded.test_client()).get(PageBounds)
    bounds.proxies, bounds.states = 1, 2
    rows = bounded.test_client().get(f"{path}&page=1&offset=4&sort=desc").json["result"]
    assert [(row["to"], row["functionName"]) for row in rows] == [
        (proxy, "act(uint256 first)"),
        (proxy, "act(uint256)"),
        (another, ""),
        (proxy, "act(uint256 first)"),
    ]


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


@pytest.mark.thorough
def test_functions_that_the_code_has_itself_are_not_decoded_by_its_implementation(
    explorer, versions
):
    first, *_ = versions
    own = f"""0 CALLDATALOAD 224 SHR 0x{act(1)[2:10]} EQ @own JUMPI
        {int(IMPLEMENTATION_SLOT, 16)} SLOAD {FORWARD} own: STOP"""
    proxy = explorer.place(assembled(own).hex())
    explorer.anvil.call("anvil_setStorageAt", proxy, IMPLEMENTATION_SLOT, word(first))
    explorer.send(explorer.you, "")  # in the state of a block without a call
    sent = explorer.send(proxy, act(1))
    record = explorer.transaction(sent)
    assert record["method"] is None or record["method"]["source"] != "verified"
    answer = explorer.call(proxy, "n()")
    assert answer.status_code == 200 and answer.json["evidence"] == "claim"
    page = explorer.get(f"/address/{proxy}?tab=contract&view=write")
    assert "says that it is a proxy" in page
