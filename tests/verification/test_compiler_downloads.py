"""Compilers that are downloaded: from whom, how they are checked, and what a request sees."""

import base64
import hashlib
import json
import os
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from scan.errors import InvalidParameter, Unavailable
from scan.verification import compiler_store
from scan.verification.languages import vyper
from scan.verification.sandbox import MEMORY_KIB
from tests.support import WAIT_S
from tests.support.compilers import NEWEST, fake, placed_in, run
from tests.support.solidity import NODE


def test_a_missing_compiler_is_fetched_once_for_all_who_wait(tmp_path):
    arrived, calls = threading.Event(), []

    def slow(version, staging, path):
        calls.append(version)
        arrived.wait(WAIT_S)
        return "a test", fake(staging, "echo '{}'").directory / "solc-0.8.28"

    store = placed_in(tmp_path, compiler_store.SOLC._replace(fetch=slow))
    for _ in range(3):
        with pytest.raises(Unavailable, match="being downloaded") as refusal:
            store.compiler(NEWEST, wait_s=0.05)
        assert int(refusal.value.headers["Retry-After"]) > 0
    arrived.set()
    assert store.compiler(NEWEST, wait_s=10).executable.name == "solc-0.8.28"
    assert calls == [NEWEST]


def test_processes_that_share_a_directory_download_a_compiler_once(tmp_path):
    both, fetched = threading.Barrier(2), []

    def fetch(version, staging, path):
        fetched.append(version)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return "a test", fake(staging, "echo '{}'").directory / "solc-0.8.28"

    kind = compiler_store.SOLC._replace(fetch=fetch)
    with ThreadPoolExecutor(2) as pool:
        stores = [placed_in(tmp_path / "solc", kind) for _ in range(2)]
        compilers = [*pool.map(lambda store: store.compiler(NEWEST, wait_s=60.0), stores)]
    executable = tmp_path / "solc" / "solc-0.8.28" / "solc-0.8.28"
    assert {compiler.executable for compiler in compilers} == {executable}
    assert fetched == [NEWEST]


def test_a_release_that_nobody_published_is_the_caller_s_mistake(tmp_path):
    def absent(*_):
        raise compiler_store.NotPublished("no such version")

    store = placed_in(tmp_path, compiler_store.SOLC._replace(fetch=absent))
    for _ in range(2):
        with pytest.raises(InvalidParameter, match=r"no Solidity compiler 0\.8\.99"):
            store.compiler((0, 8, 99))


def test_a_folder_that_cannot_be_written_makes_the_compiler_unavailable(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="scan solc install"):
        placed_in(tmp_path / "file" / "solc").compiler((0, 8, 19))


@pytest.fixture
def use_npm(tmp_path, monkeypatch):
    """Lets an npm with one package, solc@0.8.28, with `listed` as its integrity, be the only source
    of compilers, of which no digest is pinned."""

    def unreachable():
        raise compiler_store.NotFetched("nothing is reached from a test")

    def use(listed=None, soljson=NODE / "node_modules/solc-0.8.28/soljson.js"):
        tarball, npm = tmp_path / "package.tgz", tmp_path / "bin" / "npm"
        with tarfile.open(tarball, "w:gz", compresslevel=1) as package:
            package.add(soljson, "package/soljson.js")
        digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        npm.parent.mkdir()
        npm.write_text(
            "#!/bin/sh\n"
            'case "$1 $2" in\n'
            f"""'view solc@0.8.28') echo '"{listed or f"sha512-{digest}"}"';;\n"""
            f"'pack solc@0.8.28') cp {tarball} solc-0.8.28.tgz;;\n"
            "*) echo 'npm error code E404' >&2; exit 1;;\n"
            "esac\n"
        )
        npm.chmod(0o755)
        monkeypatch.setenv("PATH", str(npm.parent), prepend=os.pathsep)
        return npm

    (none := tmp_path / "no_digests.json").write_text("{}")
    monkeypatch.setattr(compiler_store, "_probe", unreachable)
    monkeypatch.setattr(compiler_store, "NPM_DIGESTS", none)
    return use


def fake_solc_select(tmp_path, monkeypatch, install):
    """An empty folder to install into. The program solc-select, as it is installed here, finds a
    package solc_select whose installation this is."""
    package = tmp_path / "packages" / "solc_select"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import os, pathlib, sys, time\ndef solc_select():\n"
        f"    assert sys.argv[1] == 'install'; versions = sys.argv[2:]; {install}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setattr(compiler_store, "_probe", lambda: None)
    staging = tmp_path / "staging"
    staging.mkdir()
    return staging


def test_solc_select_installs_into_the_folder_it_is_given(tmp_path, monkeypatch):
    beginning = "folder = pathlib.Path(os.environ['VIRTUAL_ENV'], '.solc-select', 'artifacts'"
    script = f"{beginning}, *2 * ['solc-' + versions[0]]); folder.parent.mkdir(parents=True)"
    staging = fake_solc_select(tmp_path, monkeypatch, f"{script}; folder.write_text('x')")
    folder = compiler_store.download_native(NEWEST, staging)
    assert folder == staging / ".solc-select" / "artifacts" / "solc-0.8.28"
    assert (folder / "solc-0.8.28").read_text() == "x"


