"""deploy/ha as it is run: machines are lost under load, and nothing else is. More: `make chaos`."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from deploy.ha.cluster import HERE
from scan.settings import ROOT
from tests.support.database import Postgres
from tests.support.high_availability.faults import Fault, all_faults
from tests.support.high_availability.report import GOOD, line, suffer
from tests.support.high_availability.stand import Stand, standing
from tests.support.serving import program

SEED = 18
FAULTS = (
    ("indexer", "killed"),
    ("leader", "machine lost"),
    ("deliverer", "killed"),
    ("API instance", "killed"),
    ("leader", "planned switchover"),
    ("HAProxy", "killed"),
)
REFUSED = {*GOOD, "503"}


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    for name in ("etcd", "haproxy", "nginx"):
        program(name)
    folder = tmp_path_factory.mktemp("ha")
    for parent in (folder, folder.parent, folder.parent.parent):
        parent.chmod(0o755)  # PostgreSQL may run as another user
    with standing(folder, SEED) as found:
        yield found


def fault(part: str, kind: str) -> Fault:
    [found] = [f for f in all_faults(Random(SEED)) if (f.part, f.kind) == (part, kind)]
    return found


@pytest.mark.long
def test_machines_are_lost_and_nothing_else_is(
    stand: Stand, postgres: Postgres, template: str
) -> None:
    random = Random(SEED)
    with stand.load:
        stand.wait_until_whole()
        for part, kind in FAULTS:
            seen = suffer(stand, fault(part, kind), random)
            print(line(seen))
            statuses = set(seen.reader_statuses) | set(seen.writer_statuses)
            assert statuses <= REFUSED, f"{part} {kind}"
            assert seen.reader_statuses["200"]
    assert not stand.load.problems
    figures = stand.check_all(postgres, template)
    print(figures)
    assert figures["events_lost"] == 0
    assert figures["keys"] > 0


def test_the_compose_file_is_one_of_the_same_parts() -> None:
    services = yaml.safe_load((HERE / "compose.yaml").read_text())["services"]
    parts = {re.sub(r"[0-9]+$", "", name) for name in services}
    assert {"etcd", "db", "haproxy", "api", "index", "deliver", "nginx"} <= parts
    for service in services.values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert not source.startswith(".") or (HERE / source).exists(), volume


def test_patroni_takes_its_configuration() -> None:
    configuration = yaml.safe_load((HERE / "patroni.yml").read_text())
    dcs = configuration["bootstrap"]["dcs"]
    assert dcs["ttl"] >= dcs["loop_wait"] + 2 * dcs["retry_timeout"]
    assert dcs["synchronous_mode"] and dcs["failsafe_mode"]


def test_haproxy_takes_its_configuration() -> None:
    command = [program("haproxy"), "-c", "-f", str(HERE / "haproxy.cfg")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["patroni.env", "etcd.env", "scan.env"])
def test_secrets_of_the_files_are_to_be_changed(name: str) -> None:
    for key, value in re.findall(r"^(\w*PASSWORD)=(.*)$", (HERE / name).read_text(), re.M):
        assert value == "change-me", key


def test_the_document_names_every_file_of_the_recipe() -> None:
    document = Path(ROOT / "docs" / "high-availability.md").read_text()
    named = {path.name for path in HERE.iterdir() if path.suffix not in (".py", "")}
    assert {name for name in named if name not in document} == set()
