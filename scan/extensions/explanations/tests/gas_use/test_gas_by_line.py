"""The gas of lines adds up to the receipt's, whatever a transaction calls, creates or wastes."""

import json
from collections import namedtuple
from pathlib import Path
from unittest.mock import Mock

import pytest

from scan.extensions.explanations.gas_use import gas_of_calls, gas_of_steps
from scan.extensions.explanations.transactions import compiler_findings
from scan.extensions.explanations.transactions.mapped_code import STRUCT_LOGS
from scan.extensions.explanations.transactions.trace_decoding import DecodedFrame
from scan.extensions.traces.transaction_traces import TraceFrame
from tests.support import anvil, faulty_node, lists, solidity
from tests.support.explorer import behind, compiled, linked, standard_input

VERSION, PATH = "0.8.28", "src/Costly.sol"
SOURCE = Path(__file__).with_name("Spending.sol").read_text()


class Transaction(
    namedtuple(
        "Transaction", "function argument gas value refund before", defaults=(300000, 0, 0, ())
    )
):
    """A call of a function, its gas limit and value, the gas that is refunded, and the arguments of
    calls before it."""


TRANSACTIONS = [
    Transaction("write", 7),
    Transaction("write", 0, refund=4_800, before=(1,)),  # there is a value to clear
    Transaction("loop", 300),
    Transaction("loop", 1_000, gas=60_000),  # out of gas
    Transaction("delegate", 0),
    Transaction("itself", 8),
    Transaction("waste", 0),
    Transaction("waste", 0, gas=47_000),
    Transaction("create", 5),
    Transaction("create", 13),
    Transaction("hash", 5),
    Transaction("pay", 0xABCDEF, value=1),
    Transaction("pay", 4, value=1),
    Transaction("large", 100_000),
    Transaction("refuse", 9),
    Transaction("invalid", 0, gas=50_000),
]
SETTINGS = {
    "plain": {"optimizer": {"enabled": False}},
    "optimized": {"optimizer": {"enabled": True, "runs": 200}},
}


class Deployed(namedtuple("Deployed", "explorer costly creation")):
    def send(self, transaction):
        data = data_of(transaction)
        fields = {"gas": transaction.gas, "value": hex(transaction.value)}
        return self.explorer.send(self.costly, data, **fields)

    def lines(self, sent):
        return lists.get(self.explorer.client, f"/transactions/{sent}/gas/lines")

    def receipt(self, sent):
        return self.explorer.anvil.receipt_of(sent)


def data_of(transaction):
    return anvil.calldata(f"{transaction.function}(uint256)", transaction.argument)


def line_of(mark):
    return solidity.marked_line(SOURCE, f"// {mark}")


