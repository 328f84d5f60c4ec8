"""Folders of descriptors: files that include each other, hostile ones, and the setting."""

import json
import logging
import os
import time

import pytest

from scan.errors import SettingError
from scan.extensions.clear_signing import descriptor_files, descriptor_formats
from scan.extensions.clear_signing.descriptor_files import MAX_FILE_BYTES, MAX_FOLDER_DEPTH
from scan.extensions.clear_signing.descriptors import Descriptors, StillReading
from scan.extensions.clear_signing.settings import Settings as OwnSettings
from scan.settings import Settings

pytestmark = pytest.mark.check

ADDRESS, SELECTOR = bytes.fromhex("aa" * 20), bytes.fromhex("a9059cbb")
DEPLOYED = {"contract": {"deployments": [{"chainId": 7, "address": "0x" + "Aa" * 20}]}}
TRANSFER = "transfer(address to,uint256 value)"
FIELD = {"path": "value", "label": "Amount"}
SHARING = {"path": "value", "$ref": "$.display.shared"}


def document(**format_):
    return of_formats({TRANSFER: format_})


def of_formats(formats, **display):
    return {"context": DEPLOYED, "display": {"formats": formats, **display}}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def known(folder, chain_id="7"):
    return Descriptors(folder).find(chain_id, ADDRESS, SELECTOR)


def test_many_fields_are_merged_in_a_moment(tmp_path, write):
    """In 2 s when each of them was compared with all."""
    for name in "ab":
        fields = [{"path": f"{name}{n}"} for n in range(12_000)]
        write(
            f"{name}.json",
            document(fields=fields) | ({"includes": "b.json"} if name == "a" else {}),
        )
    began = time.process_time()
    merged = descriptor_files.DescriptorFiles(tmp_path).read("a.json")
    assert len(merged["display"]["formats"][TRANSFER]["fields"]) == 24_000
    assert time.process_time() - began < 1


def test_a_file_describes_a_contract_of_its_chain_alone(tmp_path, write):
    write("a/b/token.json", document(intent="Send", fields=[FIELD]))
    write("readme.txt", "no descriptor")
    write("a/message.json", {"context": {"eip712": {}}, "display": {"formats": {"A(B c)": {}}}})
    descriptor = known(tmp_path)
    assert descriptor is not None and descriptor.file == "a/b/token.json"
    assert descriptor.formats[SELECTOR].intent == "Send"
    assert known(tmp_path, "1") is None
    assert Descriptors(tmp_path).find("7", ADDRESS, b"abcd") is None
    assert Descriptors(None).find("7", ADDRESS, SELECTOR) is None


def test_the_first_file_by_name_describes_a_function(tmp_path, write):
    for name in ("b", "a", "c"):
        write(f"{name}.json", document(intent=name))
    descriptor = known(tmp_path)
    assert descriptor is not None and descriptor.file == "a.json"


def test_the_files_are_read_once(tmp_path, write):
    path = write("a.json", document(intent="Send"))
    descriptors = Descriptors(tmp_path)
    assert descriptors.find("7", ADDRESS, SELECTOR) is not None
    path.unlink()
    assert descriptors.find("7", ADDRESS, SELECTOR) is not None


def test_who_comes_while_they_are_read_does_not_wait(tmp_path, write):
    write("a.json", document(intent="Send"))
    descriptors = Descriptors(tmp_path)
    with descriptors._listing, pytest.raises(StillReading):
        descriptors.find("7", ADDRESS, SELECTOR)
    assert descriptors.find("7", ADDRESS, SELECTOR) is not None


def test_a_file_goes_before_what_it_includes(tmp_path, write):
    shared = document(
        intent="Shared", fields=[FIELD, {"path": "to", "label": "To", "params": {"a": 1, "b": 1}}]
    )
    own = document(
        fields=[{"path": "to", "params": {"b": 2}}, {"path": "@.value", "label": "Coin"}]
    )
    del shared["context"]
    write("shared/erc20.json", shared)
    write("own/token.json", {**own, "includes": "../shared/erc20.json"})
    of_transfer = known(tmp_path).formats[SELECTOR]
    assert of_transfer.intent == "Shared"
    assert [f.label for f in of_transfer.fields] == ["Amount", "To", "Coin"]
    assert of_transfer.fields[1].params == {"a": 1, "b": 2}


OUTSIDE = [
    "../outside.json",
    "link.json",
    "linked/outside.json",
    "/etc/passwd",
    "https://example.org/a.json",
    "a.json",
    "none.json",
    ".",
    "",
    "x" * 100_000,
    7,
    None.__class__.__name__ + "\0",
]


@pytest.mark.parametrize("target", OUTSIDE)
def test_nothing_but_files_of_the_folder_is_included(tmp_path, write, target, caplog):
    folder = tmp_path / "folder"
    write("outside.json", document(intent="Outside"))
    write("folder/a.json", {**document(intent="Send"), "includes": target})
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "linked").symlink_to(tmp_path)
    assert known(folder) is None
    [message] = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert message.startswith("descriptors: a.json is left out: ") and len(message) < 200


def test_links_and_what_is_no_file_are_not_read(tmp_path, write):
    folder = tmp_path / "folder"
    folder.mkdir()
    write("outside.json", document(intent="Send"))
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    assert known(folder) is None


TOO_DEEP_GROUPS = FIELD
for _ in range(descriptor_formats.MAX_GROUPS + 1):
    TOO_DEEP_GROUPS = {"fields": [TOO_DEEP_GROUPS]}
