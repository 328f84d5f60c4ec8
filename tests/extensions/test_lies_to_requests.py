"""What a request reads of a node that lies: a proven field is never false, a false one is named by
its record or its page, on every door that shows a node's word."""

import re
from functools import reduce
from pathlib import Path

import pytest
from eth_utils import keccak

from tests.support import many_functions
from tests.support.explorer import behind
from tests.support.faulty_node import before, refuse_method, replacing
from tests.support.serving import wait_until

SOURCE = Path(__file__).with_name("Truth.sol").read_text()
MOVE, MINT = (f"0x{keccak(text=text)[:4].hex()}" for text in ("move(uint256)", "mint()"))
FALSE_WORD = "0x" + (10**7).to_bytes(32).hex()
# Of why something is not known.
REASONS = {"unavailable", "tokenUriUnavailable", "metadataUnavailable", "missing", "truncated"}


def says(method, change, when=lambda _call: True):
    return replacing(lambda call: call["method"] == method and when(call), change)


def in_logs(change):
    """Of receipts, one receipt or logs."""

    def of_result(result):
        if isinstance(result, dict):
            result["logs"] = change(result["logs"])
        elif result and "logs" in result[0]:
            return [of_result(receipt) for receipt in result]
        else:
            return change(result)
        return result

    return of_result


def tagged(tag):
    return lambda call: call["params"][0] == tag


def in_proof(**fields):
    """Of each slot's proof."""
    return lambda proof: {**proof, "storageProof": [s | fields for s in proof["storageProof"]]}


RECEIPTS = ("eth_getBlockReceipts", "eth_getTransactionReceipt")
# What alters logs: amount, number, emitter, event.
LOGS = {
    "another amount": lambda logs: [log | {"data": FALSE_WORD} for log in logs],
    "no logs": lambda _: [],
    "another emitter": lambda logs: [log | {"address": "0x" + "99" * 20} for log in logs],
    "a log more": lambda logs: [*logs, *(log | {"logIndex": "0x9"} for log in logs[:1])],
}
BALANCE = says("eth_getBalance", lambda _: "0x7")
NO_PROOF = refuse_method("eth_getProof")
FALSE_SLOTS = says("eth_getStorageAt", lambda _: FALSE_WORD)
FALSE_RESULTS = says("eth_call", lambda _: FALSE_WORD)
FALSE_LOGS = says("eth_getLogs", in_logs(LOGS["another amount"]))
FALSE_RECEIPTS = [says(method, in_logs(LOGS["another amount"])) for method in RECEIPTS]
ABOVE = {
    tag: says("eth_getBlockByNumber", lambda b: b and b | {"number": "0x7fffffff"}, tagged(tag))
    for tag in ("safe", "finalized", "latest")
}