def intrinsic(data, *, is_creation=False):
    """What a transaction costs before it is executed (EIP-2028, EIP-3860)."""
    given = bytes.fromhex(data[2:])
    zeros = given.count(0)
    creation = 32_000 + 2 * ((len(given) + 31) // 32) if is_creation else 0
    return 21_000 + 4 * zeros + 16 * (len(given) - zeros) + creation


@pytest.fixture(scope="module", params=["plain", pytest.param("optimized", marks=pytest.mark.long)])
def deployed(request, explorer):
    standard = standard_input({PATH: SOURCE}, **SETTINGS[request.param], evmVersion="cancun")

    def deploy(name, library="0x", arguments=""):
        creation = linked(compiled(VERSION, standard, PATH, name).creation, library)
        verified = explorer.verified(standard, VERSION, f"{PATH}:{name}", arguments, creation)
        return verified, creation

    library, _ = deploy("Sums")
    deploy("Child", arguments=f"{1:064x}")
    costly, creation = deploy("Costly", library)
    yield Deployed(explorer, costly, f"0x{creation}")


def added(gas):
    parts = ("linesGas", "otherGas", "intrinsicGas")
    return sum(int(gas[part]) for part in parts) - int(gas["refundedGas"])


@pytest.mark.thorough
@pytest.mark.parametrize("transaction", TRANSACTIONS, ids=lambda t: f"{t.function} {t.argument}")
def test_the_parts_are_the_gas_of_the_receipt(deployed, transaction):
    for argument in transaction.before:
        deployed.send(transaction._replace(argument=argument))
    sent = deployed.send(transaction)
    gas = deployed.lines(sent)
    used = int(deployed.receipt(sent)["gasUsed"], 16)
    assert int(gas["gasUsed"]) == added(gas) == used
    assert int(gas["intrinsicGas"]) == intrinsic(data_of(transaction))
    assert int(gas["refundedGas"]) == transaction.refund
    own = [int(line["gas"]) for line in gas["lines"]]
    assert own == sorted(own, reverse=True)
    assert sum(own) == int(gas["linesGas"])
    assert all(value >= 0 for value in own) and int(gas["otherGas"]) >= 0
    assert (gas["lineCount"], gas["truncated"]) == (len(own), False)
    for line in gas["lines"]:
        assert line["source"] == SOURCE.split("\n")[line["line"] - 1].strip()


def gas_of(gas, mark):
    return sum(int(line["gas"]) for line in gas["lines"] if line["line"] == line_of(mark))


def test_lines_have_what_they_cost(deployed):
    deployed.send(Transaction("write", 1))
    first = deployed.lines(deployed.send(Transaction("write", 2)))["lines"][0]
    assert (first["line"], first["function"]) == (line_of("writes"), "write")
    assert (first["address"], first["file"]) == (deployed.costly, PATH)
    assert 5_000 <= int(first["gas"]) < 5_200  # a cold slot that is not zero
    sent = deployed.send(Transaction("loop", 300))
    looped = deployed.lines(sent)
    assert gas_of(looped, "loops") > 0.75 * int(looped["linesGas"])
    assert added(looped) == int(deployed.receipt(sent)["gasUsed"], 16)


SHORT = """pragma solidity ^0.8.20;
contract Short {
    fallback() external { assembly { sstore(0, 1) } }
}
"""


def test_lines_go_on_to_the_end_of_code_without_metadata(explorer):
    standard = standard_input({PATH: SHORT}, metadata={"appendCBOR": False}, evmVersion="cancun")
    creation = compiled(VERSION, standard, PATH, "Short").creation
    address = explorer.verified(standard, VERSION, f"{PATH}:Short", "", creation)
    sent = explorer.send(address, "0x", gas=100_000)
    gas = lists.get(explorer.client, f"/transactions/{sent}/gas/lines")
    [line] = [line for line in gas["lines"] if line["line"] == 3]
    assert int(line["gas"]) > 20_000
    assert added(gas) == int(explorer.anvil.receipt_of(sent)["gasUsed"], 16)


@pytest.mark.thorough
def test_lines_of_calls_are_apart(deployed):
    deployed.send(Transaction("write", 1))  # a slot that is zero would cost more
    gas = deployed.lines(deployed.send(Transaction("itself", 77)))
    assert 2_900 <= gas_of(gas, "writes") < 5_200
    assert gas_of(gas, "calls") < 3_000
    delegated = deployed.lines(deployed.send(Transaction("delegate", 0)))
    assert gas_of(delegated, "library") > 4_000  # two cold slots
    assert 2_600 < gas_of(delegated, "delegates") < 4_000
    [address] = {
        line["address"] for line in delegated["lines"] if line["line"] == line_of("library")
    }
    assert address != deployed.costly
    wasted = deployed.lines(deployed.send(Transaction("waste", 0)))
    assert 19_000 < gas_of(wasted, "burns") <= 20_000


@pytest.mark.thorough
def test_lines_of_creations(deployed):
    gas = deployed.lines(deployed.send(Transaction("create", 5)))
    assert gas_of(gas, "child") > 20_000
    failed = deployed.lines(deployed.send(Transaction("create", 13)))
    assert gas_of(failed, "child") == pytest.approx(gas_of(gas, "child"), abs=100)
    sent = deployed.explorer.send(None, deployed.creation, gas=1_400_000)
    whole = deployed.lines(sent)
    assert gas_of(whole, "pushes") > 40_000
    assert added(whole) == int(deployed.receipt(sent)["gasUsed"], 16)
    assert int(whole["intrinsicGas"]) == intrinsic(deployed.creation, is_creation=True)
    assert int(whole["refundedGas"]) == 0


@pytest.mark.thorough
def test_a_transaction_that_runs_no_code(deployed):
    sent = deployed.explorer.send(f"0x{'00' * 18}abcd", "0x", gas=21_000, value="0x1")
    gas = deployed.lines(sent)
    assert (gas["lines"], gas["intrinsicGas"], gas["linesGas"]) == ([], None, "0")


@pytest.mark.thorough
def test_the_tab_shows_lines_where_they_are_requested(deployed):
    sent = deployed.send(Transaction("write", 12))
    path = f"/tx/{sent}?tab=gas"
    assert f"{path}&lines=all#lines" in deployed.explorer.client.get(path).text
    page = deployed.explorer.client.get(f"{path}&lines=all").text
    at = line_of("writes")
    link = f'?tab=contract&file={PATH}#L{at}"><span class="long"><bdi>{PATH}</bdi>:{at}</span></a>'
    assert link in page and "kept = n; // writes" in page
    assert deployed.explorer.client.get(f"{path}&lines=some").status_code == 400


STEPS = Path(__file__).with_name("steps.js").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "transaction",
    [t for t in TRANSACTIONS if t.function in ("write", "loop", "delegate", "itself", "waste")],
    ids=lambda t: f"{t.function} {t.argument} {t.gas}",
)
def test_steps_stand_for_a_tracer_that_the_node_does_not_run(deployed, transaction):
    sent = deployed.send(transaction)
    expected = deployed.lines(sent)
    steps = deployed.explorer.anvil.call("debug_traceTransaction", sent, {"tracer": STEPS})

    refusing = faulty_node.refuse(runs_tracer, -32000, "TypeError: tracer not found")
    fault = faulty_node.before(refusing, faulty_node.replacing(asks_for_steps, steps))
    assert lines_behind(deployed, sent, fault).json == expected


