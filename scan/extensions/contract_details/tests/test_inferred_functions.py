"""Functions inferred from code without a source, beside the compiler's; and hostile code."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.concurrency.turns import QUEUED_PER_CLIENT
from scan.extensions.contract_details.inferred_functions import MOST_FUNCTIONS
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import VERSION
from tests.support.serving import wait_until


def functions_of(explorer, address):
    answer = explorer.client.get(f"/api/v1/contracts/{address}/inferred-functions")
    assert answer.status_code == 200, answer.text
    assert answer.json["unproven"] == ["functions"] and answer.json["verified"] is False
    return answer.json["functions"]


def test_functions_are_those_that_the_compiler_has(explorer):
    """Their names come from a verified contract with the same ones; the code has no ABI by them."""
    source = Path(__file__).with_name("Inferred.sol").read_text()
    changed = source.replace("+ block.number", "+ block.timestamp")  # so that this is another code
    twin, other = (
        compiled(VERSION, standard_input({"L.sol": text}), "L.sol", "Ledger")
        for text in (source, changed)
    )
    expected = {}
    for entry in filter(lambda entry: entry["type"] == "function", twin.abi):
        inputs = ",".join(argument["type"] for argument in entry["inputs"])
        text = f"{entry['name']}({inputs})"
        selector = f"0x{keccak(text=text)[:4].hex()}"
        expected[selector] = (inputs, entry["stateMutability"], text)
    twin, other = explorer.deploy(twin.creation), explorer.deploy(other.creation)
    functions = functions_of(explorer, other)
    shown = {f["selector"]: (f["inputs"], f["stateMutability"]) for f in functions}
    assert shown == {selector: known[:2] for selector, known in expected.items()}
    known = [text for f in functions for text in f["candidates"]]
    assert known == ["balanceOf(address)"]  # which a standard has
    assert explorer.verify(twin, source, VERSION, optimizationUsed=0).status_code == 200
    candidates = {f["selector"]: f["candidates"] for f in functions_of(explorer, other)}
    assert candidates == {selector: [known[2]] for selector, known in expected.items()}
    assert explorer.contract(other).json.get("abi") is None
    page = explorer.get(f"/address/{other}?tab=bytecode")
    assert all(known[2] in page for known in expected.values()) and "These are guesses" in page
    assert "These are guesses" not in explorer.get(f"/address/{twin}?tab=bytecode")
    assert explorer.get(f"/api/v1/contracts/{twin}/inferred-functions")["verified"]


def selecting(count):
    """Code that compares the selector with many, each of which runs a loop without end."""
    numbers = range(0x10000000, 0x10000000 + count)
    cases = b"".join(b"\x80\x63%b\x14\x61\xfd\xe8\x57" % n.to_bytes(4) for n in numbers)
    return (b"\x5f\x35\x60\xe0\x1c" + cases).ljust(65_000, b"\x5b") + b"\x5b\x61\xfd\xe8\x56"


@pytest.mark.parametrize(
    ("code", "count"), [(selecting(2_000), MOST_FUNCTIONS), (b"\x5b" * 100, 0), (b"\xfe", 0)]
)
def test_hostile_code_has_what_can_be_inferred_in_time(explorer, code, count):
    """Which evmole alone would take 24 s for, and hold the interpreter."""
    functions = functions_of(explorer, explorer.place(code.hex()))
    assert len(functions) == count
    assert {(f["inputs"], f["stateMutability"]) for f in functions} <= {(None, None)}


@pytest.mark.thorough
def test_clients_have_their_turns_and_one_with_many_delays_no_other(explorer):
    """Whoever floods waits in a queue of its own, and is refused beyond that."""
    codes = [b"\x5b" * (200 + number) for number in range(QUEUED_PER_CLIENT + 4)]
    *addresses, of_other = [explorer.place(code.hex()) for code in codes]

    def ask(address, client):
        path = f"/api/v1/contracts/{address}/inferred-functions"
        return explorer.client.get(path, environ_overrides={"REMOTE_ADDR": client})

    with ThreadPoolExecutor(len(addresses)) as pool:
        flooding = [pool.submit(ask, address, "198.51.100.1") for address in addresses]
        wait_until(lambda: any(request.done() for request in flooding))  # the queue is full
        assert ask(of_other, "203.0.113.1").status_code == 200
        assert sum(request.done() for request in flooding) < len(flooding) / 2
        statuses = [request.result().status_code for request in flooding]
    assert 429 in statuses
