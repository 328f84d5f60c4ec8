"""POST /verify and GET /contracts: bad input, hostile input, and what others notice of it."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from scan.verification import compiler_run, sandbox, submission_compilations, verifier
from scan.verification.compiler_run import RUNNING, WAITING
from scan.verification.verifier import MAX_BYTES_A_DAY
from tests.support import database, expected, serving, solidity
from tests.support.explorer import compiled, standard_input
from tests.support.indexing import Indexing
from tests.support.many_functions import CHECKSUMMED, MANY, VERSION, deploy


def test_a_contract_that_no_block_showed_is_read_from_the_node_and_verified(explorer):
    """As one of the genesis block that contracts alone call."""
    source = "pragma solidity ^0.8.0; contract Placed { uint256 public x = 78; }"
    code = explorer.anvil.call("eth_getCode", deploy(explorer, source, "Placed"), "latest")
    addresses = [f"0x{0xB0 << 64 | number:040x}" for number in range(5)]
    for address in addresses:
        explorer.anvil.call("anvil_setCode", address, code)
    paths = (
        "/api/v2/smart-contracts/{}",
        "/api/v1/contracts/{}/bytecode",
        "/address/{}?tab=contract",
        "/api?module=contract&action=getsourcecode&address={}",
    )
    for path, address in zip(paths, addresses, strict=False):
        assert explorer.client.get(path.format(address)).status_code == 200, path
        key = bytes.fromhex(address[2:])
        assert explorer.database.row("contracts/contracts_get_code", address=key)
    answer = explorer.verify(addresses[-1], source, VERSION)
    assert answer.status_code == 200, answer.json
    assert explorer.contract(addresses[-1]).json["contractName"] == "Placed"


def test_a_contract_that_is_read_before_its_block_is_indexed_is_that_blocks(database_url, anvil):
    """As by a tool that verifies what it has just created: the node has it before the index."""
    indexing = Indexing(database_url, anvil.url).run_until(anvil.head())
    hash_ = anvil.send(anvil.accounts[0], None, data="0x6000600055600180600c5f395ff300")
    address = anvil.receipt_of(hash_)["contractAddress"]
    assert indexing.client().get(f"/api/v1/contracts/{address}").status_code == 404
    Indexing(database_url, anvil.url).run_until(anvil.head())
    [(block_number,)] = database.execute(database_url, "SELECT block_number FROM contracts")
    assert block_number == anvil.head()


def test_submissions_that_are_malformed_are_refused_as_expected(explorer, many):
    expected.compare(__file__, explorer.client, {"many": many.lower()})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sourceCode", json.dumps(standard_input({f"{n}.sol": "" for n in range(10_000)}))),
        (
            "sourceCode",
            json.dumps(standard_input({"A.sol": MANY}, remappings=["a=" + "b" * 1_100_000])),
        ),
        ("libraries", {"A.sol": dict.fromkeys(map(str, range(201)), CHECKSUMMED.lower())}),
        ("constructorArguments", "0x" + "ab" * 2_400_000),
    ],
    ids=range(4),
)
def test_a_value_that_is_too_large_is_refused(explorer, many, field, value):
    body = {"address": many, "sourceCode": MANY, "compilerVersion": VERSION, field: value}
    answer = explorer.client.post("/api/v1/verify", json=body)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_parameter"), answer.json


# What is added to a source so that its metadata has another hash, the number that makes it another
# contract, and how a false commit is answered: status, field, and the contract's status.
@pytest.mark.parametrize(
    ("added", "number", "expected"),
    [("", 1, (422, "error", 404)), (" // other metadata", 0, (200, "message", 200))],
    ids=["full", "partial"],
)
def test_the_commit_of_another_compiler_is_refused_or_told(explorer, added, number, expected):
    """Refused where the hash of the metadata, which names the compiler, proves the commit."""
    source = f"pragma solidity ^0.8.0; contract Committed {{ uint256 public x = 79{number}; }}"
    address = deploy(explorer, source, "Committed")
    submitted, (status, field, stored) = source + added, expected
    message = f"The compiler is {VERSION}+commit.7893614a, not of the submitted commit deadbeef."
    answer = explorer.verify(address, submitted, f"v{VERSION}+commit.deadbeef")
    assert answer.status_code == status
    assert message in answer.json[field]
    assert explorer.contract(address).status_code == stored
    for commit in ("7893614a", "7893614a31"):
        answer = explorer.verify(address, submitted, f"v{VERSION}+commit.{commit}").json
        assert answer["compilerVersion"] == f"{VERSION}+commit.7893614a"
        assert "not of the submitted commit" not in answer["message"]


def test_who_has_stored_its_share_of_a_day_gets_no_compiler(explorer):
    """What is stored is counted once it is."""
    services = explorer.app.extensions["scan"]
    counted, client = services.verifier.stored_bytes, "192.0.2.77"

    def stored():
        since = datetime(2000, 1, 1, tzinfo=UTC)
        row = services.writes.row("verification/stored_bytes_get", since=since, client=client)
        return row[0], row[1]

    before, nothing = stored()
    source = "pragma solidity ^0.8.0; contract Stored { uint256 public x = 4567; }"
    address = deploy(explorer, source, "Stored")
    options = {"client_address": client, "optimizationUsed": 0}
    assert explorer.verify(address, source, VERSION, **options).status_code == 200
    of_all, of_client = stored()
    assert nothing == 0 and of_all - before == of_client and 500 < of_client < 10_000
    assert explorer.verify(address, source, VERSION, **options).status_code == 200
    assert stored() == (of_all, of_client)  # the second is as good as the first, and not stored
    counted.add(client, MAX_BYTES_A_DAY // 10)
    answer = explorer.verify(address, source, "v0.8.99", **options)  # none has been looked for
    assert (answer.status_code, answer.json["code"]) == (429, "rate_limited")


def test_containers_of_the_object_format_are_told_unsupported(explorer):
    answer = explorer.verify(explorer.place("ef0001010004"), MANY, VERSION)
    assert answer.status_code == 422
    assert "EVM Object Format" in answer.json["error"]


@contextmanager
def compiling(explorer, many, clients):
    """Verifications whose compiler never ends by itself, under way; their answers. Each has a
    compiler, waits for one or is refused before the next begins, which else meets its reads from
    the node in the last place."""
    answers = []
    places = explorer.app.extensions["scan"].verifier.places

    def verify(number):
        client = f"192.0.2.{number + 1}"
        answers.append(explorer.verify(many, solidity.ENDLESS, VERSION, client_address=client))

    with ThreadPoolExecutor(clients) as pool:
        for number in range(clients):
            pool.submit(verify, number)
            serving.wait_until(lambda: answers or places.taken + len(places.waiting) > number)  # noqa: B023
        yield answers


def test_others_are_served_while_hostile_sources_compile(explorer, many, monkeypatch):
    others_are_served = threading.Event()
    compile_source = submission_compilations.compile_source

    def compile_until_others_are_served(compiler, standard_input, timeout_s, check, *more):
        def check_time():
            check()
            if others_are_served.is_set():
                raise sandbox.TimedOut

        return compile_source(compiler, standard_input, timeout_s, check_time, *more)

    monkeypatch.setattr(submission_compilations, "compile_source", compile_until_others_are_served)
    with compiling(explorer, many, RUNNING + WAITING) as hostile:
        # Three wait for compilers; a place of the four is left for the node.
        assert {answer.status_code for answer in hostile} == {503}
        refused = explorer.verify(many, MANY, VERSION)
        assert (refused.status_code, refused.json["code"]) == (503, "unavailable")
        assert int(refused.headers["Retry-After"]) > 0
        assert explorer.client.get("/api/v1/stats").status_code == 200
        # One that compiles may hold that place for a moment, to read from the node itself.
        serving.wait_until(lambda: explorer.call(many, "stored").status_code == 200)
        assert len(hostile) == 1, "no call was answered before a compiler had ended"
        others_are_served.set()
    assert sorted(answer.status_code for answer in hostile) == [422, 422, 422, 503]
    assert "did not finish" in hostile[-1].json["error"]
    monkeypatch.undo()
    assert explorer.verify(many, MANY, VERSION, optimizationUsed=0).status_code == 200


@pytest.mark.parametrize(("seconds", "compilations"), [(14.7, 5), (14.8, 4)])
def test_settings_are_searched_for_60_seconds(explorer, monkeypatch, seconds, compilations):
    """By a clock on which each compilation takes so long; in the last second none begins."""
    unverified = deploy(explorer, MANY.replace("contract Many ", "contract Plenty "), "Plenty")
    source = "pragma solidity ^0.8.0; contract Other { uint256 public x = 77; }"
    outputs = []
    compile_source = submission_compilations.compile_source

    def compile_slowly(*arguments):
        outputs.append(outputs[0] if outputs else compile_source(*arguments))
        return outputs[0]

    clock = SimpleNamespace(monotonic=lambda: 1000.0 + seconds * len(outputs))
    for module in (verifier, compiler_run):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(submission_compilations, "compile_source", compile_slowly)
    refused = explorer.verify(unverified, source, VERSION)
    assert (refused.status_code, refused.json["code"]) == (422, "verification_failed")
    assert len(outputs) == compilations


@pytest.mark.thorough
def test_who_has_a_compiler_gets_no_second_and_makes_way_for_others(explorer, many, monkeypatch):
    """Two clients keep both compilers busy; a third one gets its turn."""
    monkeypatch.setattr(compiler_run, "SHARED_BUDGET_S", 1.0)
    monkeypatch.setattr(compiler_run, "COMPILE_TIMEOUT_S", 15.0)
    places = explorer.app.extensions["scan"].verifier.places
    with compiling(explorer, many, RUNNING) as answers:
        serving.wait_until(lambda: places.taken == RUNNING)
        refused = explorer.verify(many, MANY, VERSION, client_address="192.0.2.1")
        assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")
        assert int(refused.headers["Retry-After"]) > 0
        assert answers == []  # nobody waits
        third = explorer.verify(many, MANY, VERSION, client_address="192.0.2.9", optimizationUsed=0)
        assert third.status_code == 200
        places.jobs_wait = True  # the one that may still compile makes way, too
    places.jobs_wait = False
    assert answers[0].status_code == 503
    assert "Other requests are waiting" in answers[0].json["error"]


def test_a_wrong_source_of_a_fully_verified_contract_takes_two_compilations(explorer):
    """Its metadata states the settings, which nobody has to search for."""
    path = "contracts/Box.sol"
    source = """pragma solidity ^0.8.0; contract Box {
        uint256 public total;
        function put(uint256 value) external { total = total + value; }
        function take(uint256 value) external { require(value < 7); total -= value; } }"""
    standard = standard_input({path: source}, optimizer={"enabled": True, "runs": 317})
    address = explorer.deploy(compiled("0.8.28", standard, path, "Box").creation)
    assert explorer.verify(address, standard, "0.8.28").json["match"] == "full"
    wrong = explorer.verify(address, source.replace("+", "-"), "0.8.28", contractName="Box")
    assert wrong.json["error"].startswith("No match in 2 compilations. ")
    words = " Another source has a full match, whose settings were tried."
    assert wrong.json["error"].endswith(words)
    # The right one still matches without its settings: by those of the metadata.
    right = explorer.verify(address, source, "0.8.28", contractName="Box")
    assert right.json["match"] == "partial", right.json
