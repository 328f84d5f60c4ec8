"""The variables in the slots that a transaction changed, beside the contract's own getters."""

import json

import pytest
from eth_utils import keccak

from scan.extensions.explanations.storage import mapping_keys
from scan.extensions.explanations.tests.storage.conftest import KEPT, PATH, deploy
from tests.support import expected, faulty_node
from tests.support.anvil import calldata
from tests.support.explorer import behind


@pytest.fixture
def kept(kept):
    """A test's own, in which nothing is written yet, with the code of the verified one."""
    return deploy(kept.explorer, {PATH: KEPT}, PATH, "Kept", is_verified=False)


def test_changed_variables_have_their_names_as_expected(kept):
    who, long = "0x" + 18 * "5e" + "0abc", "ä" * 40
    names = {"WHO": who, "sender": kept.sender.lower(), "Kept": kept.address}
    calls = {
        "set": ("set(address,uint256)", who, 1234),
        "flip": ("flip()",),
        "nested": ("nested(uint256,bytes32,address)", 77, b"\x11" * 32, who),
        "named": ("named(string,uint256)", "naïve", 9),
        "marked": ("marked(bytes4,int64)", bytes.fromhex("deadbeef"), -9),
        "computed": ("computed(uint256)", 7),
        "hold": ("hold(uint256,address,uint128,string)", 3, who, 55, "a note"),
        "first offer": ("offer(address,uint128,string)", who, 56, "b" * 40),
        "second offer": ("offer(address,uint128,string)", who, 56, "b" * 40),
        "a short text": ("write(string,bytes)", "short", b""),
        "a long text": ("write(string,bytes)", long, b"\x01" * 31),
        # A part of it does not change, so that the changes alone do not say what it is.
        "a text that is long in part": ("write(string,bytes)", long[:16] + "b" * 58, b"\x01" * 32),
    }
    for name, (signature, *values) in calls.items():
        data = calldata(signature, *values)
        names[name] = kept.explorer.send(kept.address, data, gas=5_000_000)
    expected.compare(__file__, kept.explorer.client, names)
    assert kept.values(variable="total")["total"] == kept.read("total")
    for path, getter in (
        ("huge[999999999999]", ("huge", 999999999999)),
        (f"allowances[{kept.sender.lower()}][{who}]", ("allowances", kept.sender, who)),
        (f"holders[3].shares[{who}]", ("sharesOf", 3, who)),
    ):
        assert kept.values(variable=path)[path] == kept.read(*getter)


@pytest.mark.parametrize(
    "answer", [None, '["0xzz"]', "[1]", "{}", '"x"', json.dumps(["0x" + 700 * "00"])]
)
def test_without_a_tracer_or_of_a_node_that_lies_such_keys_are_not_known(kept, answer):
    number = int.from_bytes(keccak(text=str(answer))[:4])  # another one of each answer
    sent = kept.explorer.send(kept.address, calldata("computed(uint256)", number), gas=500_000)

    def is_tracer(call):
        return mapping_keys.TRACER in call["params"]

    lie = faulty_node.replacing(is_tracer, answer and json.loads(answer))
    fault = faulty_node.refuse(is_tracer) if answer is None else lie
    with behind(kept.explorer.settings, fault) as (client, _):
        answered = client.get(f"/api/v1/transactions/{sent}/state-changes")
    assert answered.status_code == 200
    [account] = [a for a in answered.json["accounts"] if a["address"] == kept.address]
    assert [slot["variables"] for slot in account["storage"]] == [[], [], []]


def test_slots_of_unverified_contracts_have_no_names(kept):
    runtime = "0x5f3560015500"  # stores the first word of its input in slot 1
    account = kept.account("x()", to=kept.explorer.place(runtime))
    assert [slot["variables"] for slot in account["storage"]] == [[]]
    assert account["layouts"] == []
