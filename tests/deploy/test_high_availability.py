"""deploy/ha as it is run: machines are lost under load, and nothing else is."""

import os
import re
import signal
import socket
import subprocess
import time
from contextlib import suppress

import psutil
import pytest
import requests
import yaml

from deploy.ha.cluster import HERE
from tests.support import WAIT_S, serving
from tests.support.folders import temporary_folder
from tests.support.high_availability.stand import standing, wait_until
from tests.support.serving import program

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def stand():
    for name in ("etcd", "haproxy", "nginx"):
        program(name)
    with temporary_folder("scan-ha-") as folder, standing(folder, seed=18) as stand:
        yield stand


def test_machines_are_lost_and_nothing_else_is(stand, postgres, template):
    cluster = stand.cluster

    def signal_tree(number, *pids):
        """To processes and all below them."""
        for process in map(psutil.Process, pids):
            for one in (process, *process.children(recursive=True)):
                with suppress(ProcessLookupError):
                    os.kill(one.pid, number)

    def kill(part):
        """Whoever looks after processes starts it again."""
        signal_tree(signal.SIGKILL, cluster.processes[part].pid)

    def harm_leader(number):
        """Its Patroni and PostgreSQL, until another node leads; then they go on if they can."""
        name = cluster.leader()
        pids = cluster.processes[name].pid, cluster.postgres_pid(name)
        cluster.processes[name].is_held = True
        signal_tree(number, *pids)
        wait_until(lambda: cluster.leader() not in (None, name), "a new leader")
        if number == signal.SIGSTOP:
            signal_tree(signal.SIGCONT, *pids)
        cluster.processes[name].is_held = False

    with stand.load:
        stand.wait_until_whole()
        for fault, *arguments in (
            (kill, "indexer1"),
            (kill, "deliverer1"),
            (kill, "api1"),
            (kill, "haproxy1"),
            (kill, "etcd1"),
            (harm_leader, signal.SIGKILL),
            # It wakes up as one who believes that it leads, as one does that was cut from all
            # others.
            (harm_leader, signal.SIGSTOP),
            (cluster.switch_over,),
        ):
            begun = time.monotonic()
            fault(*arguments)
            time.sleep(1.5)  # by then a supervisor has seen that something ended
            stand.wait_until_whole()
            print(f"{fault.__name__} {arguments}: whole after {time.monotonic() - begun:.1f} s")
    print(stand.load.statuses)
    assert {*stand.load.statuses} <= {200, 201, 503, "ReadTimeout"}
    assert not stand.load.problems
    stand.check_all(postgres, template)


def test_patroni_and_etcd_take_nothing_without_a_certificate_and_a_password(stand):
    """Whoever may write there is PostgreSQL's superuser on the next restart."""
    cluster = stand.cluster
    authority = str(cluster.certificates / "ca.crt")
    client = tuple(str(cluster.certificates / f"patroni.{kind}") for kind in ("crt", "key"))
    patroni = f"https://{cluster.node(1, 8008)}"
    change = {"postgresql": {"parameters": {"archive_command": "touch /tmp/intruder"}}}
    for options in (
        {"verify": authority},
        {"verify": authority, "auth": ("patroni", "change-me")},
        {"verify": authority, "cert": client},
        {"verify": authority, "cert": client, "auth": ("patroni", "wrong")},
    ):
        answer = requests.patch(f"{patroni}/config", json=change, timeout=WAIT_S, **options)
        assert answer.status_code in (401, 403), options
        answer = requests.post(f"{patroni}/restart", json={}, timeout=WAIT_S, **options)
        assert answer.status_code in (401, 403), options
    etcd = f"https://{cluster.address('10.0.0.1', 2379)}"
    body = {"key": "Lw==", "range_end": "AA=="}  # everything
    with pytest.raises(requests.RequestException):
        requests.post(f"{etcd}/v3/kv/range", json=body, timeout=WAIT_S, verify=authority)
    answer = requests.post(
        f"{etcd}/v3/kv/range", json=body, timeout=WAIT_S, verify=authority, cert=client
    )
    assert answer.status_code == 200


