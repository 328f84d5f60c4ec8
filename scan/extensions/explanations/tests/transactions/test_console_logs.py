"""Calls of console.log, beside what Hardhat prints of the same data."""

import itertools
import random

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.extensions.explanations.transactions import console_logs
from scan.extensions.traces.transaction_traces import TraceFrame
from tests.support import solidity
from tests.support.anvil import Anvil, encoded_call
from tests.support.explorer import compiled, standard_input
from tests.support.indexing import Indexing

VERSION = "0.8.28"
MIXED = ("uint256", "string", "bool", "address")
VALUES = {"uint256": 2**255, "string": "%s-%d%%", "bool": True, "address": "0x" + 20 * "aB"}
CONSOLE = solidity.NODE / "node_modules" / "hardhat" / "console.sol"
SOURCE = """
pragma solidity ^0.8.0;
import "hardhat/console.sol";
library Rates {
    function rate(uint256 x) internal pure returns (uint256) {
        console.log("rate of %d", x);
        return x;
    }
}
contract Vault {
    constructor() {
        console.log("made by", msg.sender);
    }
    function take(uint256 x) external pure {
        console.log("taking", Rates.rate(x), true);
        console.log("<b>\\u0000", x);
        require(x < 5, "too much");
    }
}
"""


def frame_of(data, **fields):
    """A call of console.log with this data."""
    call = {"to_address": console_logs.ADDRESS, "input": data, "input_size": len(data), **fields}
    return TraceFrame(**{**dict.fromkeys(TraceFrame._fields), "trace_address": (), **call})


def hardhats(calls):
    """What Hardhat prints of calls of console.log."""
    return solidity.node_script("console_log.mjs", stdin=[data.hex() for data in calls])


def texts_of(calls):
    return [console_logs.text_of(frame_of(data)) for data in calls]


def all_calls():
    for count in range(5):
        for types in itertools.product(MIXED, repeat=count):
            values = [VALUES[type_] for type_ in types]
            yield encoded_call(f"log({','.join(types)})", *values)
    for size in range(1, 33):
        yield encoded_call(f"log(bytes{size})", bytes(range(size)))
    yield encoded_call("log(int256)", -5)
    yield encoded_call("log(bytes)", b"\1\2")


@pytest.mark.check
def test_every_function_says_what_hardhat_prints():
    calls = [*all_calls()]
    assert texts_of(calls) == hardhats(calls)


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
    assert texts_of(calls) == hardhats(calls)


@pytest.mark.check
def test_selectors_of_older_versions_are_known():
    values = encoded_call("log(string,uint256)", "five %d", 5)[4:]
    assert texts_of([keccak(text="log(string,uint)")[:4] + values]) == ["five 5"]
    assert texts_of([keccak(text="log(int)")[:4] + encode(["int256"], [-5])]) == ["-5"]


@pytest.mark.check
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\1\2\3\4",
        encoded_call("log(string)", "x")[:40],
        encoded_call("log(string)", "x")[:4] + b"\xff" * 64,
    ],
)
def test_data_that_is_no_text_says_nothing(data):
    assert texts_of([data]) == [None]


@pytest.mark.check
def test_a_long_text_is_cut():
    """And a call's values may share their bytes, which are decoded up to a bound."""
    [text] = texts_of([encoded_call("log(string)", "x" * 60_000)])
    assert text == "x" * console_logs.MAX_CHARACTERS + "…"
    head = encode(["uint256"] * 4, [128] * 4) + encode(["uint256"], [60_000]) + bytes(60_000)
    selector = encoded_call("log(string,string,string,string)", *4 * [""])[:4]
    assert texts_of([selector + head]) == [None]


def test_a_transaction_says_what_it_logged(database_url):
    """In a library, before a failure and in a constructor: in trace, call tree and reason."""
    sources = {"Vault.sol": SOURCE, "hardhat/console.sol": CONSOLE.read_text()}
    code = compiled(VERSION, standard_input(sources), "Vault.sol", "Vault").creation
    with Anvil() as anvil, Indexing(database_url, anvil.url) as indexing:
        one = anvil.accounts[0]
        made = anvil.send(one, None, data=f"0x{code.removeprefix('0x')}", gas=3_000_000)
        vault = anvil.receipt_of(made)["contractAddress"]
        data = "0x" + encoded_call("take(uint256)", 7).hex()
        failed = anvil.send(one, vault, data=data)
        anvil.mine()
        indexing.wait_for(anvil.head())
        client = indexing.client(development_node="auto")
        trace = client.get(f"/api/v1/transactions/{failed}/trace").json
        said = ["rate of 7", "taking 7 true", "<b>\0 7"]
        assert [line["text"] for line in trace["logs"]] == said
        assert [line["traceAddress"] for line in trace["logs"]] == [[0], [1], [2]]
        page = client.get(f"/tx/{failed}").text
        assert page.index("rate of 7") < page.index("taking 7 true") < page.index('id="reason"')
        assert "<b>" not in page and "&lt;b&gt;" in page
        tree = client.get(f"/tx/{failed}?tab=calls").text.partition('class="tree"')[2]
        assert "taking 7 true" in tree
        made_trace = client.get(f"/api/v1/transactions/{made}/trace").json
        assert [line["text"] for line in made_trace["logs"]] == [f"made by {one.lower()}"]
        plain = indexing.client()  # of a chain that is none for development
        assert "taking 7 true" not in plain.get(f"/tx/{failed}").text
