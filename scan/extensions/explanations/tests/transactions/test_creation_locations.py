"""The line in which the creation of a contract failed, which left no contract: by the source of
another one that the same code has created."""

from functools import partial
from pathlib import Path

import pytest

from scan.extensions.explanations.tests.transactions.ways import WAYS
from tests.support import anvil, solidity
from tests.support.explorer import compiled, linked, standard_input

VERSION = "0.8.28"
PATH = "src/Created.sol"
SOURCE = Path(__file__).with_name("FailingCreations.sol").read_text()


def arguments(number, text="a text of more than thirty-two bytes, which take two words"):
    words = text.encode().hex()
    words += "0" * (-len(words) % 64)
    return f"{number:064x}{64:064x}{len(text):064x}{words}"


line_of = partial(solidity.marked_line, SOURCE)


def deploy(explorer, name, arguments="", library="0x"):
    standard = standard_input({PATH: SOURCE}, **WAYS["plain"], evmVersion="cancun")
    creation = linked(compiled(VERSION, standard, PATH, name).creation, library)
    verified = explorer.verified(standard, VERSION, f"{PATH}:{name}", arguments, creation)
    return creation, verified


@pytest.fixture(scope="module")
def deployed(explorer):
    """The creation code of Created, and the address of a factory."""
    _, library = deploy(explorer, "Maths")
    creation, _ = deploy(explorer, "Created", arguments(10, "a"))
    deploy(explorer, "Child", f"{8:064x}", library)
    _, factory = deploy(explorer, "Factory", "", library)
    return creation, factory


@pytest.mark.parametrize(
    ("number", "mark", "function"),
    [
        pytest.param(1, "fails: text", "constructor", id="text"),
        pytest.param(2, "fails: divided", "constructor", id="division by zero"),
        pytest.param(2000, "fails: parent", "constructor", id="of a parent"),
        pytest.param(3, "fails: function", "checkNot", id="in a function"),
        pytest.param(4, "fails: no code", "constructor", id="a call of itself, which has no code"),
        pytest.param(5, "return(31, 1) }", "constructor", id="code that is not accepted"),
    ],
)
def test_the_line_where_a_creation_failed(explorer, deployed, number, mark, function):
    data = f"0x{deployed[0]}{arguments(number)}"
    location = explorer.transact(None, data, gas=1_400_000)["error"]["location"]
    assert location["file"] == PATH
    assert (location["line"], location["function"]) == (line_of(mark), function)
    verified = explorer.contract(location["address"]).json
    assert verified["contractName"] == "Created"  # by the same code


def test_a_creation_by_a_factory(explorer, deployed):
    _, factory = deployed
    data = anvil.calldata("create(uint256)", 6)
    error = explorer.transact(factory, data, gas=1_400_000)["error"]
    assert error["location"]["line"] == line_of("fails: child")
    verified = explorer.contract(error["location"]["address"]).json
    assert verified["contractName"] == "Child"
    assert error["reverting"]["type"] == "CREATE"


def test_a_creation_that_failed_inside_of_a_transaction_that_did_not(explorer, deployed):
    _, factory = deployed
    sent = explorer.send(factory, anvil.calldata("tryIt(uint256)", 6), gas=1_400_000)
    own, child, _ = explorer.frames(sent)
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
        code = f"0x{creation}{arguments(1)}"
        error = explorer.transact(None, code, gas=1_400_000)["error"]
        lines.append(error["location"]["line"] - line_of("fails: text"))
    assert lines == [0, 1, 2]


@pytest.mark.parametrize("data", ["0xfe", "0x60006000fd"])
def test_creations_by_no_known_code_have_no_line(explorer, deployed, data):
    error = explorer.transact(None, data, gas=1_400_000)["error"]
    assert error is not None and error["location"] is None