def test_the_compose_file_keeps_scan_out_of_the_network_of_patroni_and_etcd():
    compose = yaml.safe_load((HERE / "compose.yaml").read_text())
    networks = compose["networks"]
    assert networks["cluster"]["internal"] and networks["database"]["internal"]
    for name, service in compose["services"].items():
        in_cluster = "cluster" in service.get("networks", ()) or "network_mode" in service
        assert in_cluster == name.startswith(("db", "etcd", "haproxy")), name


def test_the_compose_file_starts_only_with_digests_and_passwords():
    """A variable that is not set stops Compose where it is written as ${NAME:?reason}."""
    text = (HERE / "compose.yaml").read_text()
    for name, service in yaml.safe_load(text)["services"].items():
        arguments = service.get("build", {}).get("args", {})
        images = [service["image"]] if "build" not in service else list(arguments.values())
        assert images, name
        assert all(re.search(r"@\$\{[A-Z]+_DIGEST:\?", image) for image in images), name
    passwords = re.findall(r"\$\{(\w*PASSWORD)([^}]*)\}", text)
    assert passwords and all(more.startswith(":?") for _, more in passwords)
    assert "FROM ${POSTGRES_IMAGE}" in (HERE / "Dockerfile").read_text()
    assert not re.search(r"ARG POSTGRES_IMAGE=", (HERE / "Dockerfile").read_text())


def test_a_second_run_keeps_the_certificates(tmp_path):
    make = [str(HERE / "make-certificates"), str(tmp_path / "made")]
    subprocess.run([*make, "10.0.0.1"], check=True, timeout=WAIT_S)
    before = (tmp_path / "made" / "10.0.0.1" / "etcd.crt").read_bytes()
    subprocess.run([*make, "10.0.0.1", "10.0.0.2"], check=True, timeout=WAIT_S)
    assert (tmp_path / "made" / "10.0.0.1" / "etcd.crt").read_bytes() == before
    assert (tmp_path / "made" / "10.0.0.2" / "patroni.key").stat().st_mode & 0o077 == 0


def test_haproxy_is_open_to_the_machines_of_scan_alone(tmp_path):
    """The file as it is, with ports of the test's, a leader that is not asked for its role, and one
    address of this machine as those of Scan's."""

    def connected(port, source):
        return socket.create_connection(("127.0.0.1", port), WAIT_S, source_address=(source, 0))

    ports = {5000: serving.free_port(), 5001: serving.free_port()}
    text = re.sub(r" check addr .*", "", (HERE / "haproxy.cfg").read_text())
    text = re.sub(
        r"^ +default-server check-ssl.*|^ +option httpchk|^ +http-check .*", "", text, flags=re.M
    )
    text = text.replace("127.0.0.0/8", "127.0.0.2")
    for port, own in ports.items():
        text = text.replace(f"bind :{port}", f"bind 127.0.0.1:{own}")
    with socket.create_server(("127.0.0.1", 0)) as leader:
        leader.settimeout(WAIT_S)
        text = text.replace("10.0.0.1:5432", f"127.0.0.1:{leader.getsockname()[1]}")
        text = re.sub(r"^ +server db[23].*", "", text, flags=re.M)
        (tmp_path / "haproxy.cfg").write_text(text)
        with serving.ending([program("haproxy"), "-db", "-f", str(tmp_path / "haproxy.cfg")]) as ha:
            for port in ports.values():
                serving.wait_until(lambda port=port: serving.accepts(port), ha)
                with suppress(ConnectionError), connected(port, "127.0.0.3") as stranger:
                    assert stranger.recv(1) == b""
                with connected(port, "127.0.0.2") as machine:
                    machine.sendall(b"x")
                    session, _ = leader.accept()
                    with session:
                        assert session.recv(1) == b"x"
