"""The file of chains: what stops the start, by name and value."""

import os
from pathlib import Path

import pytest

from scan.errors import SettingError
from scan.extensions.gateway.forwarding import read_chains
from scan.settings import Settings

pytestmark = pytest.mark.check


def read(tmp_path, text, port=8000):
    file = tmp_path / "chains.toml"
    file.write_text(text)
    return {chain.path: chain.url for chain in read_chains(file, Settings(port=port))}


def test_chains_without_an_url_get_the_ports_after_the_gateways(tmp_path):
    text = (
        '[eth]\nchain_id = 1\n[bsc]\nchain_id = 56\n[far]\nchain_id = 2\nurl = "https://h/bsc/"\n'
    )
    assert read(tmp_path, text, 9000) == {
        "eth": "http://127.0.0.1:9001",
        "bsc": "http://127.0.0.1:9002",
        "far": "https://h/bsc",
    }


def test_paths_begin_at_the_folder_of_the_file(tmp_path, monkeypatch):
    """The gateway reads it in another working directory than `scan run` does."""
    (tmp_path / "acme.toml").write_text('name = "Acme"')
    file = tmp_path / "chains.toml"
    file.write_text('[eth]\nchain_id = 1\nSCAN_BRAND = "acme.toml"\nREAD_DATABASE_URL = ""')
    for folder in (tmp_path, Path("/")):
        monkeypatch.chdir(folder)
        [chain] = read_chains(Path(os.path.relpath(file)), Settings())
        assert chain.environment["SCAN_BRAND"] == str(tmp_path / "acme.toml")
        assert Path.cwd() == folder


WRONG_FILES = [
    ("", "1 to 100 tables"),
    ("[eth", "cannot be read"),
    ("eth = 1", "must be a table"),
    ("[eth]", "chain_id"),
    ('[eth]\nchain_id = "1"', "chain_id"),
    ("[eth]\nchain_id = true", "chain_id"),
    ("[eth]\nchain_id = 0", "chain_id"),
    ("[eth]\nchain_id = 1\n[bsc]\nchain_id = 1", "same chain_id twice"),
    ("[api]\nchain_id = 1", "a path of Scan itself"),
    ('["a/b"]\nchain_id = 1', "lower-case letters"),
    ('[eth]\nchain_id = 1\nurl = "http://user@h"', "http or https URL"),
    ('[eth]\nchain_id = 1\nurl = "http://h/?a"', "http or https URL"),
    ("[eth]\nchain_id = 1\nPORT = 1", "PORT of the chain eth"),
    ("[eth]\nchain_id = 1\nother = 1", "other of the chain eth"),
    ('[eth]\nchain_id = 1\nRPC_URL = "ftp://h"', "RPC_URL"),
    (f'[eth]\nchain_id = 1\nname = "{"n" * 51}"', "50 printable characters"),
]


@pytest.mark.parametrize(("text", "named"), WRONG_FILES)
def test_a_wrong_file_stops_the_start(tmp_path, text, named):
    with pytest.raises(SettingError, match=named):
        read(tmp_path, text)