def runs_tracer(call):
    options = [of for of in call["params"] if isinstance(of, dict)]
    return any(of.get("tracer") == gas_of_steps.TRACER["tracer"] for of in options)


def asks_for_steps(call):
    return STRUCT_LOGS in call["params"]


@pytest.mark.thorough
def test_a_source_map_is_read_once_for_all_calls(deployed, monkeypatch):
    sent = deployed.send(Transaction("itself", 78))
    steps = deployed.explorer.anvil.call("debug_traceTransaction", sent, {"tracer": STEPS})
    read = Mock(side_effect=compiler_findings.spans_at)

    monkeypatch.setattr(compiler_findings, "spans_at", read)
    fault = faulty_node.replacing(runs_tracer, steps)
    assert lines_behind(deployed, sent, fault).status_code == 200
    assert read.call_count == 1


@pytest.mark.thorough
def test_source_maps_are_read_of_the_costliest_contracts(deployed, monkeypatch):
    sent = deployed.send(Transaction("delegate", 0))
    monkeypatch.setattr(gas_of_steps, "MAX_CONTRACTS", 1)
    gas = deployed.lines(sent)
    addresses = {line["address"] for line in gas["lines"]}
    assert len(addresses) == 1 and deployed.costly not in addresses
    assert added(gas) == int(gas["gasUsed"])


def lines_behind(deployed, sent, fault):
    with behind(deployed.explorer.settings, fault) as (client, _):
        return client.get(f"/api/v1/transactions/{sent}/gas/lines")


LIES = {
    "nothing": '{"codes": {}}',
    "a list": "[]",
    "text as gas": '{"first": 1, "other": 0, "codes": {"": {"0": "x"}}}',
    "no offset": '{"first": 1, "other": 0, "codes": {"": {"x": 1}}}',
    "no address": '{"first": 1, "other": 0, "codes": {"0x12": {"0": 1}}}',
    "no place": '{"first": 1, "other": 0, "codes": {"a b": {"0": 1}}}',
    "a list of codes": '{"first": 1, "other": 0, "codes": [1]}',
    "infinite gas": '{"first": 1e999, "other": 0, "codes": {}}',
    "steps without gas": '{"structLogs": [{"depth": 1, "pc": 0, "op": "STOP"}]}',
    "steps that are none": '{"structLogs": 5}',
    "negative gas": '{"first": 9, "other": 0, "codes": {"": {"0": -7}}}',
    "negative gas of calls": '{"first": 9, "other": -1, "codes": {"": {"0": 7}}}',
    "no first gas": '{"first": -1, "other": 0, "codes": {"": {"0": 7}}}',
    "more gas than there was": '{"first": 9, "other": 3, "codes": {"": {"0": 7}}}',
    "more gas than the limit": '{"first": 9007199254740991, "other": 3, "codes": {"": {"0": 7}}}',
    "steps that gain gas": """{"structLogs": [
        {"depth": 1, "pc": 0, "op": "PUSH0", "gas": 5, "gasCost": 2},
        {"depth": 1, "pc": 1, "op": "STOP", "gas": 7, "gasCost": 0}]}""",
    "steps with negative gas": """{"structLogs": [
        {"depth": 1, "pc": 0, "op": "PUSH0", "gas": 5, "gasCost": 12},
        {"depth": 1, "pc": 1, "op": "STOP", "gas": -7, "gasCost": 0}]}""",
}


