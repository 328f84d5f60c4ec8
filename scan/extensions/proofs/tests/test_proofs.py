"""Accounts proven by the node, and nodes that prove nothing."""

import threading

import pytest
from eth_utils import keccak

from tests.support import WAIT_S, expected, faulty_node
from tests.support.scenario.stage import MINERS, STRANGERS

NOT_PROVEN = ">not proven</span>"  # beside the balance
ABSENT = "0x" + 20 * "ab"


def get(client, address, **arguments):
    return client.get(f"/api/v1/addresses/{address}/proof", query_string=arguments)


@pytest.fixture
def service(scenario_node, indexed):
    """Of its own, which remembers nothing, behind the faulty node."""
    return indexed.client(rpc_urls=(scenario_node.url,))


def test_proven_values_are_the_nodes(client, scenario):
    """After each block, of accounts and contracts, of one that came later, and of one that never
    was."""
    empty_code = "0x" + keccak(b"").hex()
    head = scenario.anvil.head()
    contract = scenario.stage.contracts["dollar"].address
    for address in (scenario.stage.people[0], contract, STRANGERS[0], MINERS[0], ABSENT):
        for number in (1, head // 2, head):
            proof = get(client, address, block=number).json
            header = scenario.anvil.call("eth_getBlockByNumber", hex(number), False)
            balance = int(scenario.anvil.call("eth_getBalance", address, hex(number)), 16)
            nonce = int(scenario.anvil.call("eth_getTransactionCount", address, hex(number)), 16)
            code = keccak(hexstr=scenario.anvil.call("eth_getCode", address, hex(number)))
            assert (proof["balance"], proof["nonce"]) == (str(balance), nonce)
            assert proof["codeHash"] == "0x" + code.hex()
            assert (proof["blockNumber"], proof["blockHash"]) == (number, header["hash"])
            assert "0x" + keccak(hexstr=proof["header"]).hex() == header["hash"]
            assert "0x" + keccak(hexstr=proof["proof"][0]).hex() == header["stateRoot"]
            assert proof["exists"] is bool(balance or nonce or proof["codeHash"] != empty_code)
    assert get(client, contract).json["blockNumber"] == head
    by_hash = get(client, contract, block=header["hash"]).json
    assert by_hash == get(client, contract, block=head).json


def test_slots_are_proven(client, scenario):
    contract = scenario.stage.contracts["dollar"].address
    stored = set()
    for slot in (*map(hex, range(8)), "0x" + 64 * "f", "0x00"):
        read = get(client, contract, slot=slot).json["slot"]
        assert read["slot"] == "0x" + slot[2:].rjust(64, "0")
        right = scenario.anvil.call("eth_getStorageAt", contract, read["slot"], "latest")
        assert int(read["value"], 16) == int(right, 16)
        stored.add(bool(int(right, 16)))
    assert stored == {True, False}
    assert get(client, STRANGERS[0], slot="0x1").json["slot"]["value"] == "0x" + 64 * "0"


def lie(alter, method="eth_getProof"):
    return faulty_node.replacing(method, alter)


def with_nodes(alter):
    return lie(lambda proof: {**proof, "accountProof": alter(proof["accountProof"])})


LIES = {
    "cut": with_nodes(lambda nodes: nodes[:-1]),
    "none": with_nodes(lambda nodes: []),
    "cyclic": with_nodes(lambda nodes: [*nodes[:-1], *nodes[:-1]] * 8),
    "extra node": with_nodes(lambda nodes: [*nodes, nodes[-1]]),
    "oversized": with_nodes(lambda nodes: [nodes[0] + "00" * 40_000, *nodes[1:]]),
    "too large": with_nodes(lambda nodes: ["0x" + "00" * 1024 * 1024]),
    "wrong types": with_nodes(lambda nodes: [5, None, {}]),
    "not hex": with_nodes(lambda nodes: ["0xzz"]),
    "null": lie(lambda proof: None),
    "another stateRoot": lie(
        lambda header: {**header, "stateRoot": "0x" + 64 * "1"}, "eth_getBlockByHash"
    ),
    "no header": lie(lambda header: None, "eth_getBlockByHash"),
}


@pytest.mark.parametrize("fault", LIES.values(), ids=LIES)
def test_a_node_that_lies_proves_nothing(scenario_node, service, scenario, fault):
    """And once it is honest, the same service has the proof."""
    person = scenario.stage.people[0]
    scenario_node.fault = fault
    response = get(service, person)
    assert response.status_code == 502, response.text
    assert response.json["error"].startswith("The node ")
    scenario_node.fault = None
    right = int(scenario.anvil.call("eth_getBalance", person, "latest"), 16)
    assert get(service, person).json["balance"] == str(right)


def test_a_proof_of_another_account_or_block_is_refused(scenario_node, service, scenario):
    people = scenario.stage.people
    for address, block in ((people[1], "latest"), (people[0], "0x3"), (people[0], "0x0")):
        foreign = scenario.anvil.call("eth_getProof", address, [], block)
        scenario_node.fault = lie(lambda _, foreign=foreign: foreign)
        response = get(service, people[0])
        assert response.status_code == 502
        assert "does not belong to the block's state" in response.json["error"]


def test_a_node_without_proofs_or_state_is_named(scenario_node, service, scenario):
    person = scenario.stage.people[0]
    for code, message in (
        (-32000, "missing trie node 1234 (path )"),
        (-32602, "distance to target block exceeds maximum proof window"),
        (-32000, "requested block is too old, block must be within 100000 blocks"),
    ):
        scenario_node.fault = faulty_node.refuse(
            lambda call: call["method"] == "eth_getProof" and call["params"][2] != "latest",
            code,
            message,
        )
        response = get(service, person, block=3)
        assert (response.status_code, response.json["code"]) == (422, "history_unavailable")
        assert "archive node" in response.json["error"]
    scenario_node.fault = faulty_node.refuse_method("eth_getProof")
    response = get(service, person)
    assert (response.status_code, response.json["code"]) == (502, "upstream_failed")
    assert response.json["error"] == "The node does not offer proofs (eth_getProof)."
    count = scenario_node.requests
    assert get(service, STRANGERS[0]).status_code == 502
    assert scenario_node.requests == count, (
        "a node without proofs is asked again only after a while"
    )


@pytest.mark.parametrize(
    "fault",
    [
        faulty_node.refuse_block_hashes,  # then it is asked by number
        lie(lambda proof: {**proof, "balance": "0xffffffffffffff", "nonce": "0x0"}),
    ],
    ids=["block hashes", "values beside the proof"],
)
def test_whatever_else_a_node_says_its_proof_counts(scenario_node, service, scenario, fault):
    person = scenario.stage.people[0]
    right = int(scenario.anvil.call("eth_getBalance", person, "latest"), 16)
    scenario_node.fault = fault
    assert get(service, person).json["balance"] == str(right)


def test_the_page_says_whether_the_balance_is_proven(scenario_node, service, scenario):
    person = scenario.stage.people[0]

    def page(address):
        return service.get(f"/address/{address}").text

    scenario_node.fault = LIES["cut"]
    assert NOT_PROVEN in page(person)
    scenario_node.fault = None
    assert ">proven</a>" in page(person) and NOT_PROVEN not in page(person)
    assert ">proven</a>" in page(ABSENT)
    scenario_node.fault = lie(lambda _: hex(123 * 10**18), "eth_getBalance")
    shown = page("0x" + 20 * "cd")
    assert ">123<" in shown and ">0 is proven</a>" in shown
    scenario_node.fault = faulty_node.refuse_method("eth_getProof")
    assert NOT_PROVEN in page(STRANGERS[0])


def test_the_page_says_whether_the_code_is_proven(scenario_node, service, scenario):
    def page_of(key):
        path = f"/address/{scenario.stage.contracts[key].address.lower()}?tab=bytecode"
        return service.get(path).text

    def beside_the_hash(key):
        return page_of(key).partition("<dt>Code hash</dt>")[2].partition("</dd>")[0]

    assert ">proven</a>" in beside_the_hash("dollar")
    scenario_node.fault = faulty_node.refuse_method("eth_getProof")
    assert "Reported by the node without proof: balance, code hash" in page_of("harbor")


def test_a_slow_node_does_not_hold_up_the_page(scenario_node, service, scenario):
    is_shown = threading.Event()

    def prove_late(call, _):
        assert call["method"] != "eth_getProof" or is_shown.wait(WAIT_S)

    scenario_node.fault = faulty_node.altering(prove_late)
    assert NOT_PROVEN in service.get(f"/address/{scenario.stage.people[0]}").text
    is_shown.set()


def test_refusals_are_as_expected(client):
    expected.compare(__file__, client, {"absent": ABSENT})
