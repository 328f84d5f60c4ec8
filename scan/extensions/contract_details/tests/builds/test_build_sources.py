"""The sources of builds: which files of a project are read, and of which no text gets out."""

import json
import os

import pytest
from eth_utils.crypto import keccak

from scan.errors import ScanError
from scan.extensions.contract_details.builds import build_folders, build_sources
from scan.extensions.contract_details.builds.build_formats import NoBuild, contracts_of
from scan.extensions.contract_details.tests.builds import projects
from scan.extensions.contract_details.tests.builds.projects import ADDRESS, SMALL
from scan.hex import to_hex
from scan.verification.request import parse

OUTPUT_OF_A = {"contracts": {"a.sol": {"A": {"evm": {"deployedBytecode": {"object": "6000"}}}}}}
METADATA = {
    "language": "Solidity",
    "compiler": {"version": projects.VERSION},
    "settings": {"compilationTarget": {"a.sol": "A"}},
}


def test_a_source_counts_only_with_the_hash_that_the_metadata_has(tmp_path):
    """So no file of the machine is published by an artifact that names it."""
    artifact = projects.foundry(tmp_path / "project") / "Store.sol/Store.json"
    content = json.loads(artifact.read_text())
    secret = tmp_path / "secret"
    secret.write_text("secret")
    sources = json.loads(content["rawMetadata"])
    for path in ("../secret", str(secret)):
        sources["sources"][path] = {"keccak256": "0x" + "00" * 32}
        artifact.write_text(json.dumps({**content, "rawMetadata": json.dumps(sources)}))
        [built] = contracts_of(artifact)
        with pytest.raises(NoBuild, match="no source matches"):
            build_sources.verification_request(built, ADDRESS)
        del sources["sources"][path]


@pytest.mark.parametrize(
    "path", ["a.vy", "linked/a.vy", ".env", "secrets.yml", "pipe.vy", "a\0.vy"]
)
def test_no_link_is_followed_and_no_other_file_read(path, tmp_path):
    """Though a build lists the file by its hash."""
    secret = "x: hunter2secret"
    project = tmp_path / "project"
    (project / "build").mkdir(parents=True)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for file in (secrets / "a.vy", project / ".env", project / "secrets.yml"):
        file.write_text(secret)
    (project / "a.vy").symlink_to("../secrets/a.vy")
    (project / "build/linked").symlink_to(secrets)
    os.mkfifo(project / "pipe.vy")
    listed = listing(project / "listed.json", {path: secret})
    with pytest.raises(NoBuild, match="no source matches"):
        build_sources.verification_request(listed, ADDRESS)


def listing(file, sources):
    """A build's file that lists sources by the hashes of their texts."""
    listed = {path: {"keccak256": to_hex(keccak(text.encode()))} for path, text in sources.items()}
    metadata = json.dumps({**METADATA, "sources": listed})
    projects.write(file, {**SMALL, "rawMetadata": metadata})
    [built] = contracts_of(file)
    return built


def test_sources_of_a_workspace_are_read_through_its_links(tmp_path):
    """As pnpm lays packages out, and packages import each other; not what is outside of git's."""
    workspace, project = tmp_path / "work", tmp_path / "work/packages/vault"
    stored = workspace / "node_modules/.pnpm/@tokens+1/node_modules/@tokens"
    files = {
        "src/Vault.sol": project / "src/Vault.sol",
        "node_modules/@tokens/Token.sol": stored / "Token.sol",
        "@tokens/Other.sol": stored / "Other.sol",
        "../shared/Shared.sol": workspace / "packages/shared/Shared.sol",
        "lib/own/Own.sol": workspace / "packages/own/Own.sol",
    }
    sources = {path: f"contract {file.stem} {{}}" for path, file in files.items()}
    built = listing(project / "out/listed.json", sources)
    (project / "package.json").touch()
    for path, file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sources[path])
    for link, target in (("node_modules/@tokens", stored), ("lib/own", workspace / "packages/own")):
        (project / link).parent.mkdir()
        (project / link).symlink_to(os.path.relpath(target, (project / link).parent))
    with pytest.raises(NoBuild, match="no source matches"):
        build_sources.verification_request(built, ADDRESS)
    (workspace / ".git").mkdir()
    assert parse(build_sources.verification_request(built, ADDRESS)).sources == sources
    (workspace / "packages/own").rename(tmp_path / "own")
    (project / "lib/own").unlink()
    (project / "lib/own").symlink_to(tmp_path / "own")
    with pytest.raises(NoBuild, match=r"lib/own/Own\.sol"):
        build_sources.verification_request(built, ADDRESS)


@pytest.mark.parametrize("linked", ["out", "out/A.sol", "out/A.sol/A.json"])
def test_no_folder_that_becomes_a_link_is_read(linked, tmp_path):
    """Nor one of the path to a build's file, at whatever time it is replaced."""
    file = tmp_path / "out/A.sol/A.json"
    projects.write(file, SMALL)
    [built] = contracts_of(file)
    (tmp_path / linked).rename(tmp_path / "elsewhere")
    (tmp_path / linked).symlink_to(tmp_path / "elsewhere")
    assert not build_folders.list_files([tmp_path / "out"]).files
    for read in (
        lambda: contracts_of(file),
        lambda: build_sources.verification_request(built, ADDRESS),
    ):
        with pytest.raises(OSError):  # its text differs by the component
            read()


NUMBERED = {"sources": {"a.sol": 5}, "settings": {"compilationTarget": {"a": 5}}}
REQUESTED = {
    "settings are a list": {"input": {"sources": {}, "settings": [1]}, "output": OUTPUT_OF_A},
    "sources are a number": {**SMALL, "rawMetadata": json.dumps({**METADATA, "sources": 5})},
    "a source's name is a number": {**SMALL, "metadata": {**METADATA, **NUMBERED}},
}


@pytest.mark.parametrize("content", REQUESTED.values(), ids=REQUESTED)
def test_what_is_malformed_in_a_build_is_no_request(content, tmp_path):
    projects.write(tmp_path / "file.json", content)
    [built] = contracts_of(tmp_path / "file.json")
    with pytest.raises((NoBuild, ScanError)):
        parse(build_sources.verification_request(built, ADDRESS))
