"""The files of build folders are of strangers: what is read of them, and what is not."""

import json
import os

import pytest

from scan import errors, setting_kinds
from scan.extensions.contract_details.builds import build_folders, build_formats, build_watch
from scan.extensions.contract_details.builds.build_sources import contract_and_blueprint
from scan.extensions.contract_details.builds.settings import Settings
from scan.extensions.contract_details.tests.builds.projects import CODE, SMALL, write
from scan.settings import doubtful_variables
from scan.verification.bytecode_comparison import HASH_PREFIXES


def code_file(code, **references):
    """An artifact of deployed code."""
    return json.dumps({"deployedBytecode": {"object": code, **references}})


PLACE = {"start": 1, "length": 32}
EVM = {"evm": {"deployedBytecode": CODE}}
MALFORMED = {
    "no JSON": "{",
    "no hex": '{"abi": [], "deployedBytecode": {"object": "0xzz"}}',
    "an immutable outside": code_file("6000", immutableReferences={"1": [PLACE]}),
    "metadata that is no JSON": json.dumps({**SMALL, "metadata": "{"}),
    "settings of another type": json.dumps({**SMALL, "metadata": {"settings": []}}),
    "contracts of another type": '{"output": {"contracts": []}}',
    "deep": '{"input": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "deep metadata": json.dumps({**SMALL, "metadata": '{"a":' + "[" * 5_000 + "]" * 5_000 + "}"}),
    "many contracts": json.dumps({"contracts": {"a.sol": dict.fromkeys(range(10_001), EVM)}}),
    "longer than code": code_file("00" * (2 * 1024 * 1024 + 1)),
    "many links": code_file(f"__{'a' * 38}" * 10_001),
    "many immutables": code_file("6000", immutableReferences={"1": [PLACE] * 10_001}),
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_no_build(content, tmp_path):
    file = tmp_path / "file.json"
    file.write_text(content)
    with pytest.raises(build_formats.NoBuild):
        build_formats.contracts_of(file)


def test_links_and_special_files_are_not_followed(tmp_path):
    elsewhere = write(tmp_path / "elsewhere/a.json", {})
    folder = write(tmp_path / "out/own.json", {})
    (folder / "link.json").symlink_to(elsewhere / "a.json")
    (folder / "linked").symlink_to(elsewhere)
    os.mkfifo(folder / "pipe.json")
    assert [*build_folders.list_files([folder, tmp_path / "absent"]).files] == [folder / "own.json"]


def test_depth_number_and_sizes_are_bounded(tmp_path):
    write(tmp_path / "/".join(["d"] * 14) / "far.json", {})
    listing = build_folders.list_files([tmp_path])
    assert not listing.files
    assert "more than 12 folders deep" in str(listing.left_out)
    for number in range(4):
        (tmp_path / f"{number}.json").write_text("{}" * number)
    assert len(build_folders.list_files([tmp_path], max_file_bytes=4).files) == 3
    listing = build_folders.list_files([tmp_path], max_file_bytes=4, max_files=2)
    assert len(listing.files) == 2
    assert listing.left_out == "there are more than 2 files"


def test_entries_of_a_folder_and_folders_are_bounded(tmp_path):
    """Those that are no builds, too: their names are read before they are known to be none."""
    for number in range(6):
        write(tmp_path / f"{number}/own.json", {})
    listing = build_folders.list_files([tmp_path], max_entries=4)
    assert len(listing.files) == 4
    assert listing.left_out == f"{tmp_path} has more than 4 entries"
    folders = [tmp_path / f"{number}" for number in range(6)]
    listing = build_folders.list_files(folders, max_entries=4)
    assert len(listing.files) == 5  # the one being read, and those that wait
    assert listing.left_out == "there are more than 4 folders"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("file.txt", "is a file"),
        ("absent/out", "is no folder"),
        (",".join("abcdefghijklmnopqrstu"), "20"),
    ],
)
def test_folders_are_checked_at_the_start(text, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").touch()
    with pytest.raises(errors.SettingError, match=reason):
        setting_kinds.read_variables(Settings, {"SCAN_ARTIFACTS": text})


def test_a_folder_may_come_into_being_later(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"SCAN_ARTIFACTS": "out, artifacts"}
    read = setting_kinds.read_variables(Settings, given)
    assert read == {"artifacts": (tmp_path / "out", tmp_path / "artifacts")}
    (tmp_path / "artifacts").mkdir()
    reason = f"names no folder that exists: {tmp_path / 'out'}"
    assert doubtful_variables(given) == {"SCAN_ARTIFACTS": reason}
    (tmp_path / "out").mkdir()
    assert not doubtful_variables(given)


def test_the_builds_of_the_oldest_files_give_way(tmp_path):
    for number in (1, 2, 3):
        file = tmp_path / f"{number}.json"
        file.write_text(code_file("00" * (1000 + number)))
        os.utime(file, (number, number))
    builds = build_watch.Builds([tmp_path], max_bytes=2_500, listing_share=0)
    builds.refresh()
    assert builds.lengths == [1002, 1003]
    (tmp_path / "3.json").write_text(code_file("00" * 2000))
    builds.refresh()
    assert builds.lengths == [2000]
    (tmp_path / "3.json").rename(tmp_path / "3.txt")  # what is removed leaves room
    (tmp_path / "4.json").write_text(code_file("00" * 2100))
    builds.refresh()
    assert builds.lengths == [2100]


@pytest.mark.parametrize(
    "creation", ["", "0x", "0xzz", "0x6", "ü", "00" * (build_formats.MAX_CODE_BYTES + 1)]
)
def test_creation_code_that_is_none_leaves_the_contract(creation, tmp_path):
    code = {"bytecode": {"object": creation}, "deployedBytecode": {"object": "0x6001"}}
    write(tmp_path / "A.json", {**code, "abi": []})
    [contract] = build_formats.contracts_of(tmp_path / "A.json")
    [built] = contract_and_blueprint(contract)
    assert built.runtime.code == b"\x60\x01"


VICTIM = bytes.fromhex("6001600255" + "60aa" * 40 + "5b00")
SIZE = len(VICTIM)


def liar(code, *spans):
    references = {str(start): [{"start": start, "length": length}] for start, length in spans}
    deployed = {"object": code, "immutableReferences": references}
    return json.dumps({**SMALL, "bytecode": {"object": "0x00"}, "deployedBytecode": deployed})


def vyper_liar(immutable_size):
    """A contract of which the creation code's metadata states the size of immutables."""
    metadata = f"85410118{SIZE:02x}8018{immutable_size:02x}a165767970657283000403"
    creation = f"0x00{metadata}{len(metadata) // 2 + 2:04x}"
    evm = {"bytecode": {"object": creation}, "deployedBytecode": {"object": "0x60"}}
    contracts = {"A.vy": {"A": {"abi": [], "evm": evm}}}
    return json.dumps({"compiler": "vyper-0.4.3", "contracts": contracts})


LIARS = {
    "an immutable": liar("00" * SIZE, (0, SIZE)),
    "an immutable but the first byte": liar("60" + "00" * (SIZE - 1), (1, SIZE - 1)),
    "immutables": liar("00" * SIZE, *((start, 32) for start in range(SIZE - 31))),
    "links": liar("".join(f"__${number:034x}$__" for number in range(4)) + VICTIM[80:].hex()),
    "hashes": liar((HASH_PREFIXES[0].hex() * SIZE)[: 2 * SIZE]),
    "Vyper's immutables": vyper_liar(SIZE - 1),
}


@pytest.mark.parametrize("content", LIARS.values(), ids=LIARS)
def test_an_artifact_that_masks_what_no_compiler_does_matches_no_other_code(content, tmp_path):
    (tmp_path / "A.json").write_text(content)
    builds = build_watch.Builds([tmp_path])
    builds.refresh()
    assert not builds.match(VICTIM)
