"""Calls of console.log, beside what Hardhat prints of the same data."""

import itertools
import random
from pathlib import Path

import pytest
from eth_abi import encode

from scan.extensions.explanations.transactions import console_logs
from scan.extensions.traces.transaction_traces import TraceFrame, TransactionTrace
from tests.support import solidity
from tests.support.anvil import calldata, encoded_call
from tests.support.explorer import compiled, standard_input


def frame_of(data, **fields):
    """A call of console.log with this data."""
    call = {"to_address": console_logs.ADDRESS, "input": data, "input_size": len(data)}
    call |= {"type": "STATICCALL", "value": 0, **fields}
    return TraceFrame(**{**dict.fromkeys(TraceFrame._fields), "trace_address": (), **call})


def texts_of(calls):
    return [console_logs.text_of(frame_of(data)) for data in calls]


@pytest.mark.check
def test_every_function_says_what_hardhat_prints():
    values = {"uint256": 2**255, "string": "%s-%d%%", "bool": True, "address": "0x" + 20 * "aB"}
    calls = [encoded_call(f"log(bytes{size})", bytes(range(size))) for size in range(1, 33)]
    calls += [encoded_call("log(int256)", -5), encoded_call("log(bytes)", b"\1\2")]
    for count in range(5):
        for types in itertools.product(values, repeat=count):
            arguments = [values[type_] for type_ in types]
            calls.append(encoded_call(f"log({','.join(types)})", *arguments))
    assert len(calls) == 34 + sum(4**count for count in range(5))
    printed = solidity.node_script("console_log.mjs", stdin=[data.hex() for data in calls])
    assert texts_of(calls) == printed


@pytest.mark.check
def test_formats_are_those_of_hardhat():
    drawn = random.Random(7)
    pieces = ["%s", "%d", "%i", "%o", "%x", "%%", "%", "%j", "%c", "a'b", 'c"', "`${", "\n", "é"]
    calls = [
        encoded_call(
            "log(string,string,uint256,address)",
            "".join(drawn.choices(pieces, k=drawn.randrange(7))),
            "".join(drawn.choices(pieces, k=drawn.randrange(5))),
            drawn.getrandbits(256),
            "0x" + 20 * "7f",
        )
        for _ in range(300)
    ]
    printed = solidity.node_script("console_log.mjs", stdin=[data.hex() for data in calls])
    assert texts_of(calls) == printed


@pytest.mark.check
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\1\2\3\4",
        encoded_call("log(string)", "x")[:40],
        encoded_call("log(string)", "x")[:4] + b"\xff" * 64,
        encoded_call("log(string)", "x")[:4] + encode(["uint256"] * 3, [32, 2**255, 0]),
        encoded_call("log(bool)", True)[:4] + encode(["uint256"], [2]),
    ],
)
def test_data_that_is_no_text_says_nothing(data):
    assert texts_of([data]) == [None]


@pytest.mark.check
def test_text_that_is_not_utf_8_is_read_and_formats_without_values_stay():
    malformed = encoded_call("log(bytes)", b"\xff\xed\xa0\x80 ok")
    as_text = encoded_call("log(string)", "")[:4] + malformed[4:]
    assert texts_of([as_text]) == ["\ufffd\ufffd\ufffd\ufffd ok"]
    assert texts_of([encoded_call("log(string)", "%s %o %%")]) == ["%s %o %%"]
    assert texts_of([encoded_call("log(string,string)", "%d %s", "%s<b>")]) == ["%s<b> %s"]


@pytest.mark.check
@pytest.mark.parametrize("fields", [{"type": "DELEGATECALL"}, {"type": "CALL", "value": 1}])
def test_a_call_that_does_more_than_to_say_something_is_none(fields):
    assert console_logs.text_of(frame_of(encoded_call("log(string)", "x"), **fields)) is None


@pytest.mark.check
def test_the_texts_of_a_transaction_are_bounded_together():
    count = console_logs.MAX_ALL_CHARACTERS // 1_000
    frames = [frame_of(encoded_call("log(string)", "x" * 1_000))] * (count + 1)
    assert not console_logs.printed(TransactionTrace(frames[1:], count, False, None)).is_truncated
    lines, is_truncated = console_logs.printed(TransactionTrace(frames, count + 1, False, None))
    assert (len(lines), is_truncated) == (count, True)


@pytest.mark.check
def test_a_long_text_is_cut():
    """And a call's values may share their bytes, which are decoded up to a bound."""
    [text] = texts_of([encoded_call("log(string)", "x" * 60_000)])
    assert text == "x" * console_logs.MAX_CHARACTERS + "…"
    head = encode(["uint256"] * 4, [128] * 4) + encode(["uint256"], [60_000]) + bytes(60_000)
    selector = encoded_call("log(string,string,string,string)", *4 * [""])[:4]
    assert texts_of([selector + head]) == [None]


def test_a_transaction_says_what_it_logged(world):
    """In a library, before a failure and in a constructor: in trace, call tree and reason."""
    source = Path(__file__).with_name("ConsoleVault.sol").read_text()
    console = solidity.NODE / "node_modules" / "hardhat" / "console.sol"
    sources = {"Vault.sol": source, "hardhat/console.sol": console.read_text()}
    code = compiled("0.8.28", standard_input(sources), "Vault.sol", "Vault").creation
    anvil = world.anvil
    made = anvil.send(world.me, None, data=f"0x{code.removeprefix('0x')}", gas=3_000_000)
    vault = anvil.receipt_of(made)["contractAddress"]
    failed = anvil.send(world.me, vault, data=calldata("take(uint256)", 7))
    anvil.mine()
    world.read()
    # Of a chain that is none for development.
    assert "taking 7 true" not in world.get(f"/tx/{failed}")
    world.serve(development_node="auto")
    logs = world.get(f"/api/v1/transactions/{failed}/trace")["logs"]
    assert [line["text"] for line in logs] == ["rate of 7", "taking 7 true", "<b>\0 7"]
    assert [line["traceAddress"] for line in logs] == [[0], [1], [2]]
    page = world.get(f"/tx/{failed}")
    assert page.index("rate of 7") < page.index("taking 7 true") < page.index('id="reason"')
    assert "<b>" not in page and "&lt;b&gt;" in page
    assert "taking 7 true" in world.get(f"/tx/{failed}?tab=calls").partition('class="tree"')[2]
    [line] = world.get(f"/api/v1/transactions/{made}/trace")["logs"]
    assert line["text"] == f"made by {world.me.lower()}"
