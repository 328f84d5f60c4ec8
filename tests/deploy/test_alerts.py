"""The alerts: promtool accepts them, and they fire by what a real instance exports in a fault.

promtool lets two hours of those metrics pass.
"""

import json
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
OTHER = 'job="scan",instance="127.0.0.1:8101"'  # of another chain


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program("promtool"), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


@pytest.mark.check
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
    return {f"{name}{{{LABELS}}}": f"{metrics[name]:f}x120" for name in names if name in metrics}


@pytest.fixture(scope="module")
def database(postgres: Postgres, template: str) -> Iterator[tuple[str, Anvil]]:
    with Anvil() as anvil:
        anvil.send(anvil.accounts[0], anvil.accounts[1])
        anvil.call("anvil_mine", "0x2")
        anvil.send(anvil.accounts[0], anvil.accounts[1])
        anvil.call("evm_setNextBlockTimestamp", int(time.time()))
        anvil.call("anvil_mine", "0x1")
        with postgres.cloned(template) as url:
            Indexing(url, anvil.url).run_until(3)
            yield url, anvil


GAUGES = [
    "scan_database_up",
    "scan_head_stalled",
    "scan_lag_blocks",
    "scan_head_age_seconds",
    "scan_http_busy_threads",
    "scan_rate_limit_storage_up",
    "scan_disk_free_bytes",
    "scan_disk_full_seconds",
    "scan_deliveries_untried_seconds",
    "scan_webhooks_stopped",
    "scan_transaction_id_age",
    "scan_transaction_id_freeze_age",
    "scan_wal_archive_failing",
    "scan_slot_inactive_bytes",
    "process_start_time_seconds",
]


def test_none_fires_for_a_sound_instance(database: tuple[str, Anvil], tmp_path: Path) -> None:
    url, anvil = database
    with gunicorn(url, RPC_URL=anvil.url) as address:
        metrics = exported(address)
    series = constant(metrics, *GAUGES)
    assert len(series) == len(GAUGES) - 1  # nothing waits for delivery
    series[f"up{{{LABELS}}}"] = "1x120"
    series[f'scan_chain_info{{{LABELS},chain_id="1",name="x"}}'] = "1x120"
    assert [
        rule["alert"] for rule in GROUPS["scan"] if fires(tmp_path, rule["alert"], series)
    ] == []


# Of an instance whose chain is in trouble, and of one whose chain is not.
BY_CHAIN = {
    "ScanDatabaseDown": ("scan_database_up", 0, 1),
    "ScanHeadStalled": ("scan_head_stalled", 1, 0),
    "ScanLagging": ("scan_lag_blocks", 31, 0),
    "ScanHeadOld": ("scan_head_age_seconds", 1000, 3),
    "ScanDeliveriesStopped": ("scan_deliveries_untried_seconds", 1000, 3),
    "ScanLimitStorageDown": ("scan_rate_limit_storage_up", 0, 1),
    "ScanDatabaseDiskLow": ("scan_disk_free_bytes", 1e9, 1e12),
    "ScanDatabaseDiskFills": ("scan_disk_full_seconds", 1e5, 1e9),
    "ScanWalArchiveFails": ("scan_wal_archive_failing", 1, 0),
    "ScanSlotKeepsWal": ("scan_slot_inactive_bytes", 1e10, 0),
}


@pytest.mark.check
@pytest.mark.parametrize("alert", sorted(BY_CHAIN))
def test_one_dead_chain_of_two_fires_and_two_sound_ones_do_not(tmp_path: Path, alert: str) -> None:
    name, bad, good = BY_CHAIN[alert]
    for dead, sound in ((LABELS, OTHER), (OTHER, LABELS)):
        both = {f"{name}{{{dead}}}": f"{bad:f}x120", f"{name}{{{sound}}}": f"{good:f}x120"}
        assert fires(tmp_path, alert, both)
    assert not fires(
        tmp_path, alert, {f"{name}{{{label}}}": f"{good:f}x120" for label in (LABELS, OTHER)}
    )


@pytest.mark.check
def test_a_busy_chain_does_not_hide_the_errors_of_another(tmp_path: Path) -> None:
    requests_of = f'scan_http_requests_total{{{LABELS},route="/",method="GET",status='
    others = f'scan_http_requests_total{{{OTHER},route="/",method="GET",status='
    series = {
        f'{others}"200"}}': "0+60000x120",
        f'{requests_of}"200"}}': "0+600x120",
        f'{requests_of}"503"}}': "0+60x120",
    }
    assert fires(tmp_path, "ScanErrors", series)


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