DEEP = 200
HOSTILE = {
    "no JSON": "{",
    "an array": "[]",
    "levels": '{"a":' * DEEP + "1" + "}" * DEEP,
    "many values": json.dumps({"a": [0] * 40_000}),
    "a long number": '{"a":' + "9" * 5_000 + "}",
    "NaN": '{"a":NaN}',
    "the same key twice": '{"context":{},"context":{}}',
    "too large": json.dumps({**document(), "a": "x" * MAX_FILE_BYTES}),
    "deployments": {**document(), "context": {"contract": {"deployments": [DEPLOYED] * 3}}},
    "many deployments": {
        **document(),
        "context": {"contract": {"deployments": DEPLOYED["contract"]["deployments"] * 1_001}},
    },
    "many fields": document(fields=[FIELD] * (descriptor_formats.MAX_FIELDS + 1)),
    "too many fields": document(fields=[FIELD] * 2_000),
    "groups": document(fields=[TOO_DEEP_GROUPS]),
    "many fields of several functions": of_formats(
        {f"f{n}(int8 value)": {"fields": [FIELD] * 180} for n in range(28)}
    ),
    "many parameters of several functions": of_formats(
        {f"f{n}(int8 value)": {"fields": [SHARING] * 125} for n in range(2)},
        shared={"params": {f"p{n}Path": "a" + ".b" * 31 for n in range(20)}},
    ),
    "many parameters": document(fields=[{**FIELD, "params": {str(n): n for n in range(21)}}]),
    "fields that are none": document(fields=[7]),
    "an object of fields": document(fields={}),
    "a path that is none": document(fields=[{"path": "a b"}]),
    "an index that is none": document(fields=[{"path": "a.[1-2]"}]),
    "a long path": document(fields=[{"path": ".".join("a" * 40)}]),
    "a path of another kind": document(fields=[{"path": 7}]),
    "a reference to nothing": document(fields=[{"path": "to", "$ref": "$.display.definitions.a"}]),
    "a reference to a text": document(fields=[{"path": "to", "$ref": "$.metadata"}], metadata="a"),
    "a reference of another kind": document(fields=[{"path": "to", "$ref": 7}]),
    "parameters": document(fields=[{"path": "to", "params": [1]}]),
    "a parameter's path": document(fields=[{"path": "to", "params": {"tokenPath": 7}}]),
    "a map": document(fields=[{"path": "to", "params": {"token": {"map": 7}}}]),
    "visibility": document(fields=[{"path": "to", "visible": "sometimes"}]),
    "visibility of another kind": document(fields=[{"path": "to", "visible": [1]}]),
    "no function": of_formats({"transfer": {}}),
    "no types": of_formats({"f(nonsense a)": {}}),
    "a nested function": of_formats({"f" + "(" * 900: {}}),
    "many arguments": of_formats({f"f({','.join(['int8'] * 101)})": {}}),
    "a function twice": of_formats({TRANSFER: {}, "transfer(address a,uint256 b)": {}}),
    "a format that is none": of_formats({TRANSFER: 7}),
    "another version": {**document(), "$schema": "https://example.org/erc7730-v3.0.0.schema.json"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bad_file_is_left_out_and_logged_once(tmp_path, write, name, caplog):
    write("a.json", HOSTILE[name])
    write("b.json", document(intent="Send"))
    descriptors = Descriptors(tmp_path)
    for _ in range(2):
        descriptor = descriptors.find("7", ADDRESS, SELECTOR)
        assert descriptor is not None and descriptor.file == "b.json"
    [message] = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert message.startswith("descriptors: a.json is left out: ") and len(message) < 300


def test_files_are_bounded(tmp_path, write, monkeypatch, caplog):
    write("a.json", {})
    write("b.json", document(intent="Send"))
    with monkeypatch.context() as patched:
        patched.setattr(descriptor_files, "MAX_FILES", 1)
        assert known(tmp_path) is None
        assert "only 1 files are read" in caplog.text
    with monkeypatch.context() as patched:
        patched.setattr(descriptor_files, "MAX_BYTES", 50)
        assert known(tmp_path) is None
        assert "the files have more than" in caplog.text
    assert known(tmp_path) is not None


def test_depths_of_folders_and_includes_are_bounded(tmp_path, write):
    write("/".join("d" * (MAX_FOLDER_DEPTH + 1)) + "/a.json", document(intent="Send"))
    assert known(tmp_path) is None
    write("/".join("d" * MAX_FOLDER_DEPTH) + "/a.json", document(intent="Send"))
    assert known(tmp_path) is not None
    chain = tmp_path / "chain"
    for number in range(6):
        of_file = document(intent="Send") if number == 0 else {}
        write(f"chain/{number}.json", {**of_file, "includes": f"{number + 1}.json"})
    write("chain/4.json", {})
    assert known(chain) is not None
    write("chain/4.json", {"includes": "5.json"})
    write("chain/5.json", {})
    assert known(chain) is None


@pytest.mark.parametrize("wrong", ["/no/such/folder", __file__])
def test_a_folder_that_is_none_stops_the_start(wrong):
    with pytest.raises(SettingError, match=r"SCAN_DESCRIPTORS=.*must be a folder that exists"):
        Settings.from_environment({"SCAN_DESCRIPTORS": wrong})


def test_the_folder_is_a_setting(tmp_path):
    settings = Settings.from_environment({"SCAN_DESCRIPTORS": str(tmp_path)})
    assert settings.of(OwnSettings).descriptors == tmp_path
    assert Settings.from_environment({}).of(OwnSettings).descriptors is None