# By name: whom it is told at a door, and what alters the node's answers.
LIES = {
    **{
        f"receipts: {name}": ("transaction", *(says(m, in_logs(change)) for m in RECEIPTS))
        for name, change in LOGS.items()
    },
    "a block's receipts": ("transaction", FALSE_RECEIPTS[0]),
    "no logs": ("logs", says("eth_getLogs", lambda _: [])),
    "logs of a query": ("query", FALSE_LOGS),
    "false logs of a block": ("logs of a block", FALSE_LOGS),
    "a header of another root": (
        "transaction",
        says("eth_getBlockByHash", lambda block: block | {"receiptsRoot": FALSE_WORD}),
        *FALSE_RECEIPTS,
    ),
    "no receipts of a block": ("transaction", refuse_method(RECEIPTS[0]), FALSE_RECEIPTS[1]),
    "nothing is final": (
        "finality",
        says("eth_getBlockByNumber", lambda _: None, tagged("finalized")),
    ),
    "final above the head": ("finality", ABOVE["finalized"]),
    "final, all above the head": ("finality", *ABOVE.values()),
    "final on another chain": (
        "finality",
        says("eth_getBlockByNumber", lambda b: b | {"hash": FALSE_WORD}, tagged("safe")),
    ),
    "a transaction that is final": ("transaction", *ABOVE.values()),
    "slots": ("storage", NO_PROOF, FALSE_SLOTS),
    "a slot": ("variable", NO_PROOF, FALSE_SLOTS),
    "slots beside proofs": ("storage", FALSE_SLOTS),
    "values beside proofs": ("storage", says("eth_getProof", in_proof(value="0x7"))),
    "proofs of other slots": (
        "storage",
        says("eth_getProof", lambda p: p | {"storageProof": p["storageProof"][::-1]}),
        FALSE_SLOTS,
    ),
    "proofs without nodes": (
        "storage",
        says("eth_getProof", in_proof(proof=[])),
        says("eth_getStorageAt", lambda _: "0x0"),
    ),
    "a proof of another account": (
        "proof",
        says("eth_getProof", lambda p: p | {"accountProof": []}),
    ),
    "balance beside the proof": ("proof", says("eth_getProof", lambda p: p | {"balance": "0x7"})),
    "values": ("values", FALSE_RESULTS),
    "a result": ("call", FALSE_RESULTS),
    "a URI": ("item", says("eth_call", lambda text: text.replace("74727565", "6c696573"))),
    "what a call would do": (
        "simulate",
        says("debug_traceCall", lambda frame: frame | {"output": FALSE_WORD, "gasUsed": "0x7"}),
    ),
    "an empty pool": (
        "pending",
        says("txpool_contentFrom", lambda _: {"pending": {}, "queued": {}}),
        says("txpool_content", lambda _: {"pending": {}, "queued": {}}),
    ),
    "a balance": ("address", BALANCE),
    "code": ("address", says("eth_getCode", lambda _: "0x00")),
    "a history": ("history", BALANCE),
    "balances of the coin": ("balances", BALANCE),
    "calls": ("trace", says("debug_traceTransaction", lambda frame: frame | {"output": "0x77"})),
}


@pytest.fixture(scope="module")
def chain(explorer):
    """A chain whose blocks are not stored: a contract, the sender and the hash of one of its
    transactions, and by a name the paths whose responses lies change."""
    contract = many_functions.verified(explorer, SOURCE, "Truth").lower()
    explorer.send(contract, MINT)
    moved = explorer.send(contract, MOVE + (1000).to_bytes(32).hex())
    sender, head = explorer.me.lower(), explorer.head
    wait_until(lambda: explorer.client.get(f"/api/v1/tokens/{contract}/items/1").status_code == 200)
    explorer.sql("DELETE FROM block_bodies; DELETE FROM bodies_from")
    waiting = {"from": sender, "to": contract, "value": "0x1", "nonce": "0xffff"}
    explorer.anvil.call("eth_sendTransaction", {**waiting, "gas": "0x5208"})
    of_contract, at = f"/api/v1/contracts/{contract}", f"/api/v1/addresses/{sender}"
    call = {"from": sender, "to": contract, "data": MINT}
    paths = {
        "transaction": f"/api/v1/transactions/{moved}",
        "trace": f"/api/v1/transactions/{moved}/trace",
        "logs": f"/api/v1/logs?address={contract}",
        "logs of a block": "/api/v1/logs?blockFrom=0&blockTo=1000",
        "query": ("/api/v1/query", {"entity": "logs", "filter": {"address": contract}}),
        "finality": "/api/v1/stats/finality",
        "storage": f"{of_contract}/storage",
        "variable": f"{of_contract}/storage?variable=total",
        "values": f"{of_contract}/values",
        "call": (f"{of_contract}/call", {"functionName": "total"}),
        "item": f"/api/v1/tokens/{contract}/items/1",
        "simulate": ("/api/v1/simulate", {"calls": [call], "trace": True}),
        "pending": f"{at}/pending-transactions",
        "address": f"{at}?block={head}",
        "proof": f"{at}/proof",
        "history": f"{at}/history",
        "balances": f"{at}/balances",
    }
    return contract, sender, moved, paths


def answer_of(client, path):
    return client.get(path) if isinstance(path, str) else client.post(path[0], json=path[1])


@pytest.fixture(scope="module")
def truth(explorer, chain):
    *_, paths = chain
    with behind(explorer.settings) as (client, _):
        answers = {door: answer_of(client, path) for door, path in paths.items()}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {door: answer.json for door, answer in answers.items()}


