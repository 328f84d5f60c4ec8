"""Logs that several declarations of an event fit: one where the values or the code that ran say
which, else all of them, in every door. Bytes that old compilers do not pad."""

import json
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.events.tests.coffers import following
from tests.support.anvil import encoded_call
from tests.support.explorer import compiled, standard_input
from tests.support.lists import post
from tests.support.serving import wait_until

FROM, TO = f"0x{1:040x}", f"0x{2:040x}"


def log_of(explorer, address, function):
    """The hash of a transaction that calls a function without arguments, and its logs."""
    data = "0x" + keccak(text=function)[:4].hex()
    sent = explorer.transact(address, data, gas=1_000_000)
    return sent["hash"], sent["logs"]


def events_of(explorer, address, function):
    """The events of a transaction in every door that shows them."""
    sent, logs = log_of(explorer, address, function)
    events = [log["event"] for log in logs]
    listed = explorer.get(f"/api/v1/logs?address={address}&limit={len(logs)}")["logs"][::-1]
    assert [log["event"] for log in listed] == events
    frames = explorer.frames(sent)
    assert [log["event"] for frame in frames for log in frame["logs"]] == events
    candidates = [
        post(explorer.client, "/decode", data=log["data"], topics=log["topics"], address=address)
        for log in logs
    ]
    others = explorer.get(f"/api/v2/transactions/{sent}/logs")["items"]
    page = explorer.get(f"/tx/{sent}?tab=events")
    return events, [decoding["candidates"] for decoding in candidates], others, page


def values_of(arguments):
    return [argument["value"] for argument in arguments]


def test_an_event_with_other_indexed_arguments_is_no_guess(explorer):
    equal_topics = Path(__file__).with_name("EqualTopics.sol").read_text()
    standard = standard_input({"Mixed.sol": equal_topics})
    address = explorer.verified(standard, "0.8.28", "Mixed.sol:Own")
    right, wrong = [FROM, TO, "3"], [TO, FROM, "3"]
    for function in ("one()", "two()"):
        [event], [candidates], [other], page = events_of(explorer, address, function)
        assert values_of(event["arguments"]) == [None, None, "3"]
        assert sorted(map(values_of, event["alternatives"])) == [right, wrong]
        assert sorted(values_of(c["arguments"]) for c in candidates) == [right, wrong]
        shown = values_of(other["decoded"]["parameters"])
        assert set(shown[0].split(" or ")) == {FROM, TO} and shown[2] == "3"
        assert page.count("Possible arguments") >= 2 and "not certain" in page
    [event], [candidates], [other], _ = events_of(explorer, address, "three()")
    assert values_of(event["arguments"]) == right and "alternatives" not in event
    assert values_of(other["decoded"]["parameters"]) == right and len(candidates) == 1
    # A number that is no address, and bytes that are no hash, leave one declaration.
    (paid, text), _, _, _ = events_of(explorer, address, "pay()")
    assert values_of(paid["arguments"]) == [FROM, str(2**200)]
    assert paid["arguments"][1]["name"] == "value" and "alternatives" not in paid
    assert text["arguments"][0]["value"] is None and len(text["alternatives"]) == 2


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["0.4.26", "0.8.28"])
def test_an_event_of_a_library_and_of_its_contract(explorer, version):
    given = {"optimizer": {"enabled": False}}
    sources = {"a.sol": Path(__file__).with_name("LibraryEvents.sol").read_text()}
    standard = standard_input(sources, **given)
    libraries = {"a.sol": {"Inner": explorer.verified(standard, version, "a.sol:Inner")}}
    linked = standard_input(sources, libraries=libraries, **given)
    # Alone runs a library that declares another form of the event, and no function that emits it.
    user, alone = (
        explorer.verified(linked, version, f"a.sol:{name}") for name in ("User", "Alone")
    )
    right, wrong = [FROM, TO, "3"], [TO, FROM, "3"]
    for function in ("one()", "two()"):
        _, [log] = log_of(explorer, user, function)
        alternatives = sorted(map(values_of, log["event"]["alternatives"]))
        assert alternatives == [right, wrong] and log["event"]["source"] == "verified"
    _, [log] = log_of(explorer, alone, "two()")
    assert values_of(log["event"]["arguments"]) == right and "alternatives" not in log["event"]


@pytest.mark.parametrize("version", [pytest.param("0.4.11", marks=pytest.mark.thorough), "0.5.16"])
def test_bytes_without_padding_are_decoded(explorer, version):
    note = Path(__file__).with_name("Note.sol").read_text()
    is_newer = version >= "0.5"
    text = note.replace("EMIT", "emit" * is_newer).replace(" memory_", " memory" * is_newer)
    address = explorer.verified(standard_input({"Note.sol": text}), version, "Note.sol:Note")

    def values(data, **fields):
        logs = explorer.transact(address, data, gas=1_000_000, **fields)["logs"]
        return [values_of(log["event"]["arguments"]) for log in logs]

    words = [f"0x{n:064x}" for n in (5, 6)]
    data = f"0x{keccak(text='poke(uint256,uint256)')[:4].hex()}{5:064x}{6:064x}"
    assert values(data, value=9) == [[data[:10], explorer.me.lower(), *words, "9", data]]
    data = f"0x{keccak(text='both(bytes)')[:4].hex()}{32:064x}{1:064x}ab{'00' * 31}"
    assert values(data) == [[data, "7", "0xab"], ["0xab", "8", data]]