HARMLESS = {
    "offsets beyond the code": '{"first": 9, "other": 0, "codes": {"ADDRESS": {"99999": 7}}}',
    "depths that jump": """{"structLogs": [
        {"depth": 9, "pc": 0, "op": "STOP", "gas": 5, "gasCost": 0},
        {"depth": 1, "pc": 0, "op": "CALL", "gas": 3, "gasCost": 0}]}""",
    "calls that nobody made": '{"first": 9, "other": 0, "codes": {"5 6 7": {"0": 7}}}',
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*LIES, *HARMLESS])
def test_a_node_that_lies_is_an_error_or_breaks_nothing(deployed, name):
    sent, lie = deployed.send(Transaction("write", 3)), (LIES | HARMLESS)[name]
    result = json.loads(lie.replace("ADDRESS", deployed.costly))
    fault = faulty_node.replacing(lambda call: runs_tracer(call) or asks_for_steps(call), result)
    statuses = (422, 502) if name in LIES else (200,)
    assert lines_behind(deployed, sent, fault).status_code in statuses


LARGE_CODES = [
    {" ".join(["1"] * n): {"0": 1} for n in range(gas_of_steps.MAX_CODES + 1)},
    {"": {str(n): 1 for n in range(200_001)}},
    {" ".join(["1"] * 2_000): {"0": 1}},
]


@pytest.mark.check
@pytest.mark.parametrize("codes", LARGE_CODES, ids=["codes", "offsets", "path"])
def test_an_answer_is_bounded(codes):
    with pytest.raises(ValueError, match="too many"):
        gas_of_steps.read_gas({}, {"first": 1, "other": 0, "codes": codes})


@pytest.mark.check
def test_calls_of_steps_are_bounded():
    """Each of them has a path, which is as long as it is deep."""
    step = {"gas": 1, "gasCost": 1, "pc": 0, "op": "CALL"}
    for depths in (range(1, 2_000), [600 + n % 2 for n in range(5_000)]):
        with pytest.raises(ValueError, match="too many"):
            gas_of_steps.read_gas(
                {}, {"structLogs": [{**step, "depth": depth} for depth in depths]}
            )


OUTER, INNER = bytes([7]) * 20, bytes([8]) * 20
RECOVER = bytes(19) + b"\1"


def call(*path, to=INNER, gas, kind="CALL", data=b"\1\2\3\4"):
    amounts, returned = (0, None, gas), (b"", 0, None, False, None)
    frame = TraceFrame(path, kind, OUTER, to, *amounts, data, len(data), *returned)
    return DecodedFrame(frame, None, None, None, None)


def own_gas(*calls, count=None):
    known = gas_of_calls.gas_of_calls(calls, len(calls) if count is None else count)
    return [gas.own for gas in known]


@pytest.mark.check
def test_own_gas_is_without_the_calls_inside():
    calls = call(to=OUTER, gas=1000), call(0, gas=300), call(0, 0, gas=100), call(1, gas=50)
    assert own_gas(*calls) == [650, 200, 100, 50]


@pytest.mark.check
def test_own_gas_of_what_may_have_left_out_calls_inside_is_not_known():
    calls = call(to=OUTER, gas=1000), call(0, gas=300), call(0, 0, gas=100), call(1, gas=50)
    assert own_gas(*calls, count=5) == [None, 200, 100, None]


@pytest.mark.check
def test_a_failed_call_of_a_flat_trace_has_no_gas():
    calls = call(to=OUTER, gas=1000), call(0, gas=None), call(1, gas=50)
    known = gas_of_calls.gas_of_calls(calls, 3)
    assert [(gas.own, gas.total) for gas in known] == [(None, 1000), (None, None), (50, 50)]
    of_outer, of_inner = gas_of_calls.gas_by_function(known)
    assert (of_outer.own, of_outer.total, of_inner.own, of_inner.total) == (None, 1000, None, None)
    assert of_outer.record()["ownGas"] is None
    assert gas_of_calls.whole_gas(known) == 1000
    assert [box.call.total for box in gas_of_calls.boxes(known)] == [1000, 50]


@pytest.mark.check
def test_a_self_destruction_takes_none():
    calls = call(to=OUTER, gas=1000), call(0, gas=None, kind="SELFDESTRUCT")
    assert own_gas(*calls) == [1000, 0]


@pytest.mark.check
def test_a_precompiled_contract_is_one_function():
    calls = [
        call(to=OUTER, gas=1000),
        *(call(n, to=RECOVER, gas=100, data=bytes([n]) * 128) for n in range(5)),
    ]
    _, of_recover = gas_of_calls.gas_by_function(gas_of_calls.gas_of_calls(calls, 6))
    assert (of_recover.calls, of_recover.selector, of_recover.own) == (5, b"", 500)