def false_fields(true, shown, names=frozenset(), at=""):
    """Yield of the fields that differ from the truth their path, and whether one of `names`, those
    that records around it call unproven, covers it. What is null is not said."""
    if isinstance(shown, dict) and isinstance(true, dict):
        own = {*shown.get("unproven", ()), *([*shown] if shown.get("proven") is False else [])}
        below = {name.partition(".")[2] for name in names}
        for name, value in shown.items():
            if name not in REASONS | {"unproven"}:
                is_marked = names == {"*"} or name in own or name in below
                within = {n for n in own if n.startswith(f"{name}.")}
                marks = {"*"} if is_marked else within
                yield from false_fields(true.get(name), value, marks, f"{at}/{name}")
    elif isinstance(shown, list) and isinstance(true, list) and len(shown) == len(true):
        for n, pair in enumerate(zip(true, shown, strict=True)):
            yield from false_fields(*pair, names, f"{at}/{n}")
    elif shown != true and shown is not None:
        yield at, names == {"*"}


def test_no_lie_is_shown_without_a_mark(explorer, chain, truth):
    """Each lie is refused, is not shown since there is a proof, or is named."""
    (*_, paths), answers = chain, {}
    for name, (door, *faults) in LIES.items():
        with behind(explorer.settings, reduce(before, faults)) as (client, _):
            answers[name] = answer_of(client, paths[door])
    refused = {name: answer for name, answer in answers.items() if answer.status_code >= 400}
    assert {answer.status_code for answer in refused.values()} <= {404, 422, 502, 503}
    fields = {
        name: dict(false_fields(truth[LIES[name][0]], answers[name].json))
        for name in answers.keys() - refused
    }
    unmarked = [(name, at) for name, shown in fields.items() for at in shown if not shown[at]]
    assert unmarked == []
    named = [name for name, shown in fields.items() if shown]
    assert len(named) >= 16 and len(fields) - len(named) >= 5


def test_nothing_that_is_proven_is_called_unproven(truth):
    assert truth["storage"]["unproven"] == truth["variable"]["unproven"] == []
    assert {*truth["transaction"]["unproven"]} == {"finality", "summary"}
    assert truth["transaction"]["logs"][0]["event"]["arguments"][2]["value"] == "1000"
    assert truth["logs"]["unproven"] == ["logs", "total"]


@pytest.mark.thorough
def test_pages_name_what_the_node_says_once(explorer, chain):
    contract, sender, moved, _ = chain
    address = f"/address/{contract}"
    pages = {
        "transaction": (f"/tx/{moved}", "logs"),
        "finality": (f"/tx/{moved}", "finality"),
        "logs": (f"{address}?tab=events", "logs"),
        "storage": (f"{address}?tab=storage", "variables"),
        "values": (f"{address}?tab=contract&view=read", "values"),
        "item": (f"/nft/{contract}/1", "URI"),
        "pending": (f"/address/{sender}?tab=pending", "pending transactions"),
        "balances": (f"/address/{sender}?tab=chart", "balances"),
        "history": (f"/address/{sender}?tab=history", "balance of the history"),
        "trace": (f"/tx/{moved}?tab=calls", "calls"),
    }
    for door, (path, name) in pages.items():
        [_, *faults] = next(lie for lie in LIES.values() if lie[0] == door)
        with behind(explorer.settings, reduce(before, faults)) as (client, _):
            [said] = re.findall("eported by the node without proof: ([^.]*)", client.get(path).text)
        assert name in said.split(", "), (path, said)


def test_a_false_balance_does_not_replace_a_proven_one(explorer, chain, truth):
    """As an indexer beside a node that lied has stored it."""
    _, sender, _, paths = chain
    own = bytes.fromhex(sender[2:])
    sql = "UPDATE addresses SET balance = balance + %s, balance_stale = false WHERE address = %s"
    explorer.sql(sql, 10**18, own)
    try:
        with behind(explorer.settings) as (client, _):
            balances = client.get(paths["balances"]).json
    finally:
        explorer.sql(sql, -(10**18), own)
    assert balances["balances"][-1] == truth["balances"]["balances"][-1]
    assert {"balances", "complete"} <= {*balances["unproven"]}
