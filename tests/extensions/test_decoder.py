"""/decode and /encode: candidates and where they are from, calls inside of calls, hostile input."""

import re
from html import unescape
from pathlib import Path

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.extensions.decoder.decoded_data import MAX_BYTES, MAX_CALLS, MAX_DEPTH
from scan.extensions.decoding.tests.work import SLOT, STEPS, WORK, proxy_to, work
from scan.extensions.user_operations.tests.packed import PACKED, PACKED_FIELDS
from tests.support import expected
from tests.support.anvil import encoded_call as call
from tests.support.lists import post
from tests.support.many_functions import MANY, deploy, verified

__all__ = ["work"]
TO, OTHER, SAFE = (bytes([n]) * 20 for n in (0x11, 0x22, 0x33))
TRANSFER = call("transfer(address,uint256)", OTHER, 5)


@pytest.fixture(scope="module")
def client(explorer):
    return explorer.client


def hexed(value):
    return value if isinstance(value, str) else "0x" + value.hex()


def decoded(client, data, **fields):
    """By POST; by a link, where it has room, it has to be the same."""
    body = {"data": hexed(data), **{name: value for name, value in fields.items() if value}}
    answer = client.post("/api/v1/decode", json=body)
    assert answer.status_code == 200, answer.json
    if len(data) < 2000:
        query = {**body, "topics": ",".join(body["topics"])} if "topics" in body else body
        assert client.get("/api/v1/decode", query_string=query).json == answer.json
    return answer.json


def names(candidates):
    return [f"{one['kind']} {one['source']} {one['signature']}" for one in candidates]


def calls(answer):
    """Path, address, first candidate and value of the calls inside."""
    return [
        (one["path"], one["toAddress"], one["candidates"][0]["name"], one["value"])
        for one in answer["calls"]
    ]


def test_candidates_are_listed_with_what_they_are_from(client, explorer, work):
    call_of_work = f"work({STEPS},string)"
    own = decoded(client, WORK, address=work.worker)
    assert names(own["candidates"]) == [f"call verified {call_of_work}"]
    assert own["candidates"][0]["arguments"] == [
        {"name": "steps", "type": STEPS, "value": [{"amount": "5", "note": "five"}]},
        {"name": "note", "type": "string", "value": "note"},
    ]
    through = decoded(client, WORK, address=proxy_to(work, work.worker, SLOT))
    assert names(through["candidates"]) == [f"call implementation {call_of_work}"]
    assert names(decoded(client, WORK)["candidates"]) == [f"call verified_elsewhere {call_of_work}"]
    expected = "call standard transfer(address,uint256)"
    assert names(decoded(client, TRANSFER)["candidates"])[0] == expected
    # A selector that is also that of a signature which an operator imported.
    text = "collate_propagate_storage(bytes16)"
    alike = call(text, b"\1" * 16)
    explorer.sql("INSERT INTO signatures (selector, signature) VALUES (%s, %s)", alike[:4], text)
    expected = ["call standard burn(uint256)", f"call imported {text}"]
    assert names(decoded(client, alike)["candidates"]) == expected
    nothing = decoded(client, bytes.fromhex("01020304"))
    assert (nothing["candidates"], nothing["calls"], nothing["reason"]) == ([], [], None)


ABOUT = Path(__file__).with_name("About.sol").read_text()


def test_logs_errors_and_constructor_arguments(client, explorer, work):
    sent = work.send(work.worker, WORK)
    logs = explorer.anvil.call("eth_getTransactionReceipt", sent)["logs"]
    of_worker = [
        decoded(client, bytes.fromhex(log["data"][2:]), topics=log["topics"], address=work.worker)
        for log in logs
    ]
    shown = [(c["name"], c["source"]) for answer in of_worker for c in answer["candidates"]]
    assert shown == [("Worked", "verified"), ("Quiet", "verified")]
    moved = "Transfer(address,address,uint256)"
    topics = [keccak(text=moved), *(address.rjust(32, b"\0") for address in (TO, OTHER))]
    many = verified(explorer, MANY, "Many")
    reverted, zero = "The call reverted", "panic 0x12 (division or modulo by zero)"
    for data, fields, candidates, reason in (
        (
            encode(["uint256"], [5]),
            {"topics": [*map(hexed, topics)]},
            f"event standard {moved}",
            "",
        ),
        (
            *(call("Poor(uint256,uint256)", 5, 3), {"address": many}),
            *("error verified Poor(uint256,uint256)", f"{reverted}: Poor("),
        ),
        (
            *(call("Error(string)", "too \x1b[31m small"), {"kind": "error"}),
            *("error standard Error(string)", f"{reverted}: too "),
        ),
        (call("Panic(uint256)", 0x12), {}, "error standard Panic(uint256)", f"{reverted}: {zero}"),
        (b"", {"kind": "error"}, "", f"{reverted} without a reason."),
    ):
        answer = decoded(client, data, **fields)
        assert ", ".join(names(answer["candidates"])) == candidates
        assert (answer["reason"] or "").startswith(reason)
    about = deploy(explorer, ABOUT, "About", encode(["string", "uint256[]"], ["one", [1, 2]]).hex())
    arguments = encode(["string", "uint256[]"], ["two", [3]])
    body = {"data": hexed(arguments), "address": about, "kind": "constructor"}
    assert client.post("/api/v1/decode", json=body).status_code == 404
    assert explorer.verify(about, ABOUT, "0.8.28", contractName="About").status_code == 200
    [constructor] = client.post("/api/v1/decode", json=body).json["candidates"]
    assert constructor["signature"] == "constructor(string,uint256[])"
    assert [argument["value"] for argument in constructor["arguments"]] == ["two", ["3"]]


