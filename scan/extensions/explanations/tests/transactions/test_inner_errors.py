"""Errors in the bytes of errors, events and results: why a call inside failed, passed on."""

from collections import namedtuple
from pathlib import Path

import pytest

from tests.support import expected
from tests.support.anvil import calldata, encoded_call
from tests.support.entry_points import EntryPoint
from tests.support.explorer import standard_input
from tests.support.many_functions import VERSION

SOURCE = Path(__file__).with_name("Wrapped.sol").read_text()


class Wrapping(namedtuple("Wrapping", "explorer target wrapper payer")):
    def call(self, signature, *arguments):
        """The record of a call of the wrapper, and of its trace's first frame."""
        data = calldata(signature, *arguments)
        sent = self.explorer.send(self.wrapper, data, gas=1_000_000)
        return self.record(sent)

    def record(self, sent):
        return self.explorer.transaction(sent), self.explorer.frames(sent)


@pytest.fixture(scope="module")
def wrapping(explorer):
    standard = standard_input({"Wrapped.sol": SOURCE})
    names = ("Target", "Wrapper", "Payer")
    verified = [explorer.verified(standard, VERSION, f"Wrapped.sol:{name}") for name in names]
    return Wrapping(explorer, *verified)


def pay(amount):
    return encoded_call("pay(uint256)", amount)


# Calls of the wrapper by the functions that call each other, the outermost first.
NESTED = (
    "aggregate", "stf", "hidden", "stf bare", "stf bare bare", "stf aggregate", "stf wraps",
    "asText asText", "around", "around asText", "wraps around", "later", "bare", "said", "quoted",
    "said said", "said around", "around said", "stf said",
)  # fmt: skip


def calls_of(own, target):
    """Calls of the wrapper by names, which say what fails inside."""
    on_target = {
        "wrapped pay(2)": ("wrapped", pay(2)),
        "twice say()": ("twice", encoded_call("say()")),
        "twice overflow(7)": ("twice", encoded_call("overflow(uint8)", 7)),
        "several pay(2)": ("several", pay(2)),
        "asText pay(2)": ("asText", pay(2)),
        "asText say()": ("asText", encoded_call("say()")),
        "hooked pay(1)": ("hooked", pay(1)),
        "logged pay(1)": ("logged", pay(1)),
        "stf of no function": ("stf", b"\1\2\3\4"),
        "said overflow(7)": ("said", encoded_call("overflow(uint8)", 7)),
    }
    for name in ("say", "close", "raw"):
        for function in ("around", "said", "quoted", "wrapped"):
            on_target[f"{function} {name}()"] = (function, encoded_call(f"{name}()"))
    calls = {
        name: encoded_call(f"{function}(address,bytes)", target, data)
        for name, (function, data) in on_target.items()
    }
    calls["all pay(9), pay(3)"] = encoded_call("all(address,bytes[])", target, [pay(9), pay(3)])
    for name in NESTED:
        to, data = target, pay(4)
        for function in name.split()[::-1]:
            to, data = own, encoded_call(f"{function}(address,bytes)", to, data)
        calls[f"{name} pay(4)"] = data
    return calls


def test_errors_inside_are_answered_as_expected(wrapping):
    own, target = wrapping.wrapper.lower(), wrapping.target.lower()
    names = {"Wrapper": own, "Target": target}
    for name, data in calls_of(own, target).items():
        names[name] = wrapping.explorer.send(own, f"0x{data.hex()}", gas=1_000_000)
    expected.compare(__file__, wrapping.explorer.client, names)


def test_bytes_that_are_no_known_error_stay_bytes(wrapping):
    """Neither another selector, nor the right one before what it does not encode."""
    identity = f"0x{4:040x}"  # the precompiled contract that returns what it gets
    known = encoded_call("TooLow(uint256,address)", 5, wrapping.target)
    wrong = known[:-32] + b"\xff" * 32
    for data in (known[:4], b"\1\2\3\4" + known[4:], wrong, known + bytes(1)):
        record, _ = wrapping.call("logged(address,bytes)", identity, data)
        [_, reason] = record["logs"][0]["event"]["arguments"]
        assert reason["value"] == "0x" + data.hex() and "errors" not in reason


@pytest.mark.parametrize("version", ["0.7", "0.8"])
def test_reasons_of_user_operations(wrapping, version):
    explorer, node = wrapping.explorer, wrapping.explorer.anvil
    node.call("evm_setAutomine", True)
    try:
        point = EntryPoint(node, version)
        account = point.account(71)
        point.deposit(wrapping.payer, 10**18)
        call = point.execute(wrapping.target, "0x" + pay(1).hex())
        reverted = point.send(point.operation(account, call, 0))
        paid = point.operation(account, call, 1, paymaster=wrapping.payer)
        after = point.send(paid)
        refused = point.send((wrapping.payer, 0, b"", *paid[3:7], b"", b""))
        explorer.wait_for_block(node.head())
    finally:
        node.call("evm_setAutomine", False)

    def inner_of(sent, name, argument):
        record, _ = wrapping.record(sent)
        events = [log["event"] for log in record["logs"] if log["event"]]
        [event] = [event for event in events if event["name"] == name]
        [inner] = event["arguments"][argument]["errors"]
        return inner

    assert inner_of(reverted, "UserOperationRevertReason", 3)["name"] == "TooLow"
    post = inner_of(after, "PostOpRevertReason", 3)
    [refusal] = post["arguments"][0]["errors"]
    assert (post["name"], refusal["name"]) == ("PostOpReverted", "Refused")
    assert [argument["value"] for argument in refusal["arguments"]] == ["2"]
    record, _ = wrapping.record(refused)
    assert record["error"]["name"] == "FailedOpWithRevert"
    [inner] = record["error"]["arguments"][2]["errors"]
    assert (inner["name"], inner["arguments"][0]["value"]) == ("Refused", "1")
