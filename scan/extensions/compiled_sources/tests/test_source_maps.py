"""Lines and functions of sources, by source maps that may be of any text."""

from pathlib import Path

import pytest

from scan.extensions.compiled_sources import source_maps
from scan.extensions.compiled_sources.refusing_statements import PANICS, ContractText
from scan.extensions.compiled_sources.source_maps import SourceText, Span

pytestmark = pytest.mark.check

SOURCE = Path(__file__).with_name("Functions.sol").read_text()
VYPER = Path(__file__).with_name("functions.vy").read_text()


def span_of(text, source=SOURCE):
    assert source.count(text) == 1
    encoding = "latin-1" if source == VYPER else "utf-8"  # Vyper counts characters
    before = source[: source.index(text)]
    return Span(len(before.encode(encoding)), len(text.encode(encoding)), 0)


NESTED = Path(__file__).with_name("Nested.sol").read_text()


@pytest.mark.parametrize(
    ("source", "text", "function"),
    [
        (SOURCE, "require(msg", "only"),
        (SOURCE, "return a + 1", "outer"),
        (SOURCE, "only returns", "outer"),
        (SOURCE, "external virtual", "declared"),
        (SOURCE, 'revert("no")', "receive"),
        (SOURCE, "uint last", None),
        (NESTED, "assembly", "outer"),
        (NESTED, "function inside", "inside"),
        (NESTED, "one := 1", "inside"),
        (NESTED, "uint after", None),
        (VYPER, "assert a", "first"),
        (VYPER, 'raise "no"', "_second"),
    ],
)
def test_the_function_around_a_place(source, text, function):
    line = SourceText(source, is_vyper=source == VYPER).line_at(span_of(text, source))
    assert line.function == function
    own = source.split("\n")[line.line - 1]
    assert line.text == own.strip()
    assert own[line.column - 1 :].startswith(text)


@pytest.mark.parametrize("start", [-1, 10**9])
def test_a_place_outside_of_the_file(start):
    assert SourceText(SOURCE, is_vyper=False).line_at(Span(start, 1, 0)) is None


def test_a_long_line_is_cut():
    line = SourceText("x" * 10_000, is_vyper=False).line_at(Span(5, 1, 0))
    assert len(line.text) == len(line.context[0][1]) == source_maps.MAX_LINE


def test_entries_leave_out_what_does_not_change():
    # PUSH1 0, JUMPDEST, STOP
    code = bytes.fromhex("60005b00")
    spans = source_maps.spans_at(code, "1:2:0:-;:9;3::1:i")
    assert spans == {0: Span(1, 2, 0), 2: Span(1, 9, 0), 3: Span(3, 9, 1)}
    assert source_maps.spans_at(code, "1:2:0:-") == {0: Span(1, 2, 0)}


@pytest.mark.parametrize(
    "source_map", ["", "x", "1:y", ";;;", "1:2:3:4:5:6", "9" * 10_000, ":" * 10_000, "1:2:é"]
)
def test_a_malformed_map_says_nothing_or_something_wrong(source_map):
    assert len(source_maps.spans_at(bytes(10), source_map)) <= 10


def test_a_stored_map_is_bounded():
    assert source_maps.unpacked(source_maps.packed("1:2:0;") or b"") == "1:2:0;"
    assert source_maps.packed("") is None
    assert source_maps.packed("1:2:0;" * 10**6) is None


@pytest.mark.parametrize(
    "source", ["{" * 100_000, "}" * 100_000, "function " * 50_000, '"' * 100_000, "/* " * 100_000]
)
def test_hostile_sources_take_no_time(source):
    assert SourceText(source, is_vyper=False).line_at(Span(50_000, 1, 0)) is not None


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("// a\rfunction f() { revert(); }", id="a carriage return"),
        pytest.param("// a\ffunction f() { revert(); }", id="a form feed"),
        pytest.param("// ä\u2028function f() { revert(); }", id="a line separator"),
        pytest.param('string s = "a\nfunction f() { revert(); }', id="a text that does not end"),
    ],
)
def test_comments_end_where_the_compiler_ends_them(source):
    assert SourceText(source, is_vyper=False).function_at(span_of("revert", source)).name == "f"


def test_the_words_of_statements_that_refuse():
    source = """function f() {
        require(a > b(1, 2), "a // text"); // require(a, "comment");
        if (c) revert("b"); else revert Lib.Bad(1, "x");
        require(d, Bad()); require(e); revert(); assert(g);
        require(h, string(i)); require(j, WHY); revert(k(1));
        assembly { revert(0, 0) revert(28, 4) revert(add(r, 32), mload(r)) }
        string memory s = "revert('no')";
    }
    error Bad(); string constant WHY = "why";"""
    words = [b'"a // text"', b'"b"', b"Bad(", b"Bad(", b"", b"", b"assert", None, b'"why"', None]
    refusals = ContractText({0: SourceText(source, is_vyper=False)}).refusals(["f"])
    assert [r.words for r in refusals] == [*words, b"", None, None]
    assert [r.is_stored for r in refusals[-3:]] == [True, True, False]


@pytest.mark.parametrize(
    ("name", "run"),
    {
        "f": "f plus d a g b",
        "c": "c plus d",
        "none": "",
        "constructor": "constructor plus d",
    }.items(),
)
def test_the_functions_that_a_call_may_run(name, run):
    source = """using {plus as +} for Price global;
    function f() { a(); g; } function a() { b(); /* c(); */ } function b() {}
    function c() { d(); } function d() {} function plus() { d(); } function g() {}
    constructor() {}"""
    text = ContractText({0: SourceText(source, is_vyper=False)})
    assert {*text.run_by([name])} == {*run.split()}


@pytest.mark.parametrize(
    "repeated", ('\\"', '"', "'\\'", "function ", "// \u2028", "/*", "function f()", "constructor ")
)
def test_a_hostile_file_is_read_in_one_pass(repeated):
    """Otherwise one of these takes hours, and the test does not end."""
    source = (
        f"// \r /* \n{repeated * (1_000_000 // len(repeated))}\n*/ function f() {{ revert(); }}"
    )
    assert SourceText(source, is_vyper=False).line_at(span_of("revert", source)) is not None


@pytest.mark.parametrize(
    "repeated", "require(|revert a(|error |a as |constant a = |function f(){f(g|+|a[".split("|")
)
def test_hostile_statements_are_read_in_one_pass(repeated):
    source = f"function f() {{ {repeated * (1_000_000 // len(repeated))} }}"
    text = ContractText({0: SourceText(source, is_vyper=False)})
    run = text.run_by(["f"])
    assert text.refusals(run) == []
    assert not text.statements(run, PANICS[0x11]) and not text.statements(run, PANICS[0x32])
