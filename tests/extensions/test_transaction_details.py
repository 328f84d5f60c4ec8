"""GET /transactions/:hash beside ethers: methods, events and errors of the scenario."""

import random
from collections import namedtuple

import pytest

from scan.contracts.abi_decoding import FOLDER, OF_TOKEN_TYPE, STANDARDS
from tests.support import lists, reasons, solidity
from tests.support.indexing import Indexing

pytestmark = pytest.mark.thorough

MOST = 1000


class Chain(namedtuple("Chain", "client abis node")):
    """An indexed chain, the ABIs that were stored as verified, by address, and its node."""


@pytest.fixture(scope="module")
def chain(postgres, template, scenario):
    """Half of its contracts are verified, in a database of the file's own."""
    node = scenario.anvil
    with postgres.cloned(template) as url, Indexing(url, node.url, until=node.head()) as indexing:
        abis = reasons.verify(url, [*scenario.stage.contracts.values()][::2])
        yield Chain(indexing.client(), abis, node)


def transactions_of(client):
    hashes = [row["hash"] for row in lists.pages(client, "/transactions", "transactions", 100)]
    return random.Random(1).sample(hashes, min(MOST, len(hashes)))


def by_ethers(items):
    standards = [
        (
            name,
            [
                line.replace("(address target", "tuple(address target")
                for line in (FOLDER / f"{name}.txt").read_text().splitlines()
                if not line.startswith("#")
            ],
        )
        for name in STANDARDS
    ]
    return solidity.node_script("decode.mjs", stdin={"standards": standards, "items": items})


@pytest.mark.long
def test_methods_and_events_are_those_of_ethers(chain):
    answers = [
        chain.client.get(f"/api/v1/transactions/{hash_}").json
        for hash_ in transactions_of(chain.client)
    ]
    assert {row["unavailable"] for row in answers} == {None}
    tokens = chain.client.get("/api/v1/tokens?limit=100").json["tokens"]
    types = {token["address"]: token["type"] for token in tokens}

    def abi_of(address):
        abi = chain.abis.get(address or "")
        standard = OF_TOKEN_TYPE.get(types.get(address or "", ""))
        return {"abis": [abi] if abi else [], "standard": standard}

    items = []
    for row in answers:
        is_call = row["toAddress"] is not None and len(row["input"]) >= 10
        items.append(
            {**abi_of(row["toAddress"]), "input": row["input"] if is_call else None, "logs": []}
        )
        items += [
            {**abi_of(log["address"]), "input": None, "logs": [dict(log, **abi_of(log["address"]))]}
            for log in row["logs"]
        ]
    expected = iter(by_ethers(items))
    decoded = 0
    for row in answers:
        # Ethers has no name for what receives a payment without input.
        method = row["method"] if len(row["input"]) >= 10 else None
        assert method == next(expected)["method"], row["hash"]
        for log in row["logs"]:
            [event] = next(expected)["events"]
            assert log["event"] == event, (row["hash"], log)
            decoded += event is not None
    assert decoded > 100


def test_errors_are_those_of_the_nodes_trace_and_of_ethers(chain):
    """Of the transactions that failed, and of some random ones."""
    query = {"entity": "transactions", "filter": {"status": False}, "limit": 100}
    failed = chain.client.post("/api/v1/query", json=query).json["data"]
    hashes = {*transactions_of(chain.client)[:15], *(sent["hash"] for sent in failed)}
    assert len(failed) > 5
    call_tracer = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}
    traced = [
        (hash_, chain.node.call("debug_traceTransaction", hash_, call_tracer)) for hash_ in hashes
    ]
    origins = [origin(trace) for _, trace in traced]
    items = [
        {
            "abis": [chain.abis[f["to"]] for f in frames if f.get("to") in chain.abis],
            "standard": None,
            "input": None,
            "logs": [],
            "error": frames[0].get("output") if frames else None,
        }
        for frames, _ in origins
    ]
    failures = []
    for (hash_, _), (frames, path), expected in zip(traced, origins, by_ethers(items), strict=True):
        error = chain.client.get(f"/api/v1/transactions/{hash_}").json["error"]
        succeeded = chain.node.call("eth_getTransactionReceipt", hash_)["status"] == "0x1"
        assert (error is None) == succeeded == (not frames), hash_
        failures += [(hash_, error, frame, path, expected) for frame in frames[:1]]
    assert len(failures) > 5
    for hash_, error, frame, path, _ in failures:
        assert error["approximate"] is False
        assert error["reverting"]["traceAddress"] == path, hash_
        assert error["reverting"]["address"] == frame.get("to"), hash_
    halted = [failure for failure in failures if "revert" not in failure[2]["error"]]
    halts = {
        "out of gas": "out_of_gas",
        "invalid opcode": "invalid_opcode",
        "CreateCollision": "address_collision",
        "OutOfFunds": "insufficient_balance",
    }
    for hash_, error, frame, _, _ in halted:
        [kind] = [kind for words, kind in halts.items() if words in frame["error"]]
        assert (error["kind"], error["name"]) == (kind, None), hash_
    reverted = [failure for failure in failures if failure not in halted]
    assert reverted
    no_arguments = {"arguments": []}
    for hash_, error, frame, _, expected in reverted:
        assert error["data"] == frame.get("output", "0x"), hash_
        named = {name: error[name] for name in ("name", "signature", "source")}
        decoded = expected["error"]
        assert named == {name: decoded and decoded[name] for name in named}, hash_
        values = [argument["value"] for argument in error["arguments"] or ()]
        assert values == [argument["value"] for argument in (decoded or no_arguments)["arguments"]]


def origin(frame):
    """The calls from the one that failed by itself outwards, and its place; empty if none did."""
    if not frame.get("error"):
        return [], []
    calls, output = frame.get("calls", []), frame.get("output", "0x")
    if "revert" in frame["error"]:
        for number in reversed(range(len(calls))):
            same = calls[number].get("error") and calls[number].get("output", "0x") == output
            if same and (output != "0x" or number == len(calls) - 1):
                frames, path = origin(calls[number])
                return [*frames, frame], [number, *path]
    return [frame], []
