"""The line of a Vyper source in which a call failed, by releases with several forms of maps."""

from collections import namedtuple
from pathlib import Path

import pytest
from eth_abi.abi import encode

from scan.extensions.compiled_sources.refusing_statements import ContractText
from scan.extensions.compiled_sources.source_maps import SourceText, Span
from tests.support.anvil import calldata
from tests.support.solidity import marked_line
from tests.support.vyper import NEWEST, SOURCES

PATH = "Failing.vy"
SOURCE = Path(__file__).with_name("failing.vy").read_text()
SMALL = """
#pragma optimize codesize
@external
@payable
def __default__():
    pass
"""
FUNCTIONS = ("check", "plain", "raised", "sum_of", "divide", "element", "inside", "several")


Deployed = namedtuple("Deployed", "explorer address")


def source_for(version):
    if version.startswith("0.4"):
        return SOURCE.replace("5 / (n", "5 // (n")
    return SOURCE.replace("max_value(uint256)", "MAX_UINT256") if version < "0.3.4" else SOURCE


OLDER = ("0.4.0", "0.3.10", "0.3.1")
RELEASES = [
    "0.4.3",
    "0.4.3 small",
    *(pytest.param(release, marks=pytest.mark.long) for release in OLDER),
]


@pytest.fixture(scope="module", params=RELEASES)
def failing(request, explorer, vyper):
    version, *small = request.param.split()
    source = source_for(version) + (SMALL if small else "")
    return Deployed(explorer, vyper.verified(explorer, version, source, f"{PATH}:Failing"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_line_of_each_kind_of_failure(failing, name):
    call = calldata(f"{name}(uint256)", 2)
    location = failing.explorer.transact(failing.address, call, gas=200_000)["error"]["location"]
    expected = (PATH, marked_line(SOURCE, f"# fails: {name}"))
    assert (location["file"], location["line"]) == expected
    assert location["function"] == ("_inside" if name == "inside" else name)


WHO = "0x" + 40 * "1"
OF_MODULES = [
    ("transfer(address,uint256)", (WHO, 101), "lib/tokens/base.vy", '"poor"', "transfer"),
    ("give(address)", (WHO,), "lib/owned.vy", '"not owner"', "give"),
    ("open(int96,string)", (11, ""), "lib/maths.vy", '"eleven"', "check"),
    ("open(int96,string)", (3, ""), "Vault.vy", '"three"', "open"),
    ("boom(uint256,int128)", (1, 0), "lib/maths.vy", "10 // (n - 1)", "half"),
]


@pytest.fixture(scope="module")
def vault(explorer, vyper):
    """A contract of several modules, which another account owns."""
    folder = SOURCES / "vault"
    files = {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*.vy*")}
    settings = {"enable_decimals": True, "outputSelection": {"Vault.vy": ["*"]}}
    arguments = encode(["uint256", "string[]"], [9, []]).hex()
    address, _ = vyper.verified_files(explorer, NEWEST, "Vault.vy", files, arguments, **settings)
    explorer.send(address, calldata("give(address)", "0x" + 40 * "2"))
    return Deployed(explorer, address), files


@pytest.mark.parametrize(("function", "arguments", "path", "text", "inside"), OF_MODULES)
def test_the_line_of_a_module(vault, function, arguments, path, text, inside):
    deployed, files = vault
    call = calldata(function, *arguments)
    record = deployed.explorer.transact(deployed.address, call, gas=500_000)
    location = record["error"]["location"]
    [line] = [n for n, of in enumerate(files[path].split("\n"), 1) if text in of]
    assert (location["file"], location["line"], location["function"]) == (path, line, inside)


def test_structs_of_modules_in_the_storage(vault):
    deployed, _ = vault
    deployed.explorer.send(deployed.address, calldata("open(int96,string)", 5, "note"), gas=900_000)
    path = f"/api/v1/contracts/{deployed.address}/storage"
    owner = deployed.explorer.anvil.accounts[0].lower()
    query = {"variable": f"positions[{owner}]"}
    variables = deployed.explorer.client.get(path, query_string=query).json["variables"]
    values = {variable["name"].partition("]")[2]: variable["value"] for variable in variables}
    assert (values["[0].size"], values["[0].who"], values["[0].note"]) == ("5", owner, "note")


MODULE = """# of a module
kept: uint256

@internal
def put(n: uint256):
    assert n != 1, "one"
    self.kept = n + 2
"""
OVER_MODULE = Path(__file__).with_name("over_module.vy").read_text()
OLD_MODULES = [(f"\n{MODULE}", "lib/base.vy", 6, "put"), (MODULE, "A.vy", None, "run")]


@pytest.mark.thorough
@pytest.mark.parametrize(("other", "path", "line", "function"), OLD_MODULES)
def test_a_module_of_a_release_that_does_not_name_it_is_the_only_source_with_its_places(
    explorer, vyper, other, path, line, function
):
    """Of two sources that are alike neither is, and the function that called it is said instead."""
    files = {"lib/base.vy": MODULE, "A.vy": OVER_MODULE, "lib/other.vy": other}
    selection = {"A.vy": ["*"]}
    address, _ = vyper.verified_files(explorer, "0.4.0", "A.vy", files, outputSelection=selection)
    located = [
        explorer.transact(address, calldata("run(uint256)", n), gas=200_000)["error"]["location"]
        for n in (1, 2)
    ]
    in_module, own = located
    assert (own["file"], own["line"], own["function"]) == ("A.vy", 7, "_own")
    assert [in_module[key] for key in ("file", "line", "function")] == [path, line, function]


# The texts at the ends of the lines in which f(0), f(1), ... fail.
REFUSALS = """
    "zero" "one" #two "three" #four #five #six #seven #eight #nine "ten" "eleven" "twelve" #thirteen
    #fourteen #fifteen #sixteen #seventeen #eighteen "nineteen" #twenty "own" #twentytwo
    #twentythree #twentyfour #twentyfive #twentysix "twentyseven"
""".split()
BY_SETTINGS = {
    "default": ({}, "eighteen"),
    "none": ({"optimize": "none"}, "thirteen eighteen twentysix"),
    "codesize": ({"optimize": "codesize"}, "eighteen"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BY_SETTINGS)
def test_no_line_of_many_refusals_is_that_of_another(explorer, vyper, name):
    """Where the map has the place of another use of a variable, or of a whole loop, only the
    function is said."""
    many = Path(__file__).with_name("many_refusals")
    settings, unknown = BY_SETTINGS[name]
    files = {str(f.relative_to(many)): f.read_text() for f in many.rglob("*.vy")}
    address, answered = vyper.verified_files(explorer, NEWEST, "Main.vy", files, **settings)
    assert answered["match"] == "full", answered
    located, expected = {}, {}
    for n, words in enumerate(REFUSALS):
        who = WHO if n < 14 else address
        call = calldata("f(uint256,address,int256)", n, who, -1)
        location = explorer.transact(address, call, gas=2_000_000)["error"]["location"]
        located[words] = location["file"], location["line"]
        [expected[words]] = [
            (path, number)
            for path, text in files.items()
            for number, line in enumerate(text.split("\n"), 1)
            if line.endswith(words)
        ]
    without = {words for words, (_, line) in located.items() if line is None}
    assert {words.strip('"#') for words in without} == {*unknown.split()}
    with_line = located.keys() - without
    assert {w: located[w] for w in with_line} == {w: expected[w] for w in with_line}


REFUSING = '''"""
assert n != 0, "zero"
"""
@external
def f(n: uint256):
    # raise "zero"
    x: String[9] = "zero"
    assert (
        n != 0  # "other"
    ), "zero"
    if n == 1: raise "one"
'''


def test_a_text_is_looked_for_in_statements_that_refuse():
    """Not in comments, nor in the text of the documentation."""
    text = SourceText(REFUSING, is_vyper=True)
    refusals = ContractText({0: text}).refusals([function.name for function in text.functions])
    assert [(text.line_number(r.span), r.words) for r in refusals] == [
        (8, b'"zero"'),
        (11, b'"one"'),
    ]


@pytest.mark.parametrize("repeated", ['\\"', '"""x', "'", "assert(\n", "[", "a:", "if "])
def test_a_hostile_source_of_vyper_is_searched_once(repeated):
    """Of 1 MiB; a search that begins anew at each mark does not end."""
    text = SourceText('"' + repeated * (2**20 // len(repeated)), is_vyper=True)
    assert ContractText({0: text}).refusals(["f"]) == []
    assert text.may_refuse(Span(0, 2**20, 0)) in (True, False)