@pytest.mark.parametrize(
    ("install", "reason"),
    [
        ("return 1", "failed"),
        ("raise OSError('no room')", "no room"),
        ("return 0", "no such build"),
        ("time.sleep(600)", "did not finish in 1 s"),
    ],
)
def test_solc_select_that_fails_or_hangs_installs_nothing(tmp_path, monkeypatch, install, reason):
    staging = fake_solc_select(tmp_path, monkeypatch, install)
    with pytest.raises(compiler_store.NotFetched, match=reason):
        compiler_store.download_native(NEWEST, staging, timeout_s=1.0)


@pytest.mark.thorough
def test_npm_s_compiler_is_placed_and_answers_as_a_native_one(tmp_path, use_npm):
    use_npm()
    directory = tmp_path / "solc"
    compilers = placed_in(directory)
    assert compilers.install(NEWEST) == "npm"
    assert [path.name for path in directory.iterdir()] == ["solc-0.8.28"]
    assert "contracts" in run(compilers, "contract A {}")
    (directory / "solc-0.8.28" / "soljson.js").write_text("tampered")
    with pytest.raises(Unavailable, match="damaged"):
        compilers.find(NEWEST)


@pytest.mark.thorough
def test_a_package_that_holds_another_version_is_not_placed(tmp_path, use_npm):
    """As npm's solc 0.8.1 holds 0.8.0."""
    npm = use_npm()
    npm.write_text(npm.read_text().replace("0.8.28", "0.8.27"))
    with pytest.raises(compiler_store.NotFetched, match=r"reports version 0\.8\.28"):
        placed_in(tmp_path / "solc").install((0, 8, 27))
    with pytest.raises(compiler_store.NotPublished):
        placed_in(tmp_path / "solc").install((0, 8, 25))


def test_a_fetched_compiler_runs_under_limits_from_its_first_call(tmp_path, use_npm, monkeypatch):
    soljson, path = tmp_path / "soljson.js", tmp_path / "seen.json"
    hostile_soljson = Path(__file__).with_name("hostile_soljson.js").read_text()
    soljson.write_text(hostile_soljson.replace("SEEN", json.dumps(str(path))))
    use_npm(soljson=soljson)
    monkeypatch.setenv("DATABASE_URL", "postgresql://scan:secret@localhost/scan")
    assert placed_in(tmp_path / "solc").install(NEWEST) == "npm"
    report = json.loads(path.read_text())
    assert set(report["variables"]) <= {"PATH", "HOME", "LANG", "PWD", "OLDPWD", "SHLVL", "_"}
    assert str(MEMORY_KIB * 1024) in report["limits"]
    assert str(tmp_path / "solc") not in report["folder"]


@pytest.mark.parametrize(
    ("listed", "pinned"), [("sha512-AAAA", None), (None, compiler_store.NPM_DIGESTS)]
)
def test_a_package_without_its_listed_or_pinned_digest_is_not_placed(
    tmp_path, use_npm, monkeypatch, listed, pinned
):
    soljson = tmp_path / "soljson.js"
    soljson.write_text("exports.cwrap = () => () => '0.8.28';")
    use_npm(listed, soljson)
    monkeypatch.setattr(compiler_store, "NPM_DIGESTS", pinned or compiler_store.NPM_DIGESTS)
    with pytest.raises(compiler_store.NotFetched, match="digest"):
        placed_in(tmp_path / "solc").install(NEWEST)
    assert list((tmp_path / "solc").iterdir()) == []


@pytest.mark.parametrize("text", ["0.3.10", "v0.3.10", "vyper:0.3.10", "v0.3.10+commit.91361694"])
def test_a_version_of_vyper_is_taken_as_the_interfaces_write_it(text):
    assert vyper.VYPER.kind.parse_version(text) == (0, 3, 10)


@pytest.mark.parametrize("text", ["0.2.7", "1.0.0", "../0.3.10", "0.3.10rc1", "0.3.10\n", None, 3])
def test_a_version_that_vyper_has_not_is_refused(text):
    with pytest.raises(InvalidParameter):
        vyper.VYPER.kind.parse_version(text)


def test_a_release_without_a_pinned_digest_is_not_downloaded(tmp_path):
    with pytest.raises(compiler_store.NotPublished):
        placed_in(tmp_path, vyper.VYPER.kind).install((0, 4, 99))
    with pytest.raises(InvalidParameter, match=r"no Vyper compiler 0\.4\.99"):
        placed_in(tmp_path, vyper.VYPER.kind).compiler((0, 4, 99))


def test_without_a_network_a_request_is_told_what_the_operator_can_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(Unavailable, match=r"scan vyper install 0\.4\.3"):
        placed_in(tmp_path, vyper.VYPER.kind).compiler((0, 4, 3), wait_s=120.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_wheel_without_its_pinned_digest_is_not_placed(tmp_path, monkeypatch):
    digests = tmp_path / "digests.json"
    digests.write_text(json.dumps({"0.4.3": "0" * 64}))
    monkeypatch.setattr(vyper, "_DIGESTS", digests)
    with pytest.raises(compiler_store.NotFetched, match="Expected sha256"):
        placed_in(tmp_path / "placed", vyper.VYPER.kind).install((0, 4, 3))
    assert list((tmp_path / "placed").iterdir()) == []
