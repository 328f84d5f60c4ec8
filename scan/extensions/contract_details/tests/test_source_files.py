"""Sources as pages show them: in colours, in part, searched; hostile ones in bounded time."""

import json
import re

import pytest

from scan.extensions.contract_details import source_files
from scan.extensions.contract_details.source_files import Shown, shown_files
from scan.extensions.contract_details.source_highlighting import MAX_HIGHLIGHTED, highlighted_lines

pytestmark = pytest.mark.check


def test_a_source_has_its_colours():
    source = """// A <comment> \\
pragma solidity ^0.8.20;
contract A { /* of
  two lines */ string s = "\\""; uint256 y = 0x1f + 2 ether; }"""
    assert [*highlighted_lines(source)] == [
        "<i class=c>// A &lt;comment&gt; \\</i>",
        "<i class=k>pragma solidity</i> ^0.8.20;",
        "<i class=k>contract</i> A { <i class=c>/* of</i>",
        "<i class=c>  two lines */</i> <i class=k>string</i> s = "
        "<i class=s>&quot;\\&quot;&quot;</i>; <i class=k>uint256</i> y = "
        "<i class=s>0x1f</i> + <i class=s>2</i> <i class=k>ether</i>; }",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["Solidity", "Vyper", "Yul"])
@pytest.mark.parametrize(
    "part",
    [
        *(
            r"""/~'''~@~#~@a~object ~//*~/* ~*/~//\~"~\"~'\~a{~1 ~1_~0x~uint~uint ~ ~</i>~msg.~&"""
        ).split("~"),
        "pragma solidity ",
        "pragma solidity^",
        "\n",
        "\x00",
        "\u4e2d",
    ],
)
def test_a_hostile_source_keeps_its_text_and_ends(part, language):
    """Pygments' own lexer takes minutes for as many slashes."""
    source = part * (20_000 // len(part))
    text = re.sub(r"</?i(?: class=[kcs])?>", "", "\n".join(highlighted_lines(source, language)))
    assert "<" not in text
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'")):
        text = text.replace(entity, character)
    assert text.replace("&amp;", "&") == source


def test_a_longer_source_has_no_colours():
    assert highlighted_lines("if (a < b)\n" * (MAX_HIGHLIGHTED // 11 + 1))[0] == "if (a &lt; b)"


FILES = json.dumps(
    {
        "src/Main.sol": {"content": "contract Main {}\n" + "uint a;\n" * 10_000},
        "lib/Other.sol": {"content": "library Other {\n<b>needle</b>\u202e\n}"},
    }
)


def test_a_first_page_has_what_its_weight_allows():
    files = shown_files(FILES, "src/Main.sol", None)
    main, other = files.files
    assert [file.path for file in files.shown] == ["src/Main.sol"] and not other.lines
    assert sum(map(len, main.lines)) < source_files.FIRST_PAGE_BYTES and main.line_count == 10_002
    alone = shown_files(FILES, "src/Main.sol", Shown(file="lib/Other.sol"))
    assert [file.anchor for file in alone.shown] == ["F2-"] and not alone.files[0].lines
    assert len(alone.shown[0].lines) == 3 and "[U+202E]" in alone.shown[0].lines[1]
    whole = shown_files(FILES, "src/Main.sol", Shown(file="src/Main.sol"))
    assert len(whole.shown[0].lines) == source_files.MAX_SHOWN_LINES


def test_a_text_is_found_in_every_file():
    files = shown_files(FILES, "src/Main.sol", Shown(find="NEEDLE"))
    [match] = files.matches
    assert (match.file.path, match.number, files.match_count) == ("lib/Other.sol", 2, 1)
    assert match.excerpt == "&lt;b&gt;<mark>needle</mark>&lt;/b&gt;[U+202E]"
    many = shown_files(FILES, "src/Main.sol", Shown(find="u"))
    assert (many.match_count, len(many.matches)) == (10_000, source_files.MAX_MATCHES)
    assert shown_files(FILES, "src/Main.sol", Shown(find="(a+)+$")).match_count == 0