def multi_send(*transactions):
    packed = (
        bytes([operation]) + to + value.to_bytes(32) + len(data).to_bytes(32) + data
        for operation, to, value, data in transactions
    )
    return call("multiSend(bytes)", b"".join(packed))


APPROVE = call("approve(address,uint256)", OTHER, 7)


def test_calls_inside_of_calls_are_unfolded(client, work):
    to, other, safe = map(hexed, (TO, OTHER, SAFE))
    own = decoded(client, call("multicall(bytes[])", [TRANSFER, APPROVE]), address=to)
    assert calls(own) == [([0], to, "transfer", "0"), ([1], to, "approve", "0")]
    three = call(
        "aggregate3Value((address,bool,uint256,bytes)[])",
        [(TO, True, 3, TRANSFER), (bytes.fromhex(work.worker[2:]), False, 0, WORK)],
    )
    batch = multi_send((0, OTHER, 4, APPROVE), (1, TO, 0, three))
    types = "address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes"
    values = (SAFE, 9, batch, 1, 0, 0, 0, bytes(20), bytes(20), b"")
    answer = decoded(client, call(f"execTransaction({types})", *values))
    assert calls(answer) == [
        ([0], safe, "multiSend", "9"),
        ([0, 0], other, "approve", "4"),
        ([0, 1], to, "aggregate3Value", "0"),
        ([0, 1, 0], to, "transfer", "3"),
        ([0, 1, 1], work.worker, "work", "0"),
    ]
    assert [nested["delegated"] for nested in answer["calls"]] == [True, False, True, False, False]
    assert answer["calls"][-1]["candidates"][0]["source"] == "verified"
    execution = call("execute(address,uint256,bytes)", TO, 2, TRANSFER)
    operation = (SAFE, 0, b"", execution, *PACKED_FIELDS[4:])
    bundle = call(f"handleOps({PACKED}[],address)", [operation], OTHER)
    expected = [([0], safe, "execute", "0"), ([0, 0], to, "transfer", "2")]
    assert calls(decoded(client, bundle)) == expected
    assert calls(decoded(client, call("multiSend(bytes)", bytes(85) + b"\1"))) == []


def nested(depth):
    data = TRANSFER
    for _ in range(depth):
        data = call("multicall(bytes[])", [data])
    return data


def test_what_is_unfolded_is_bounded(client):
    whole = decoded(client, nested(MAX_DEPTH))
    assert (len(whole["calls"]), whole["incomplete"]) == (MAX_DEPTH, None)
    deep = decoded(client, nested(MAX_DEPTH + 1))
    assert len(deep["calls"]) == MAX_DEPTH and "more" in deep["incomplete"]
    wide = decoded(client, call("multicall(bytes[])", [b"\1\2\3\4"] * (MAX_CALLS + 1)))
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
    answer = client.post(
        "/api/v1/decode", json={"data": hexed(keccak(text="multicall(bytes[])")[:4] + shared)}
    )
    assert answer.status_code == 200 and len(answer.data) < 4_000_000


def test_pages_and_refusals_are_as_expected(client, work):
    expected.compare(__file__, client, {"worker": work.worker})
    answer = client.post("/api/v1/decode", json={"data": "0x" + "00" * (MAX_BYTES + 1)})
    assert (answer.status_code, answer.json["field"]) == (400, "data")


def test_hostile_data_gets_a_bounded_answer(client, work):
    garbage = keccak(text="handleOps")[:4] * (100_000 // 4)
    claims = WORK[:4] + (2**255).to_bytes(32) * 1000  # arrays of 2^255 items
    for data in (garbage, claims, WORK[:4] + (32).to_bytes(32) * 3000, TRANSFER + garbage):
        for of_contract in ({}, {"address": work.worker}):
            answer = client.post("/api/v1/decode", json={"data": hexed(data), **of_contract})
            assert answer.status_code == 200 and len(answer.data) < 1_000_000


def test_a_page_decodes_without_a_script(client, work):
    """It takes what was pasted with spaces, without 0x, or too long for a link."""
    pasted = f'"{WORK.hex()[:20]}\n {WORK.hex()[20:]}"'
    typed = {"address": f" {work.worker} ", "kind": "", "topics": ""}
    sent = client.post("/decode", data={**typed, "data": pasted})
    assert sent.status_code == 303
    shared = client.get(sent.headers["Location"]).text
    assert "verified ABI" in shared and "/api/v1/decode?data=0x" in shared
    page = client.get(f"/tx/{work.send(work.worker, WORK)}").text
    [link] = re.findall(r'href="(/decode\?data=0x[^"]+)"', page)
    assert "verified ABI" in client.get(unescape(link)).text
    long = client.post("/decode", data={"data": hexed(nested(3) + bytes(10_000))}).text
    assert "Nested calls" in long and "Too long to link to" in long


def test_calls_are_encoded_by_a_signature_or_a_verified_abi(client, work):
    function, values = "transfer(address to, uint amount)", [hexed(OTHER), "5"]
    assert post(client, "/encode", functionName=function, args=values) == {
        "to": None,
        "data": hexed(TRANSFER),
        "function": "transfer(address,uint256)",
        "selector": "0xa9059cbb",
    }
    values = [[["5", "five"]], "note"]
    answer = post(client, "/encode", functionName="work", args=values, address=work.worker)
    assert (answer["data"], answer["to"]) == (hexed(WORK), work.worker)
