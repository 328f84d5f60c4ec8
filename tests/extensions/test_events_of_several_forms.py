"""Logs that several declarations of an event fit: one where the values or the code that ran say
which, else all of them, in every door. Bytes that old compilers do not pad."""

import pytest
from eth_utils import keccak

from tests.support.explorer import compiled, standard_input


def post(explorer, path, **body):
    answer = explorer.client.post(f"/api/v1{path}", json=body)
    assert answer.status_code == 200, (body, answer.json)
    return answer.json


EQUAL_TOPICS = """
library L1 { event Moved(address indexed from, address to, uint256 indexed id); }
library L2 { event Moved(address from, address indexed to, uint256 indexed id); }
library L3 { event Moved(address from, address to, uint256 id); }
contract Mixed {
    event Pay(address indexed who, uint256 value);
    function one() external { emit L1.Moved(address(1), address(2), 3); }
    function two() external { emit L2.Moved(address(1), address(2), 3); }
    function three() external { emit L3.Moved(address(1), address(2), 3); }
    function pay() external { emit L.Pay(address(1), 2**200); emit Text.E("a", "b"); }
}
library L { event Pay(address who, uint256 indexed value); }
library Text { event E(bytes a, bytes indexed b); }
contract Own is Mixed { event E(bytes indexed a, bytes b); }
"""
FROM, TO = f"0x{1:040x}", f"0x{2:040x}"


def events_of(explorer, address, text):
    """The events of a transaction in every door that shows them."""
    data = "0x" + keccak(text=text)[:4].hex()
    sent = explorer.send(address, data, gas=1_000_000)
    details = explorer.client.get(f"/api/v1/transactions/{sent}").json["logs"]
    query = f"?address={address}&limit={len(details)}"
    listed = explorer.client.get(f"/api/v1/logs{query}").json["logs"][::-1]
    trace = explorer.client.get(f"/api/v1/transactions/{sent}/trace").json["frames"]
    decodings = [
        post(explorer, "/decode", data=log["data"], topics=log["topics"], address=address)
        for log in details
    ]
    others = explorer.client.get(f"/api/v2/transactions/{sent}/logs").json
    assert "items" in others, others
    others = others["items"]
    page = explorer.client.get(f"/tx/{sent}?tab=events").text
    assert explorer.client.get(f"/address/{address}?tab=events").status_code == 200
    events = [log["event"] for log in details]
    assert [log["event"] for log in listed] == events
    assert [log["event"] for frame in trace for log in frame["logs"]] == events
    return events, [decoding["candidates"] for decoding in decodings], others, page


def values_of(arguments):
    return [argument["value"] for argument in arguments]


def test_an_event_with_other_indexed_arguments_is_no_guess(explorer):
    standard = standard_input({"Mixed.sol": EQUAL_TOPICS})
    contract = compiled("0.8.28", standard, "Mixed.sol", "Own")
    address = explorer.deploy(contract.creation)
    answer = explorer.verify(address, standard, "0.8.28", contractName="Mixed.sol:Own")
    assert answer.status_code == 200, answer.json
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


NOTE = """
contract Note {
    event LogNote(bytes4 indexed sig, address indexed guy, bytes32 indexed foo,
        bytes32 indexed bar, uint wad, bytes fax) anonymous;
    event Both(bytes first, uint256 number, bytes second) anonymous;
    modifier note {
        bytes32 foo; bytes32 bar;
        assembly { foo := calldataload(4) bar := calldataload(36) }
        EMIT LogNote(msg.sig, msg.sender, foo, bar, msg.value, msg.data);
        _;
    }
    function poke(uint256 a, uint256 b) public payable note { }
    function both(bytes memory_ x) public { EMIT Both(msg.data, 7, x); EMIT Both(x, 8, msg.data); }
}
"""


@pytest.mark.parametrize("version", ["0.4.11", "0.4.26", "0.5.16"])
def test_bytes_without_padding_are_decoded(explorer, version):
    newer = version >= "0.5"
    text = NOTE.replace("EMIT", "" if version < "0.4.21" else "emit")
    text = text.replace(" memory_", " memory" if newer else "")
    contract = compiled(version, standard_input({"Note.sol": text}), "Note.sol", "Note")
    address = explorer.deploy(contract.creation)
    answer = explorer.verify(address, text, version, contractName="Note", optimizationUsed=0)
    assert answer.status_code == 200, answer.json
    data = f"0x{keccak(text='poke(uint256,uint256)')[:4].hex()}{5:064x}{6:064x}"
    sent = explorer.send(address, data, gas=1_000_000, value=9)
    event = explorer.client.get(f"/api/v1/transactions/{sent}").json["logs"][0]["event"]
    caller = explorer.anvil.accounts[0].lower()
    words = [f"0x{n:064x}" for n in (5, 6)]
    assert values_of(event["arguments"]) == [data[:10], caller, *words, "9", data]
    data = f"0x{keccak(text='both(bytes)')[:4].hex()}{32:064x}{1:064x}ab{'00' * 31}"
    sent = explorer.send(address, data, gas=1_000_000)
    logs = explorer.client.get(f"/api/v1/transactions/{sent}").json["logs"]
    shown = [values_of(log["event"]["arguments"]) for log in logs]
    assert shown == [[data, "7", "0xab"], ["0xab", "8", data]]


DELEGATED = """
event Moved(address indexed from, address to, uint256 indexed id);
library One { function move() public { emit Moved(address(1), address(2), 3); } }
library Two {
    event Moved(address from, address indexed to, uint256 indexed id);
    function move() public { emit Two.Moved(address(1), address(2), 3); }
}
contract User { function run() external { Two.move(); } function other() external { One.move(); } }
contract Logic {
    event Moved(address from, address indexed to, uint256 indexed id);
    function run() external { emit Moved(address(1), address(2), 3); }
}
contract Proxy {
    event Moved(address indexed from, address to, uint256 indexed id);
    constructor(address logic) {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, logic)
        }
    }
    fallback() external {
        assembly {
            let logic := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            if iszero(delegatecall(gas(), logic, 0, calldatasize(), 0, 0)) { revert(0, 0) }
        }
    }
}
"""


def test_the_code_that_ran_decides(explorer):
    """A trace knows it; without one, all that the emitter's code may mean is shown."""

    def verified(name, arguments="", **libraries):
        path = "Delegated.sol"
        standard = standard_input({path: DELEGATED}, libraries={path: libraries})
        contract = compiled("0.8.28", standard, path, name)
        address = explorer.deploy(contract.creation, arguments)
        answer = explorer.verify(address, standard, "0.8.28", contractName=f"{path}:{name}")
        assert answer.status_code == 200, answer.json
        return address

    one, two, logic = verified("One"), verified("Two"), verified("Logic")
    proxy = verified("Proxy", logic[2:].rjust(64, "0"))
    right = [FROM, TO, "3"]
    for address in (verified("User", One=one, Two=two), proxy):
        sent = explorer.send(address, "0x" + keccak(text="run()")[:4].hex(), gas=1_000_000)
        [log] = explorer.client.get(f"/api/v1/transactions/{sent}").json["logs"]
        [listed] = explorer.client.get(f"/api/v1/logs?address={address}").json["logs"]
        for event in (log["event"], listed["event"]):
            assert right in map(values_of, [*event.get("alternatives", ()), event["arguments"]])
            assert TO not in values_of(event["arguments"])[:1]
        frames = explorer.client.get(f"/api/v1/transactions/{sent}/trace").json["frames"]
        [traced] = [log["event"] for frame in frames for log in frame["logs"]]
        assert values_of(traced["arguments"]) == right and "alternatives" not in traced
