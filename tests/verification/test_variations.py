"""Sources and settings that are not quite what the tool compiled: ends of lines, a byte order mark,
metadata settings; and constructor data that is not encoded as compilers do it."""

import json
from pathlib import Path

import pytest
from eth_utils.crypto import keccak

from scan.errors import InvalidParameter
from scan.json_bodies import json_object
from scan.verification.languages.solidity import accepted_settings
from scan.verification.metadata_request import request_of
from scan.verification.request import parse
from tests.support.explorer import compiled, standard_input

VERSION = "0.8.28"
ON = {"enabled": True, "runs": 200}
PATH = "src/Kept.sol"
SOURCE = Path(__file__).with_name("Kept.sol").read_text()
BASE = Path(__file__).with_name("Base.sol").read_text()
MARK = "\ufeff"
FORMS = {
    "LF": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no last newline": lambda text: text.rstrip(),
    "CRLF without the last": lambda text: text.rstrip().replace("\n", "\r\n"),
    "marked": lambda text: MARK + text,
    "marked CRLF": lambda text: MARK + text.replace("\n", "\r\n"),
}
NAME = "20".zfill(64) + "03".zfill(64) + b"abc".hex().ljust(64, "0")


def files(form):
    return {PATH: FORMS[form](SOURCE), "src/Base.sol": FORMS[form](BASE)}


def deployed(explorer, form="LF", **settings):
    standard = standard_input(files(form), optimizer=ON, **settings)
    return explorer.deploy(compiled(VERSION, standard, PATH, "Kept").creation, NAME)


@pytest.mark.parametrize(
    "compiled_form",
    ["LF", *(pytest.param(f, marks=pytest.mark.thorough) for f in ("CRLF", "no last newline"))],
)
def test_a_source_as_another_tool_writes_it_matches_in_full(explorer, compiled_form):
    """The record has the file that was compiled, and the message says how it differs."""
    for form in FORMS:
        address = deployed(explorer, compiled_form)
        standard = standard_input(files(form), optimizer=ON)
        answer = explorer.verify(address, standard, VERSION, contractName="Kept")
        assert (answer.status_code, answer.json["match"]) == (200, "full"), (form, answer.json)
        assert answer.json["creationMatch"] == "full"
        stored = explorer.contract(address).json["sources"]
        assert {path: file["content"] for path, file in stored.items()} == files(compiled_form)
        says = "The sources fit with" in answer.json["message"]
        assert says == (form != compiled_form), answer.json["message"]


@pytest.mark.check
def test_metadata_takes_sources_in_all_variations():
    """Those that Sourcify takes, too: another end of the last line alone, and one more of them."""
    settings = {"compilationTarget": {PATH: "Kept"}}
    metadata = {"compiler": {"version": VERSION}, "language": "Solidity", "settings": settings}
    texts = [FORMS[form](BASE) for form in ("LF", "CRLF", "no last newline")]
    texts += [f"{BASE}\r\n", f"{FORMS['CRLF'](BASE)}\n", BASE.rstrip() + "\r\n"]
    for text in texts:
        listed = {PATH: {"keccak256": f"0x{keccak(text.encode()).hex()}"}}
        has_two_newlines = len(text.rstrip()) + 2 < len(text)  # the second is added to a first
        forms = [f for f in FORMS.values() if f(BASE).endswith("\n") or not has_two_newlines]
        assert len(forms) >= 2
        for form in forms:
            body = request_of(f"0x{1:040x}", {**metadata, "sources": listed}, {"x": form(BASE)})
            assert parse(body).sources == {PATH: text}
        with pytest.raises(InvalidParameter, match="no source matches"):
            changed = {"x": BASE.replace("kept", "left")}
            request_of(f"0x{1:040x}", {**metadata, "sources": listed}, changed)


@pytest.mark.check
@pytest.mark.parametrize("wrap", ["%s", "{%s}", "\r\n%s"])
def test_a_byte_order_mark_before_json_is_ignored(wrap):
    standard = wrap % json.dumps(standard_input({PATH: BASE}))
    body = {"address": f"0x{1:040x}", "compilerVersion": VERSION, "sourceCode": MARK + standard}
    assert parse(body).sources == {PATH: BASE}
    assert json_object((MARK + json.dumps(body)).encode()) == body


IPFS = {"bytecodeHash": "ipfs"}  # which the compiler's metadata names where nothing is set
BZZR1, NONE = {"bytecodeHash": "bzzr1"}, {"bytecodeHash": "none"}
NO_CBOR = {"bytecodeHash": "none", "appendCBOR": False}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("own", "sent", "level"),
    [
        *(({}, sent, "full") for sent in ({}, IPFS, BZZR1, NO_CBOR)),
        *((BZZR1, sent, "full") for sent in ({}, BZZR1, NONE)),
        *((NONE, sent, "partial") for sent in ({}, NONE, NO_CBOR)),
        *((NO_CBOR, sent, "partial") for sent in (IPFS, NONE, NO_CBOR)),
    ],
)
def test_metadata_settings_that_the_code_does_not_have_are_replaced_by_its_own(
    explorer, own, sent, level
):
    """Tools send their own: forge names ipfs, whatever a contract was compiled with."""
    address = deployed(explorer, metadata=own)
    standard = standard_input(files("LF"), optimizer=ON, metadata=sent)
    answer = explorer.verify(address, standard, VERSION, contractName=f"{PATH}:Kept")
    assert (answer.status_code, answer.json["match"]) == (200, level), answer.json
    assert explorer.contract(address).json["settings"]["metadata"] == (own or IPFS)
    says = "settings.metadata is" in answer.json["message"]
    assert says == ((own or IPFS) != (sent or IPFS)), answer.json["message"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("path", "name", "data"),
    [
        *(
            pytest.param(PATH, "Kept", data, id=name)
            for name, data in {
                "trailing": NAME + "ff" * 32,
                "gapped": "40".zfill(64) + "00" * 32 + NAME[64:],
                "unpadded": NAME[: 2 * 64 + 6],
                "odd": NAME + "c0ffee",
            }.items()
        ),
        # Data that are missing only a constructor without arguments accepts.
        pytest.param("src/Base.sol", "Base", "00", id="missing"),
    ],
)
def test_constructor_data_that_is_not_encoded_by_the_rules_is_said(explorer, path, name, data):
    """The creation code is equal; which arguments the constructor read is not stated."""
    standard = standard_input(files("LF"), optimizer=ON)
    address = explorer.deploy(compiled(VERSION, standard, path, name).creation, data)
    answer = explorer.verify(address, standard, VERSION, contractName=f"{path}:{name}")
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
    assert (answer.json["creationMatch"], answer.json["constructorArguments"]) == (None, None)
    assert f"the {len(data) // 2} bytes after it are not the encoding" in answer.json["message"]


@pytest.mark.thorough
@pytest.mark.check
def test_metadata_settings_that_a_release_refuses_are_left_out():
    """Tools name them for every release, where they say how it behaves anyway."""
    metadata = {"bytecodeHash": "ipfs", "appendCBOR": True, "useLiteralContent": True}
    for version, count in (((0, 5, 17), 1), ((0, 6, 0), 2), ((0, 8, 17), 2), ((0, 8, 18), 3)):
        result = accepted_settings({"metadata": metadata}, version)["metadata"]
        assert len(result) == count and result.items() <= metadata.items()