def test_the_code_that_ran_decides(explorer):
    """A trace knows it; without one, all that the emitter's code may mean is shown."""

    delegated = Path(__file__).with_name("Delegated.sol").read_text()

    def verified(name, arguments="", **libraries):
        path = "Delegated.sol"
        standard = standard_input({path: delegated}, libraries={path: libraries})
        return explorer.verified(standard, "0.8.28", f"{path}:{name}", arguments)

    one, two, logic = verified("One"), verified("Two"), verified("Logic")
    proxy = verified("Proxy", logic[2:].rjust(64, "0"))
    right = [FROM, TO, "3"]
    for address in (verified("User", One=one, Two=two), proxy):
        sent, [log] = log_of(explorer, address, "run()")
        event = log["event"]
        assert right in map(values_of, [*event.get("alternatives", ()), event["arguments"]])
        assert TO not in values_of(event["arguments"])[:1]
        [traced] = [log["event"] for frame in explorer.frames(sent) for log in frame["logs"]]
        assert values_of(traced["arguments"]) == right and "alternatives" not in traced


AGENTS_INPUT = standard_input({"a.sol": Path(__file__).with_name("Agents.sol").read_text()})


def test_code_that_runs_for_what_is_no_proxy_is_named_by_the_trace(explorer):
    """Of an agent that nobody has verified, through another one, and beside its own events."""
    spell, several = (
        explorer.verified(AGENTS_INPUT, "0.8.28", f"a.sol:{name}") for name in ("Spell", "Several")
    )
    code = compiled("0.8.28", AGENTS_INPUT, "a.sol", "Agent").creation
    agent, outer = explorer.deploy(code), explorer.deploy(code)
    act, execute = encoded_call("act(uint256)", 7), "execute(address,bytes)"
    many = encoded_call("many(address[],bytes[])", [spell] * 2, [act] * 2)
    inner, ran = encoded_call(execute, spell, act), ["7", "cast"]
    for address, call, expected in (
        (agent, inner, [ran]),
        (outer, encoded_call(execute, agent, inner), [ran]),
        (several, many, [["2"], ran, ran]),
    ):
        record = explorer.transact(address, f"0x{call.hex()}", gas=1_000_000)
        events = [log["event"] for log in record["logs"]]
        assert [values_of(event["arguments"]) for event in events] == expected
        assert "logs.event" in record["unproven"]
        listed = explorer.get(f"/api/v1/logs?address={address}&orderBy=asc")["logs"]
        assert [log["event"] for log in listed] == events
        others = explorer.get(f"/api/v2/addresses/{address}/logs")["items"]
        names = {other["decoded"]["method_call"].partition("(")[0] for other in others}
        assert names == {event["name"] for event in events}


def test_functions_without_a_name_are_named(explorer):
    taker, older = (
        explorer.verified(AGENTS_INPUT, "0.8.28", f"a.sol:{name}") for name in ("Taker", "Older")
    )
    for address, call, name in (
        (taker, "0xdeadbeef01", "fallback"),
        (taker, "0x01", "fallback"),
        (taker, "0x", "receive"),
        (older, "0x", "fallback"),
    ):
        record = explorer.transact(address, call, gas=1_000_000, value=5)
        method, [frame] = record["method"], explorer.frames(record["hash"])
        assert (method["signature"], method["arguments"]) == (f"{name}()", [])
        assert frame["function"]["signature"] == f"{name}()"


def test_the_abi_that_the_operator_gives_of_a_followed_contract_decodes(explorer):
    """Of one that is not verified, in every door, from then on; another one at once, too."""
    source = """contract Given {
        event Odd(uint256 indexed a, string b);
        function go() external { emit Odd(7, "x"); }
    }"""
    output = compiled("0.8.28", standard_input({"g.sol": source}), "g.sol", "Given")
    address = explorer.deploy(output.creation)
    sent = explorer.send(address, f"0x{encoded_call('go()').hex()}", gas=200_000)
    path = f"/api/v1/transactions/{sent}"
    assert [log["event"] for log in explorer.get(path)["logs"]] == [None]
    [given] = [entry for entry in output.abi if entry["type"] == "event"]
    renamed = {**given, "inputs": [{**i, "name": i["name"] * 2} for i in given["inputs"]]}
    connection, followed = following(explorer.settings.database_url)
    with connection:
        for entry, names in ((given, ["a", "b"]), (renamed, ["aa", "bb"])):
            followed.add(bytes.fromhex(address[2:]), "given", json.dumps([entry]))
            followed.make_views()

            def named(names=names):
                event = explorer.get(path)["logs"][0]["event"]
                return event and [argument["name"] for argument in event["arguments"]] == names

            wait_until(named)
        [event], [candidates], [other], page = events_of(explorer, address, "go()")
        followed.remove(bytes.fromhex(address[2:]))
    assert (event["source"], values_of(event["arguments"])) == ("followed", ["7", "x"])
    assert candidates[0]["source"] == "followed" and other["decoded"]["parameters"]
    assert "that the operator gave" in page
