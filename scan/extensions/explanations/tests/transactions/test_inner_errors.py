"""Errors in the bytes of errors, events and results: why a call inside failed, passed on."""

import re
from collections import namedtuple
from pathlib import Path

import pytest

from tests.support.anvil import calldata, encoded_call
from tests.support.entry_points import EntryPoint
from tests.support.explorer import standard_input
from tests.support.many_functions import VERSION

SOURCE = Path(__file__).with_name("Wrapped.sol").read_text()
IDENTITY = f"0x{4:040x}"  # the precompiled contract that returns what it gets


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


def test_an_error_in_the_bytes_of_another_is_decoded(wrapping):
    own = wrapping.wrapper.lower()
    record, frames = wrapping.call("wrapped(address,bytes)", wrapping.target, pay(2))
    for error in (record["error"], frames[0]["error"]):
        index, reason = error["arguments"]
        assert (index["value"], reason["type"], "errors" in index) == ("1", "bytes", False)
        [inner] = reason["errors"]
        assert (inner["place"], inner["signature"]) == ("", "TooLow(uint256,address)")
        assert [argument["value"] for argument in inner["arguments"]] == ["5", own]
        assert inner["source"] == "verified"
        expected = f"Failed(index=1, reason=TooLow(least=5, who={own}))"
        assert error["reason"] == f"The call reverted: {expected}"
    page = wrapping.explorer.client.get(f"/tx/{record['hash']}").text
    assert f"TooLow(5, {own})" in page
    [sentence] = re.findall(r'<p class="sentence">(.*?)</p>', page)
    assert re.fullmatch(r"Failed: Failed: TooLow at [A-Z]\w+\.sol:\d+", sentence)


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        ("say()", (), "not now"),
        ("overflow(uint8)", (7,), "panic 0x11 (arithmetic overflow or underflow)"),
    ],
)
def test_errors_that_were_passed_on_twice(wrapping, function, arguments, words):
    data = encoded_call(function, *arguments)
    record, _ = wrapping.call("twice(address,bytes)", wrapping.target, data)
    assert record["error"]["name"] == "Outer"
    assert record["error"]["reason"].endswith(f"Outer(inner=Failed(index=1, reason={words}))")
    [outer] = record["error"]["arguments"][0]["errors"]
    [inner] = outer["arguments"][1]["errors"]
    assert (outer["name"], inner["source"]) == ("Failed", "standard")


def test_errors_in_lists_of_errors_and_in_texts_are_decoded(wrapping):
    record, _ = wrapping.call("several(address,bytes)", wrapping.target, pay(2))
    [results] = record["error"]["arguments"]
    [inner] = results["errors"]
    assert (inner["place"], inner["name"]) == ("[1].returnData", "TooLow")
    own = wrapping.wrapper.lower()
    words = f"Several(results[1].returnData=TooLow(least=5, who={own}))"
    assert record["error"]["reason"] == f"The call reverted: {words}"
    expected = {pay(2): f"TooLow(least=5, who={own})", encoded_call("say()"): "not now"}
    for data, words in expected.items():
        record, _ = wrapping.call("asText(address,bytes)", wrapping.target, data)
        assert (record["error"]["name"], record["error"]["kind"]) == ("Error", "error")
        assert record["error"]["reason"] == f"The call reverted: {words}"
    nested = encoded_call("asText(address,bytes)", wrapping.target, pay(2))
    record, _ = wrapping.call("asText(address,bytes)", own, nested)
    assert record["error"]["reason"] == f"The call reverted: TooLow(least=5, who={own})"


def test_an_event_whose_name_alone_speaks_of_a_failure_has_the_error(wrapping):
    record, _ = wrapping.call("hooked(address,bytes)", wrapping.target, pay(1))
    [reason] = record["logs"][0]["event"]["arguments"]
    assert [error["name"] for error in reason["errors"]] == ["TooLow"]


def test_bytes_that_are_no_known_error_stay_bytes(wrapping):
    """Neither another selector, nor the right one before what it does not encode."""
    known = encoded_call("TooLow(uint256,address)", 5, wrapping.target)
    wrong = known[:-32] + b"\xff" * 32
    for data in (known[:4], b"\1\2\3\4" + known[4:], wrong, known + bytes(1)):
        record, _ = wrapping.call("logged(address,bytes)", IDENTITY, data)
        [_, reason] = record["logs"][0]["event"]["arguments"]
        assert reason["value"] == "0x" + data.hex() and "errors" not in reason


def test_events_and_results_have_the_errors_that_calls_returned(wrapping):
    record, frames = wrapping.call("logged(address,bytes)", wrapping.target, pay(1))
    for log in (record["logs"][0], frames[0]["logs"][0]):
        [inner] = log["event"]["arguments"][1]["errors"]
        assert inner["name"] == "TooLow"
    page = wrapping.explorer.client.get(f"/tx/{record['hash']}?tab=events").text
    assert "TooLow(" in page
    _, frames = wrapping.call("all(address,bytes[])", wrapping.target, [pay(9), pay(3)])
    [results] = frames[0]["result"]
    assert [result["success"] for result in results["value"]] == [True, False]
    [inner] = results["errors"]
    assert (inner["place"], inner["name"]) == ("[1].returnData", "TooLow")


LOW = "TooLow(least=5, who={own})"
WHY = "A call inside of it failed: "
WRAPPED = "WrappedError(target={target}, selector={selector}, reason=%s, details=0x)"
# By the functions that call each other, the outermost first, the reason that is told.
HIDDEN = {
    "aggregate": f"Multicall3: call failed. {WHY}{LOW}.",
    "stf": f"STF. {WHY}{LOW}.",
    "hidden": f"Hidden(who={{target}}). {WHY}{LOW}.",
    "stf bare": f"STF. {WHY}{LOW}.",
    "stf bare bare": f"STF. {WHY}{LOW}.",
    "stf aggregate": f"STF. {WHY}Multicall3: call failed. {WHY}{LOW}.",
    "stf wraps": f"STF. {WHY}{WRAPPED % LOW}.",
    "stf asText": f"STF. {WHY}{LOW}.",
    "asText asText": LOW,
    "around": f"nö: {LOW} (!)",
    "around asText": f"nö: {LOW} (!)",
    "wraps around": WRAPPED % f"nö: {LOW} (!)",
    "later": "later",
}


@pytest.mark.parametrize("functions", HIDDEN)
def test_what_hides_the_reason_is_followed_by_it(wrapping, functions):
    own, to, data, names = wrapping.wrapper.lower(), wrapping.target.lower(), pay(4), {}
    for function in functions.split()[::-1]:
        names[function] = {"own": own, "target": to, "selector": f"0x{data[:4].hex()}"}
        to, data = own, encoded_call(f"{function}(address,bytes)", to, data)
    sent = wrapping.explorer.send(own, f"0x{data.hex()}", gas=1_000_000)
    record, _ = wrapping.record(sent)
    words = HIDDEN[functions].format(**names.get("wraps", names[functions.split()[0]]))
    assert record["error"]["reason"] == f"The call reverted: {words}"


def test_a_call_inside_that_says_nothing_is_told_in_one_sentence(wrapping):
    record, _ = wrapping.call("stf(address,bytes)", wrapping.target, b"\1\2\3\4")
    words = "STF. A call inside of it reverted without a reason."
    assert record["error"]["reason"] == f"The call reverted: {words}"
    record, _ = wrapping.call("bare(address,bytes)", wrapping.target, pay(4))
    own = wrapping.wrapper.lower()
    words = f"The call reverted without a reason. {WHY}{LOW.format(own=own)}."
    assert record["error"]["reason"] == words


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