@pytest.mark.check
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
        ("ScanDatabaseDiskFills", {f"scan_disk_full_seconds{{{LABELS}}}": "2.5e6x120"}),
        ("ScanDatabaseDiskLow", {f"scan_disk_free_bytes{{{LABELS}}}": "2.1e9x120"}),
        (
            "ScanDiskFull",
            {
                'node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"}': "1e9-8e6x120",
                'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"}': "2e9x120",
            },
        ),
        # Only another chain's instances go on.
        (
            "ScanChainAbsent",
            {
                f'scan_chain_info{{{LABELS},chain_id="1",name="x"}}': "1x60",
                f'scan_chain_info{{{OTHER},chain_id="2",name="y"}}': "1x120",
            },
        ),
        ("ScanMetricsAbsent", {f"up{{{LABELS}}}": "1x120"}),
        ("ScanRestarts", {f"process_start_time_seconds{{{LABELS}}}": "0+60x120"}),
        ("ScanWebhooksStopped", {f"scan_webhooks_stopped{{{LABELS}}}": "4x100 5x20"}),
        (
            "ScanTransactionIdsAge",
            {
                f"scan_transaction_id_age{{{LABELS}}}": "4.1e8x120",
                f"scan_transaction_id_freeze_age{{{LABELS}}}": "2e8x120",
            },
        ),
        ("ScanWalArchiveFails", {f"scan_wal_archive_age_seconds{{{LABELS}}}": "9e4x120"}),
        ("ScanGatewayFails", {'probe_success{job="scan-gateway",instance="x"}': "0x120"}),
        ("ScanCertificateExpires", {'probe_ssl_earliest_cert_expiry{instance="x"}': "86400x120"}),
    ],
)
def test_the_others_fire_by_their_series(
    tmp_path: Path, alert: str, series: dict[str, str]
) -> None:
    assert fires(tmp_path, alert, series)


DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "scan.json").read_text())
ALERTS = {rule["alert"]: rule["expr"] for rules in GROUPS.values() for rule in rules}
# Prometheus's own, node_exporter's and blackbox_exporter's.
OF_OTHERS = {
    *("up", "node_filesystem_avail_bytes", "node_filesystem_size_bytes"),
    *("probe_ssl_earliest_cert_expiry", "probe_success"),
}


def metrics_of(expression: str) -> set[str]:
    names = re.findall(r"\b(?:scan|process|node|probe)_[a-z_]+\b(?!=)|\bup\b", expression)
    return set(names)


def panels_with(alert: str) -> list[set[str]]:
    """Metrics of each panel whose description names the alert."""
    return [
        {name for target in panel["targets"] for name in metrics_of(target["expr"])}
        for panel in DASHBOARD["panels"]
        if re.search(rf"\b{alert}\b", panel.get("description", ""))
    ]


@pytest.mark.check
@pytest.mark.parametrize("alert", sorted(ALERTS))
def test_the_dashboard_has_a_panel_for_each_alert(alert: str) -> None:
    [shown] = panels_with(alert)
    assert metrics_of(ALERTS[alert]) and metrics_of(ALERTS[alert]) <= shown


def test_a_service_exports_every_metric_of_the_rules_and_the_dashboard(
    database: tuple[str, Anvil],
) -> None:
    """A renamed metric would silence its alert. A label's first sample comes with its first event,
    but the metric's TYPE is exported from the start."""
    url, anvil = database
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    names = set().union(*(metrics_of(text) for text in [*expressions, *ALERTS.values()]))
    assert len(names) >= 30
    with gunicorn(
        url,
        RPC_URL=anvil.url,
        READ_DATABASE_URL=f"{url}&application_name=replica",
        SCAN_DELIVERY="off",
        SCAN_WEBHOOK_ALLOW_NETWORKS="127.0.0.0/8",
    ) as address:
        sender = anvil.accounts[0]
        hook = {"ownerAddress": sender, "url": "https://127.0.0.1:9/", "eventTypes": ["tx"]}
        assert requests.post(f"{address}/api/v1/webhooks", json=hook, timeout=10).status_code == 201
        anvil.send(sender, sender)
        anvil.mine()
        Indexing(url, anvil.url).run_until(anvil.head())
        text = requests.get(f"{address}/metrics", timeout=10).text
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    histograms = {f"{name}_bucket" for name, kind in types.items() if kind == "histogram"}
    assert names - types.keys() - histograms == OF_OTHERS
