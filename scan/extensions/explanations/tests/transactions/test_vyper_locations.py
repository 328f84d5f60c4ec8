"""The line of a Vyper source in which a call failed, by releases with several forms of maps."""

from pathlib import Path

import pytest

from scan.extensions.compiled_sources.refusing_statements import ContractText
from scan.extensions.compiled_sources.source_maps import SourceText, Span
from tests.support import anvil, solidity
from tests.support.vyper import NEWEST

PATH = "Failing.vy"
SOURCE = Path(__file__).with_name("failing.vy").read_text()

OLDER = [pytest.param(version, marks=pytest.mark.long) for version in ("0.4.0", "0.3.10", "0.3.1")]


@pytest.fixture(scope="module", params=["0.4.3", "0.4.3 small", *OLDER])
def failing(request, explorer, vyper):
    """The address of a contract of this release."""
    version, *small = request.param.split()
    source = SOURCE
    if version.startswith("0.4"):
        source = source.replace("5 / (n", "5 // (n")
    elif version < "0.3.4":
        source = source.replace("max_value(uint256)", "MAX_UINT256")
    if small:
        source += "\n#pragma optimize codesize\n@external\n@payable\ndef __default__():\n    pass\n"
    return vyper.verified(explorer, version, source, f"{PATH}:Failing")


@pytest.mark.parametrize(
    "name", ("check", "plain", "raised", "sum_of", "divide", "element", "inside", "several")
)
def test_the_line_of_each_kind_of_failure(explorer, failing, name):
    call = anvil.calldata(f"{name}(uint256)", 2)
    location = explorer.transact(failing, call, gas=200_000)["error"]["location"]
    expected = (PATH, solidity.marked_line(SOURCE, f"# fails: {name}"))
    assert (location["file"], location["line"]) == expected
    assert location["function"] == ("_inside" if name == "inside" else name)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "unknown"),
    [
        pytest.param({}, "eighteen", id="default"),
        pytest.param({"optimize": "none"}, "thirteen eighteen twentysix", id="none"),
        pytest.param({"optimize": "codesize"}, "eighteen", id="codesize"),
    ],
)
def test_no_line_of_many_refusals_is_that_of_another(explorer, vyper, settings, unknown):
    """Where the map has the place of another use of a variable, or of a whole loop, only the
    function is said."""
    many = Path(__file__).with_name("many_refusals")
    files = {str(f.relative_to(many)): f.read_text() for f in many.rglob("*.vy")}
    sources = {path: {"content": text} for path, text in files.items()}
    standard = {"language": "Vyper", "sources": sources, "settings": settings}
    address = explorer.deploy(vyper.creation(NEWEST, "Main.vy", standard))
    answered = explorer.verify(address, standard, NEWEST).json
    assert answered["match"] == "full", answered
    # The texts at the ends of the lines in which f(0), f(1), ... fail.
    refusals = """
        "zero" "one" #two "three" #four #five #six #seven #eight #nine "ten" "eleven" "twelve"
        #thirteen #fourteen #fifteen #sixteen #seventeen #eighteen "nineteen" #twenty "own"
        #twentytwo #twentythree #twentyfour #twentyfive #twentysix "twentyseven"
    """
    located, expected = {}, {}
    for n, words in enumerate(refusals.split()):
        who = "0x" + 40 * "1" if n < 14 else address
        call = anvil.calldata("f(uint256,address,int256)", n, who, -1)
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


def test_a_text_is_looked_for_in_statements_that_refuse():
    """Not in comments, nor in the text of the documentation."""
    source = '''"""
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
    text = SourceText(source, is_vyper=True)
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
