"""Errors in the bytes of errors, events and results: why a call inside failed, passed on."""

from pathlib import Path

import pytest

from tests.support import expected, many_functions
from tests.support.anvil import calldata, encoded_call
from tests.support.explorer import standard_input


@pytest.fixture(scope="module")
def wrapping(explorer):
    """The addresses of a contract, and of what wraps the errors of its calls."""
    source = Path(__file__).with_name("Wrapped.sol").read_text()
    standard = standard_input({"Wrapped.sol": source})
    names = "Wrapped.sol:Target", "Wrapped.sol:Wrapper"
    return [explorer.verified(standard, many_functions.VERSION, name) for name in names]


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


def test_errors_inside_are_answered_as_expected(explorer, wrapping):
    target, own = wrapping
    names = {"Wrapper": own, "Target": target}
    for name, data in calls_of(own, target).items():
        names[name] = explorer.send(own, f"0x{data.hex()}", gas=1_000_000)
    expected.compare(__file__, explorer.client, names)


def test_bytes_that_are_no_known_error_stay_bytes(explorer, wrapping):
    """Neither another selector, nor the right one before what it does not encode."""
    target, wrapper = wrapping
    identity = f"0x{4:040x}"  # the precompiled contract that returns what it gets
    known = encoded_call("TooLow(uint256,address)", 5, target)
    wrong = known[:-32] + b"\xff" * 32
    for data in (known[:4], b"\1\2\3\4" + known[4:], wrong, known + bytes(1)):
        call = calldata("logged(address,bytes)", identity, data)
        record = explorer.transact(wrapper, call, gas=1_000_000)
        [_, reason] = record["logs"][0]["event"]["arguments"]
        assert reason["value"] == "0x" + data.hex() and "errors" not in reason
