"""What deploy/ and the documents state, held to the code and to the programs that read it."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import trustme

from tests.support.serving import ROOT, completed, exchange, free_port, nginx, program

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path", ["/metrics", "/metrics/", "//metrics", "/%6detrics", "/api/../metrics", "/metrics?x=1"]
)
def test_metrics_do_not_leave_through_nginx(shared_server, tmp_path, path):
    with nginx(tmp_path, [shared_server] * 3) as front:
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        head, _, body = exchange(front, request.encode()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert json.loads(body)["code"] == "not_found"
    assert b"scan_" not in body and b"Strict-Transport" not in head


@pytest.mark.thorough
def test_https_and_http2(shared_server, tmp_path):
    """With a certificate of the test's own; clear text is led to https."""
    authority, port = trustme.CA(), free_port()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    text = (DEPLOY / "nginx-tls.conf").read_text()
    text = text.replace("listen 443", f"listen 127.0.0.1:{port}").replace("\nlisten [::]", "\n#")
    text = re.sub(r"/etc/letsencrypt/\S+(?=;)", str(tmp_path / "server.pem"), text)
    (tmp_path / "tls.conf").write_text(text)
    included = {"# include /etc/nginx/scan-tls.conf;": f"include {tmp_path}/tls.conf;"}
    curl = [program("curl"), "-si", "--cacert", str(tmp_path / "ca.pem"), "--noproxy", "*"]
    with nginx(tmp_path, [shared_server] * 3, included) as front:
        over_tls, of_nginx, in_the_clear = (
            [line.strip() for line in completed([*curl, address]).stdout.splitlines()]
            for address in (
                f"https://localhost:{port}/healthz",
                f"https://localhost:{port}/metrics",
                f"{front}/healthz",
            )
        )
    assert over_tls[0] == "HTTP/2 200" and '{"status":"alive"}' in over_tls
    assert of_nginx[0] == "HTTP/2 404"
    for answer in (over_tls, of_nginx):
        assert answer.count("strict-transport-security: max-age=31536000") == 1
    assert in_the_clear[0] == "HTTP/1.1 308 Permanent Redirect"
    assert not any(line.startswith("Strict-Transport") for line in in_the_clear)


def test_units_are_valid_to_systemd(tmp_path):
    others = (DEPLOY / "systemd" / "scan.target", DEPLOY / "ha" / "patroni.service")
    for unit in (*UNITS, *others):
        text = re.sub(
            r"/opt/(scan/.venv|patroni)/bin/(scan|patroni)", "/bin/true", unit.read_text()
        )
        name = unit.name.replace("@.", "@8001.")
        (tmp_path / name).write_text(re.sub(r"\nDocumentation=.*", "", text))
    for port in (8002, 8003):
        shutil.copy(tmp_path / "scan-api@8001.service", tmp_path / f"scan-api@{port}.service")
    done = completed(
        [program("systemd-analyze"), "verify", "--man=no", *sorted(map(str, tmp_path.iterdir()))],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
    )
    assert [line for line in done.stderr.splitlines() if "scan" in line or "patroni" in line] == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_hardened(unit):
    text = unit.read_text()
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=\n"):
        assert line in text
    assert re.search(r"^MemoryMax=\d", text, re.M)


@pytest.mark.parametrize("path", [DEPLOY / "Dockerfile", DEPLOY / "ha" / "Dockerfile"], ids=str)
def test_hadolint_accepts_the_dockerfiles(path):
    linter = Path(sys.executable).with_name("hadolint")
    checked = completed([linter, path])
    assert checked.returncode == 0, checked.stdout


def compose_files():
    snippets = re.findall(
        r"^```yaml\n(services:.+?)^```", (ROOT / "docs/start.md").read_text(), re.M | re.S
    )
    files = {str(path.relative_to(ROOT)): path.read_text() for path in DEPLOY.rglob("compose.yaml")}
    return files | {f"docs/start.md {number}": text for number, text in enumerate(snippets, 1)}


@pytest.mark.long  # it takes 1.5 s of processor to start
@pytest.mark.parametrize("name", compose_files())
def test_compose_accepts_its_files(name):
    """Without the key `name`, which Debian's version of it does not know yet."""
    text = re.sub(r"^name: .*\n", "", compose_files()[name], flags=re.M)
    required = dict.fromkeys(re.findall(r"\$\{(\w+):\?", text), "sha256:" + "0" * 64)
    folder = (ROOT / name.split()[0]).parent
    checked = completed(
        [program("docker-compose"), "--file", "-", "config"],
        cwd=folder,
        input=text,
        env=os.environ | required,
    )
    assert checked.returncode == 0, checked.stderr
    assert "scan" in checked.stdout
