"""The variables in the slots that a transaction changed, beside the contract's own getters."""

import json

import pytest
from eth_utils import keccak

from scan.extensions.explanations.storage import mapping_keys
from scan.extensions.explanations.tests.storage.conftest import KEPT, PATH, deploy
from tests.support import faulty_node
from tests.support.anvil import calldata
from tests.support.explorer import behind

WHO = "0x" + 18 * "5e" + "0abc"
NAME = b"\x11" * 32


@pytest.fixture
def kept(kept):
    """A test's own, in which nothing is written yet, with the code of the verified one."""
    return deploy(kept.explorer, {PATH: KEPT}, PATH, "Kept", is_verified=False)


def test_variables_of_all_kinds(kept):
    changed = kept.changed("set(address,uint256)", WHO, 1234)
    after = {name: value for name, (_, value) in changed.items()}
    sender = kept.sender.lower()
    assert after == {
        "total": "1234",
        "packed.small": "7",
        "packed.flag": True,
        "packed.owner": WHO,
        "packed.below": "-5",
        "packed.mark": "0x01020304",
        "step": "Done",
        "price": "99",
        "other": WHO,
        "negative": "-1234",
        "digest": kept.read("digest"),
        **{f"few[{n}]": str(n + 1) for n in range(5)},
        "grid[2][1]": "1234",
        "many.length": "2",
        "many[0]": "11",
        "many[1]": "12",
        "list.length": "1",
        "list[0].small": "1",
        "list[0].owner": WHO,
        "list[0].below": "-1",
        "list[0].mark": "0xaabbccdd",
        "huge[999999999999]": "1234",
        f"balances[{WHO}]": "1234",
        f"allowances[{sender}][{WHO}]": "1235",
    }
    assert after["total"] == kept.read("total")
    assert after["huge[999999999999]"] == kept.read("huge", 999999999999)
    assert after[f"allowances[{sender}][{WHO}]"] == kept.read("allowances", sender, WHO)
    assert {value for name, (value, _) in changed.items() if name.startswith("few")} == {"0"}


def test_a_packed_slot_has_what_changed_in_it_alone(kept):
    kept.account("set(address,uint256)", WHO, 5)
    account = kept.account("flip()")
    [slot] = account["storage"]
    assert slot["variables"] == [
        {
            "name": "packed.flag",
            "type": "bool",
            "offset": 1,
            "size": 1,
            "before": True,
            "after": False,
        }
    ]
    assert account["layouts"] == [kept.address]


def test_keys_of_nested_mappings(kept):
    changed = kept.changed("nested(uint256,bytes32,address)", 77, NAME, WHO)
    assert changed == {f"deep[77][0x{NAME.hex()}][{WHO}]": (False, True)}


def test_keys_that_are_strings_enums_and_selectors(kept):
    changed = kept.changed("named(string,uint256)", "naïve", 9)
    assert changed == {'byName["naïve"]': ("0", "9"), "byStep[Begun]": ("0", "9")}
    changed = kept.changed("marked(bytes4,int64)", bytes.fromhex("deadbeef"), -9)
    assert changed == {"bySelector[0xdeadbeef]": ("0", "-9")}


def test_keys_that_a_contract_computes_are_those_that_it_hashed(kept):
    computed = "0x" + keccak((7).to_bytes(32)).hex()[24:]
    pair = [f"0x{7 * 10**power:040x}" for power in (20, 30)]
    names = (
        'byName["no argument"]',  # which other tests may have written before
        f"balances[{computed}]",
        f"allowances[{pair[0]}][{pair[1]}]",
    )
    changed = kept.changed("computed(uint256)", 7)
    assert {name: after for name, (_, after) in changed.items()} == dict.fromkeys(names, "7")


FALSE_KEYS = [None, '["0xzz"]', "[1]", "{}", '"x"', json.dumps(["0x" + 700 * "00"])]


@pytest.mark.parametrize("answer", FALSE_KEYS)
def test_without_a_tracer_or_of_a_node_that_lies_such_keys_are_not_known(kept, answer):
    number = int.from_bytes(keccak(text=str(answer))[:4])  # another one of each answer
    sent = kept.explorer.send(kept.address, calldata("computed(uint256)", number), gas=500_000)

    def lie(call, of_node):
        if mapping_keys.TRACER in call["params"]:
            of_node["result"] = json.loads(answer)

    refusing = faulty_node.refuse(lambda call: mapping_keys.TRACER in call["params"])
    fault = refusing if answer is None else faulty_node.altering(lie)
    with behind(kept.explorer.settings, fault) as (client, _):
        answered = client.get(f"/api/v1/transactions/{sent}/state-changes")
    assert answered.status_code == 200
    [account] = [a for a in answered.json["accounts"] if a["address"] == kept.address]
    assert [slot["variables"] for slot in account["storage"]] == [[], [], []]


def test_structs_in_mappings_and_arrays_with_mappings_of_their_own(kept):
    changed = kept.changed("hold(uint256,address,uint128,string)", 3, WHO, 55, "a note")
    shares = f"holders[3].shares[{WHO}]"
    assert changed == {
        "holders[3].amount": ("0", "55"),
        "holders[3].note": ("", "a note"),
        shares: ("0", "55"),
    }
    assert changed[shares][1] == kept.read("sharesOf", 3, WHO)
    for index in range(2):
        changed = kept.changed("offer(address,uint128,string)", WHO, 56, "b" * 40)
        assert changed[f"offers[{index}].shares[{WHO}]"] == ("0", "56")
        assert changed[f"offers[{index}].note"] == ("", "b" * 40)
        assert changed["offers.length"] == (str(index), str(index + 1))


def test_short_and_long_strings(kept):
    write = "write(string,bytes)"
    assert kept.changed(write, "short", b"") == {"text": ("", "short")}
    long = "ä" * 40
    changed = kept.changed(write, long, b"\x01" * 31)
    assert changed["text"] == ("short", long)
    assert changed["text.length"] == ("5", "80")
    assert changed["blob"] == ("0x", f"0x{'01' * 31}")
    assert changed["text[64:96]"][1] == f"0x{'ä'.encode().hex() * 8}{'00' * 16}"
    # A part of it does not change, so that the changes alone do not say what it is.
    changed = kept.changed(write, long[:16] + "b" * 58, b"\x01" * 32)
    assert changed["text"] == (None, None)
    assert "text[0:32]" not in changed
    assert changed["text[32:64]"][1] == f"0x{'62' * 32}"
    assert changed["text.length"] == ("80", "90")
    assert changed["blob.length"] == ("31", "32")


def test_slots_of_unverified_contracts_have_no_names(kept):
    runtime = "0x5f3560015500"  # stores the first word of its input in slot 1
    account = kept.account("x()", to=kept.explorer.place(runtime))
    assert [slot["variables"] for slot in account["storage"]] == [[]]
    assert account["layouts"] == []
