"""The line in which the creation of a contract failed, which left no contract: by the source of
another one that the same code has created."""

from collections import namedtuple
from functools import partial
from pathlib import Path

import pytest

from scan.extensions.explanations.tests.transactions.ways import WAYS
from tests.support.anvil import calldata
from tests.support.explorer import compiled, linked, standard_input
from tests.support.solidity import marked_line

VERSION = "0.8.28"
PATH = "src/Created.sol"
SOURCE = Path(__file__).with_name("FailingCreations.sol").read_text()
TEXT = "a text of more than thirty-two bytes, which take two words"


class Deployed(namedtuple("Deployed", "explorer creation factory")):
    """`creation` is the code of Created."""

    def transact(self, to, data):
        return self.explorer.transact(to, data, gas=1_400_000)

    def location(self, to, data):
        """Of the failure of a transaction."""
        return self.transact(to, data)["error"]["location"]

    def created(self, number, text=TEXT):
        return f"0x{self.creation}{arguments(number, text)}"


def arguments(number, text):
    words = text.encode().hex()
    words += "0" * (-len(words) % 64)
    return f"{number:064x}{64:064x}{len(text):064x}{words}"


line_of = partial(marked_line, SOURCE)


def deploy(explorer, name, arguments="", library="0x"):
    standard = standard_input({PATH: SOURCE}, **WAYS["plain"], evmVersion="cancun")
    creation = linked(compiled(VERSION, standard, PATH, name).creation, library)
    verified = explorer.verified(standard, VERSION, f"{PATH}:{name}", arguments, creation)
    return creation, verified


@pytest.fixture(scope="module")
def deployed(explorer):
    _, library = deploy(explorer, "Maths")
    creation, _ = deploy(explorer, "Created", arguments(10, "a"))
    deploy(explorer, "Child", f"{8:064x}", library)
    _, factory = deploy(explorer, "Factory", "", library)
    return Deployed(explorer, creation, factory)


FAILURES = {
    "text": (1, "fails: text", "constructor"),
    "division by zero": (2, "fails: divided", "constructor"),
    "of a parent": (2000, "fails: parent", "constructor"),
    "in a function": (3, "fails: function", "checkNot"),
    "a call of itself, which has no code": (4, "fails: no code", "constructor"),
    "code that is not accepted": (5, "return(31, 1) }", "constructor"),
}


@pytest.mark.parametrize(("number", "mark", "function"), FAILURES.values(), ids=FAILURES)
def test_the_line_where_a_creation_failed(deployed, number, mark, function):
    location = deployed.location(None, deployed.created(number))
    assert location["file"] == PATH
    assert (location["line"], location["function"]) == (line_of(mark), function)
    verified = deployed.explorer.contract(location["address"]).json
    assert verified["contractName"] == "Created"  # by the same code


def test_a_creation_by_a_factory(deployed):
    error = deployed.transact(deployed.factory, calldata("create(uint256)", 6))["error"]
    assert error["location"]["line"] == line_of("fails: child")
    verified = deployed.explorer.contract(error["location"]["address"]).json
    assert verified["contractName"] == "Child"
    assert error["reverting"]["type"] == "CREATE"


def test_a_creation_that_failed_inside_of_a_transaction_that_did_not(deployed):
    sent = deployed.explorer.send(deployed.factory, calldata("tryIt(uint256)", 6), gas=1_400_000)
    own, child, _ = deployed.explorer.frames(sent)
    assert own["error"] is None
    assert child["error"]["location"]["line"] == line_of("fails: child")


def test_of_versions_that_differ_in_comments_the_line_is_of_the_one_that_was_created(explorer):
    """An edit, a deployment, a failure: the hash of metadata says which version it was."""
    creations = []
    for comment in ("", "// A comment.\n", "// Another.\n\n"):
        standard = standard_input({PATH: comment + SOURCE}, evmVersion="cancun")
        creations.append(compiled(VERSION, standard, PATH, "Created").creation)
        explorer.verified(standard, VERSION, f"{PATH}:Created", arguments(10, "a"), creations[-1])
    lines = []
    for creation in creations:
        code = f"0x{creation}{arguments(1, TEXT)}"
        error = explorer.transact(None, code, gas=1_400_000)["error"]
        lines.append(error["location"]["line"] - line_of("fails: text"))
    assert lines == [0, 1, 2]


@pytest.mark.parametrize("data", ["0xfe", "0x60006000fd"])
def test_creations_by_no_known_code_have_no_line(deployed, data):
    error = deployed.transact(None, data)["error"]
    assert error is not None and error["location"] is None
