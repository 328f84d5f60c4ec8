"""Contracts that verified contracts created are verified by the sources of their factories."""

import itertools
from pathlib import Path
from unittest.mock import Mock

import pytest
from eth_abi import encode

from scan.extensions.contract_details.factory_children import factory_children
from scan.extensions.verification_jobs.jobs import VerificationJobs
from tests.support import database, serving
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input

pytestmark = pytest.mark.thorough

VERSION, PATH = "0.8.28", "contracts/Factory.sol"
NUMBERS = itertools.count(1)
UNFINISHED = "SELECT id FROM verification_jobs WHERE finished_at IS NULL"
SOURCE = Path(__file__).with_name("Factory.sol").read_text()


class Project:
    """A factory of its own source, and what it creates."""

    def __init__(self, explorer):
        self.explorer = explorer
        self.standard = standard_input({PATH: SOURCE.replace("NUMBER", str(next(NUMBERS)))})
        self.factory = explorer.deploy(self.code("Factory").creation)

    def code(self, name):
        return compiled(VERSION, self.standard, PATH, name)

    def verify(self):
        answer = self.explorer.verify(
            self.factory, self.standard, VERSION, contractName=f"{PATH}:Factory"
        )
        assert answer.json["match"] == "full", answer.json

    def send(self, to, function, *values):
        self.explorer.send(to, calldata(function, *values), gas=5_000_000)

    def address(self, of, function):
        call = {"to": of, "data": calldata(function)}
        address = f"0x{self.explorer.anvil.call('eth_call', call, 'latest')[-40:]}"
        self.explorer.wait_for(address)
        return address

    def make(self, first):
        self.send(self.factory, "make(uint256)", first)
        return self.address(self.factory, "last()")

    def create(self, code):
        self.send(self.factory, "create(bytes)", bytes.fromhex(code))
        return self.address(self.factory, "last()")


@pytest.fixture
def project(explorer, running_jobs):
    return Project(explorer)


def record(explorer, address):
    answer = explorer.contract(address)
    return answer.json if answer.status_code == 200 else {}


def wait_for_match(explorer, address, name):
    serving.wait_until(lambda: record(explorer, address))
    contract = record(explorer, address)
    assert (contract["match"], contract["creationMatch"]) == ("full", "full")
    assert contract["contractName"] == name
    return contract


def jobs_of(explorer, address):
    """The matches of the jobs that verified a contract."""
    rows = explorer.execute(
        "SELECT match FROM verification_jobs WHERE address = decode(%s, 'hex') LIMIT 1", address[2:]
    )
    return [match for (match,) in rows]


def look(explorer):
    """Take a step, and wait until what it submits is over."""
    services = explorer.app.extensions["scan"]
    jobs = services.sources.get(VerificationJobs)
    factory_children.FactoryChildren(services.writes, services.verifier.creations, jobs).step()
    database.wait_until_none(explorer.settings.database_url, UNFINISHED)


def test_what_was_created_before_a_verification_is_verified_and_what_it_creates(explorer, project):
    child = project.make(8)
    inner = project.address(project.factory, "inner()")
    look(explorer)
    assert record(explorer, child) == record(explorer, inner) == {}
    project.verify()
    wait_for_match(explorer, child, "Child")
    wait_for_match(explorer, inner, "Inner")  # whose code is in that of the constructor alone
    project.send(child, "make()")
    wait_for_match(explorer, project.address(child, "made()"), "Grandchild")


def test_of_what_is_created_afterwards_one_is_verified_and_others_are_similar(explorer, project):
    """With other immutables."""
    project.verify()
    first = project.make(10)
    contract = wait_for_match(explorer, first, "Child")
    arguments = encode(["uint256", "string"], [10, "made"]).hex()
    assert contract["constructorArguments"] == f"0x{arguments}"
    assert explorer.call(first, "kept").json["result"] == "10"
    assert record(explorer, first).get("verifiedBy") is None
    second = project.make(11)
    project.send(first, "make()")
    wait_for_match(explorer, project.address(first, "made()"), "Grandchild")  # a later one
    assert record(explorer, second) == {}
    assert explorer.client.get(f"/api/v1/contracts/{second}/bytecode").json["similarTo"] == first


def test_children_of_one_code_with_other_constructors_are_each_verified(explorer, running_jobs):
    twin = """contract {} {{
        uint256 public x;
        constructor(uint256 given) {{ x = given * {}; }}
        function number() external pure returns (uint256) {{ return {}; }}
    }}
    """
    number = next(NUMBERS)
    source = "".join(twin.format(name, n, number) for name, n in (("First", 1), ("Second", 2)))
    source += """contract Twins {
        address[] public made;
        constructor() {
            for (uint256 i = 3; i < 7; i++)
                made.push(i % 2 == 1 ? address(new First(i)) : address(new Second(i)));
        }
    }"""
    standard = standard_input({PATH: source}, metadata={"bytecodeHash": "none"})
    factory = explorer.deploy(compiled(VERSION, standard, PATH, "Twins").creation)
    answer = explorer.verify(factory, standard, VERSION, contractName=f"{PATH}:Twins").json
    assert (answer["match"], answer["creationMatch"]) == ("partial", "partial"), answer
    calls = [{"to": factory, "data": calldata("made(uint256)", n)} for n in range(4)]
    children = [f"0x{explorer.anvil.call('eth_call', c, 'latest')[-40:]}" for c in calls]

    def shown():
        records = [record(explorer, child) for child in children]
        return [(r.get("contractName"), r.get("creationMatch")) for r in records]

    expected = [("First", "partial"), ("Second", "partial")] * 2
    serving.wait_until(lambda: shown() == expected)
    jobs = [job for child in children for job in jobs_of(explorer, child)]
    assert jobs == ["partial"] * 2  # the others have the creation code of one of these


def test_a_factory_has_a_bounded_number_of_children_compiled(explorer, project):
    own = {project.make(12), project.address(project.factory, "inner()")}
    project.verify()
    services = explorer.app.extensions["scan"]
    jobs = Mock(spec=VerificationJobs)
    creations = services.verifier.creations
    children = factory_children.FactoryChildren(services.writes, creations, jobs, max_of_factory=1)
    for _ in range(3):
        children.step()
    submitted = [call.args[0]["address"] for call in jobs.submit.call_args_list]
    assert len([address for address in submitted if address in own]) == 1


def test_code_or_a_constructor_of_other_sources_verifies_nothing(explorer, project):
    project.verify()
    arguments = encode(["uint256", "string"], [1, ""]).hex()
    foreign = project.create(Project(explorer).code("Child").creation + arguments)
    code = project.code("Child").runtime  # of the sources, as its creation is not
    created = project.create(f"60ff60005561{len(code) // 2:04x}8060116000396000f3{code}")
    assert explorer.anvil.call("eth_getCode", created, "latest") == f"0x{code}"
    look(explorer)
    assert (jobs_of(explorer, foreign), record(explorer, foreign)) == ([], {})
    assert jobs_of(explorer, created) == ["runtime"]
    page = explorer.client.get(f"/address/{created}?tab=contract").text
    assert "runtime code only" in page and "source verified" not in page
