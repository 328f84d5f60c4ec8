"""Vyper's compilers: what is refused, and what a request sees where none can be downloaded."""

import json
import os

import pytest

from scan.errors import InvalidParameter, Unavailable
from scan.settings import Settings
from scan.verification.compiler_store import CompilerStore, NotFetched, NotPublished
from scan.verification.languages import vyper
from tests.support.vyper import NEWEST

RELEASE = (0, 4, 3)


def store_in(directory):
    return CompilerStore(Settings(solc_dir=directory, path=os.environ["PATH"]), vyper.VYPER.kind)


@pytest.mark.parametrize("text", ["0.3.10", "v0.3.10", "vyper:0.3.10", "v0.3.10+commit.91361694"])
def test_a_version_is_taken_as_the_interfaces_write_it(text):
    assert vyper.VYPER.kind.parse_version(text) == (0, 3, 10)


@pytest.mark.parametrize("text", ["0.2.7", "1.0.0", "../0.3.10", "0.3.10rc1", "0.3.10\n", None, 3])
def test_a_version_that_is_none_is_refused(text):
    with pytest.raises(InvalidParameter):
        vyper.VYPER.kind.parse_version(text)


def test_a_release_without_a_pinned_digest_is_not_downloaded(tmp_path):
    with pytest.raises(NotPublished):
        store_in(tmp_path).install((0, 4, 99))
    with pytest.raises(InvalidParameter, match=r"no Vyper compiler 0\.4\.99"):
        store_in(tmp_path).compiler((0, 4, 99))


def test_without_a_network_a_request_is_told_what_the_operator_can_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(Unavailable, match=r"scan vyper install 0\.4\.3"):
        store_in(tmp_path).compiler(RELEASE, wait_s=120.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_wheel_without_its_pinned_digest_is_not_placed(tmp_path, monkeypatch):
    digests = tmp_path / "digests.json"
    digests.write_text(json.dumps({NEWEST: "0" * 64}))
    monkeypatch.setattr(vyper, "_DIGESTS", digests)
    with pytest.raises(NotFetched, match="Expected sha256"):
        store_in(tmp_path / "placed").install(RELEASE)
    assert list((tmp_path / "placed").iterdir()) == []
