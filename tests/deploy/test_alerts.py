"""The alerts: promtool accepts them, and they fire by what a real instance exports in a fault.

promtool lets two hours of those metrics pass.
"""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import yaml

from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.indexing import Indexing
from tests.support.serving import ROOT, gunicorn, program

RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
GROUPS = {group["name"]: group["rules"] for group in yaml.safe_load(RULES.read_text())["groups"]}
LABELS = 'job="scan",instance="127.0.0.1:8001"'


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program("promtool"), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def test_promtool_accepts_the_rules() -> None:
    checked = promtool("check", "rules", RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def fires(folder: Path, alert: str, series: dict[str, str]) -> bool:
    """Whether it does, after two hours of these metrics, a sample a minute."""
    test = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": v} for name, v in series.items()],
                "alert_rule_test": [{"eval_time": "115m", "alertname": alert, "exp_alerts": []}],
            }
        ],
    }
    path = folder / "test.yml"
    path.write_text(yaml.safe_dump(test))
    done = promtool("test", "rules", path)
    assert "FAILED" in done.stdout + done.stderr or done.returncode == 0, done.stderr
    return done.returncode != 0


def exported(address: str) -> dict[str, float]:
    """What an instance exports, by the name with its labels."""
    lines = requests.get(f"{address}/metrics", timeout=10).text.splitlines()
    values = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in values}


def constant(metrics: dict[str, float], *names: str) -> dict[str, str]:
    return {f"{name}{{{LABELS}}}": f"{metrics[name]:f}x120" for name in names}


@pytest.fixture(scope="module")
def database(postgres: Postgres, template: str) -> Iterator[tuple[str, Anvil]]:
    with Anvil() as anvil:
        anvil.call("anvil_mine", "0x2")
        anvil.call("evm_setNextBlockTimestamp", int(time.time()))
        anvil.call("anvil_mine", "0x1")
        with postgres.cloned(template) as url:
            with Indexing(url, anvil.url) as indexing:
                indexing.wait_for(3)
            yield url, anvil


GAUGES = [
    "scan_database_up",
    "scan_head_stalled",
    "scan_lag_blocks",
    "scan_head_age_seconds",
    "scan_http_busy_threads",
    "scan_rate_limit_storage_up",
]


def test_none_fires_for_a_sound_instance(database: tuple[str, Anvil], tmp_path: Path) -> None:
    url, anvil = database
    with gunicorn(url, RPC_URL=anvil.url) as address:
        metrics = exported(address)
    series = constant(metrics, *(name for name in GAUGES if name in metrics))
    series[f"up{{{LABELS}}}"] = "1x120"
    assert [
        rule["alert"] for rule in GROUPS["scan"] if fires(tmp_path, rule["alert"], series)
    ] == []


STATEMENTS = {
    "ScanHeadStalled": "UPDATE indexer_status SET problem = 'the node cannot be reached'",
    "ScanLagging": "UPDATE indexer_status SET node_head = 100",
    "ScanHeadOld": "UPDATE blocks SET timestamp = timestamp - interval '1 hour'",
}
SHOWN_BY = {
    "ScanHeadStalled": "scan_head_stalled",
    "ScanLagging": "scan_lag_blocks",
    "ScanHeadOld": "scan_head_age_seconds",
}


@pytest.mark.parametrize("alert", sorted(STATEMENTS))
def test_faults_of_the_index_fire_theirs(
    database: tuple[str, Anvil], tmp_path: Path, alert: str
) -> None:
    url, anvil = database
    execute(url, STATEMENTS[alert])
    with gunicorn(url, RPC_URL=anvil.url) as address:
        metrics = exported(address)
    assert fires(tmp_path, alert, constant(metrics, SHOWN_BY[alert]))


def test_a_lost_database_fires_its_alert(database: tuple[str, Anvil], tmp_path: Path) -> None:
    url, anvil = database
    gone = url.replace("/scan_", "/gone_", 1)
    with gunicorn(gone, RPC_URL=anvil.url) as address:
        metrics = exported(address)
    assert fires(tmp_path, "ScanDatabaseDown", constant(metrics, "scan_database_up"))


@pytest.mark.parametrize(
    ("alert", "series"),
    [
        ("ScanInstanceDown", {f"up{{{LABELS}}}": "0x120"}),
        ("ScanThreadsBusy", {f"scan_http_busy_threads{{{LABELS}}}": "8x120"}),
        ("ScanDeliveriesStopped", {f"scan_deliveries_untried_seconds{{{LABELS}}}": "0+60x120"}),
        ("ScanNodeFailing", {f'scan_rpc_failures_total{{{LABELS},reason="x"}}': "0+30x120"}),
        (
            "ScanErrors",
            {
                f'scan_http_requests_total{{{LABELS},status="200"}}': "0+600x120",
                f'scan_http_requests_total{{{LABELS},status="503"}}': "0+60x120",
            },
        ),
        ("ScanReplicaDown", {f"scan_replica_up{{{LABELS}}}": "0x120"}),
        ("ScanReplicaBehind", {f"scan_replica_lag_blocks{{{LABELS}}}": "31x120"}),
        ("ScanLimitStorageDown", {f"scan_rate_limit_storage_up{{{LABELS}}}": "0x120"}),
        (
            "ScanDiskFull",
            {
                'node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"}': "1e9-8e6x120",
                'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"}': "2e9x120",
            },
        ),
        ("ScanCertificateExpires", {'probe_ssl_earliest_cert_expiry{instance="x"}': "86400x120"}),
    ],
)
def test_the_others_fire_by_their_series(
    tmp_path: Path, alert: str, series: dict[str, str]
) -> None:
    assert fires(tmp_path, alert, series)


def test_every_metric_of_the_rules_is_exported(database: tuple[str, Anvil]) -> None:
    """A renamed metric would silence its alert; names are declared before they have samples."""

    url, anvil = database
    with gunicorn(url, RPC_URL=anvil.url) as address:
        text = requests.get(f"{address}/metrics", timeout=10).text
    code = "".join(path.read_text() for path in (ROOT / "scan").rglob("metrics.py")) + text
    for rule in GROUPS["scan"]:
        for name in re.findall(r"\bscan_\w+", rule["expr"]):
            assert name.removesuffix("_total") in code, name
