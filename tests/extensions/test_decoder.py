"""/decode and /encode: candidates and where they are from, calls inside of calls, hostile input."""

import re
from html import unescape
from pathlib import Path

from eth_abi import encode
from eth_utils import keccak

from scan.extensions.decoder.decoded_data import MAX_BYTES, MAX_CALLS, MAX_DEPTH
from scan.extensions.decoding.tests.work import SLOT, WORK, proxy_to, work
from scan.extensions.user_operations.tests.packed import PACKED, PACKED_FIELDS
from scan.hex import to_hex
from tests.support import expected
from tests.support.anvil import encoded_call as call
from tests.support.lists import post
from tests.support.many_functions import MANY, deploy, verified

__all__ = ["work"]
OTHER = b"\x22" * 20
TRANSFER = call("transfer(address,uint256)", OTHER, 5)


def test_logs_and_constructor_arguments(explorer, work):
    client = explorer.client
    sent = work.send(work.worker, WORK)
    shown = []
    for log in explorer.anvil.call("eth_getTransactionReceipt", sent)["logs"]:
        of_log = {"data": log["data"], "topics": log["topics"], "address": work.worker}
        shown += post(client, "/decode", **of_log)["candidates"]
    assert [(c["name"], c["source"]) for c in shown] == [
        ("Worked", "verified"),
        ("Quiet", "verified"),
    ]
    source = Path(__file__).with_name("About.sol").read_text()
    types = ["string", "uint256[]"]
    about = deploy(explorer, source, "About", encode(types, ["one", [1, 2]]).hex())
    arguments = encode(types, ["two", [3]])
    body = {"data": to_hex(arguments), "address": about, "kind": "constructor"}
    assert client.post("/api/v1/decode", json=body).status_code == 404
    assert explorer.verify(about, source, "0.8.28", contractName="About").status_code == 200
    [constructor] = client.post("/api/v1/decode", json=body).json["candidates"]
    assert constructor["signature"] == "constructor(string,uint256[])"
    assert [argument["value"] for argument in constructor["arguments"]] == ["two", ["3"]]


def nested(depth):
    data = TRANSFER
    for _ in range(depth):
        data = call("multicall(bytes[])", [data])
    return data


def test_what_is_unfolded_is_bounded(explorer):
    client = explorer.client
    whole, deep = (
        post(client, "/decode", data=to_hex(nested(MAX_DEPTH + more))) for more in range(2)
    )
    assert (len(whole["calls"]), whole["incomplete"]) == (MAX_DEPTH, None)
    assert len(deep["calls"]) == MAX_DEPTH and "more" in deep["incomplete"]
    calls = call("multicall(bytes[])", [b"\1\2\3\4"] * (MAX_CALLS + 1))
    wide = post(client, "/decode", data=to_hex(calls))
    assert len(wide["calls"]) == MAX_CALLS and "more" in wide["incomplete"]
    # Each of its items begins at the same bytes: 1,000 times 60 kB.
    items, item = 1000, TRANSFER + bytes(60_000)
    shared = (
        (32).to_bytes(32)
        + items.to_bytes(32)
        + (items * 32).to_bytes(32) * items
        + len(item).to_bytes(32)
        + item
    )
    data = to_hex(keccak(text="multicall(bytes[])")[:4] + shared)
    answer = client.post("/api/v1/decode", json={"data": data})
    assert answer.status_code == 200 and len(answer.data) < 4_000_000


def test_answers_pages_and_refusals_are_as_expected(explorer, work):
    # The selector is also that of burn(uint256); an operator imported this one.
    alike = "collate_propagate_storage(bytes16)"
    selector = keccak(text=alike)[:4]
    explorer.sql("INSERT INTO signatures (selector, signature) VALUES (%s, %s)", selector, alike)
    to, safe = (bytes([n]) * 20 for n in (0x11, 0x33))
    approve = call("approve(address,uint256)", OTHER, 7)
    three = call(
        "aggregate3Value((address,bool,uint256,bytes)[])",
        [(to, True, 3, TRANSFER), (bytes.fromhex(work.worker[2:]), False, 0, WORK)],
    )
    packed = (
        bytes([operation]) + to + value.to_bytes(32) + len(data).to_bytes(32) + data
        for operation, to, value, data in ((0, OTHER, 4, approve), (1, to, 0, three))
    )
    batch = call("multiSend(bytes)", b"".join(packed))
    types = "address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes"
    values = (safe, 9, batch, 1, 0, 0, 0, bytes(20), bytes(20), b"")
    execution = call("execute(address,uint256,bytes)", to, 2, TRANSFER)
    operation = (safe, 0, b"", execution, *PACKED_FIELDS[4:])
    data_of_calls = {
        "work": WORK,
        "transfer": TRANSFER,
        "alike": call(alike, b"\1" * 16),
        "multicall": call("multicall(bytes[])", [TRANSFER, approve]),
        "of a safe": call(f"execTransaction({types})", *values),
        "bundle": call(f"handleOps({PACKED}[],address)", [operation], OTHER),
        "cut off": call("multiSend(bytes)", bytes(85) + b"\1"),
        "poor": call("Poor(uint256,uint256)", 5, 3),
        "text": call("Error(string)", "too \x1b[31m small"),
        "panic": call("Panic(uint256)", 0x12),
        "five": encode(["uint256"], [5]),
        "moved": keccak(text="Transfer(address,address,uint256)"),
    }
    names = {"worker": work.worker, "proxy": proxy_to(work, work.worker, SLOT)}
    names |= {name: to_hex(data) for name, data in data_of_calls.items()}
    names["many"] = verified(explorer, MANY, "Many")
    expected.compare(__file__, explorer.client, names)
    body = {"data": "0x" + "00" * (MAX_BYTES + 1)}
    answer = explorer.client.post("/api/v1/decode", json=body)
    assert (answer.status_code, answer.json["field"]) == (400, "data")


def test_hostile_data_gets_a_bounded_answer(explorer, work):
    garbage = keccak(text="handleOps")[:4] * (100_000 // 4)
    claims = WORK[:4] + (2**255).to_bytes(32) * 1000  # arrays of 2^255 items
    for data in (garbage, claims, WORK[:4] + (32).to_bytes(32) * 3000, TRANSFER + garbage):
        for of_contract in ({}, {"address": work.worker}):
            body = {"data": to_hex(data), **of_contract}
            answer = explorer.client.post("/api/v1/decode", json=body)
            assert answer.status_code == 200 and len(answer.data) < 1_000_000


def test_a_page_decodes_without_a_script(explorer, work):
    """It takes what was pasted with spaces, without 0x, or too long for a link."""
    client = explorer.client
    pasted = f'"{WORK.hex()[:20]}\n {WORK.hex()[20:]}"'
    typed = {"address": f" {work.worker} ", "kind": "", "topics": ""}
    sent = client.post("/decode", data={**typed, "data": pasted})
    assert sent.status_code == 303
    shared = client.get(sent.headers["Location"]).text
    assert "verified ABI" in shared and "/api/v1/decode?data=0x" in shared
    page = client.get(f"/tx/{work.send(work.worker, WORK)}").text
    [link] = re.findall(r'href="(/decode\?data=0x[^"]+)"', page)
    assert "verified ABI" in client.get(unescape(link)).text
    long = client.post("/decode", data={"data": to_hex(nested(3) + bytes(10_000))}).text
    assert "Nested calls" in long and "Too long to link to" in long
