"""The alerts: promtool accepts them, and they fire by what a real instance exports in a fault.

promtool lets two hours of those metrics pass.
"""

import json
import re
import subprocess
import time

import pytest
import requests
import yaml

from tests.support import WAIT_S
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.serving import ROOT, gunicorn, program

pytestmark = pytest.mark.thorough

RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
GROUPS = {group["name"]: group["rules"] for group in yaml.safe_load(RULES.read_text())["groups"]}
RULES_BY_ALERT = {rule["alert"]: rule for rules in GROUPS.values() for rule in rules}
LABELS = 'job="scan",instance="127.0.0.1:8001"'
OTHER = 'job="scan",instance="127.0.0.1:8101"'  # of another chain


def promtool(*arguments):
    """Its status, and what it prints."""
    command = [program("promtool"), *map(str, arguments)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WAIT_S
    )
    return done.returncode, done.stdout


@pytest.mark.check
def test_promtool_accepts_the_rules():
    status, output = promtool("check", "rules", RULES)
    assert status == 0, output


def firing(folder, *cases):
    """Of each alert whether it fires after two hours of these metrics, a sample a minute.

    promtool evaluates all rules of a file, so each case has a file with its own.
    """
    for n, (alert, series) in enumerate(cases):
        group = {"name": "scan", "rules": [RULES_BY_ALERT[alert]]}
        test = {
            "rule_files": [f"rules-{n}.yml"],
            "evaluation_interval": "1m",
            "tests": [
                {
                    "interval": "1m",
                    "input_series": [{"series": name, "values": v} for name, v in series.items()],
                    "alert_rule_test": [
                        {"eval_time": "115m", "alertname": alert, "exp_alerts": []}
                    ],
                }
            ],
        }
        (folder / f"rules-{n}.yml").write_text(yaml.safe_dump({"groups": [group]}))
        (folder / f"test-{n}.yml").write_text(yaml.safe_dump(test))
    _, output = promtool("test", "rules", *(folder / f"test-{n}.yml" for n in range(len(cases))))
    results = re.findall(r"^  (SUCCESS|FAILED:)$", output, re.M)
    assert len(results) == len(cases), output
    assert output.count("got:[\n") == results.count("FAILED:"), output
    return [result == "FAILED:" for result in results]


def exported(url, anvil):
    """What an instance exports, by the name with its labels."""
    with gunicorn(url, RPC_URL=anvil.url) as address:
        lines = requests.get(f"{address}/metrics", timeout=WAIT_S).text.splitlines()
    values = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in values}


def constant(metrics, *names):
    finite = {name: min(metrics[name], 1e15) for name in names if name in metrics}
    return {f"{name}{{{LABELS}}}": f"{value:f}x120" for name, value in finite.items()}


def metrics_of(expression):
    return set(re.findall(r"\b(?:scan|process|node|probe)_[a-z_]+\b(?!=)|\bup\b", expression))


@pytest.fixture
def url(anvil, database_url):
    """A chain whose newest block is of now, and its index."""
    anvil.send(anvil.accounts[0], anvil.accounts[1])
    anvil.call("anvil_mine", "0x2")
    anvil.send(anvil.accounts[0], anvil.accounts[1])
    anvil.call("evm_setNextBlockTimestamp", int(time.time()))
    anvil.call("anvil_mine", "0x1")
    Indexing(database_url, anvil.url).run_until(3)
    return database_url


def test_none_fires_for_a_sound_instance(url, anvil, tmp_path):
    metrics = exported(url, anvil)
    gauges = {name for rule in GROUPS["scan"] for name in metrics_of(rule["expr"])}
    series = constant(metrics, *gauges)
    assert len(series) >= 14
    series[f"up{{{LABELS}}}"] = "1x120"
    series[f'scan_chain_info{{{LABELS},chain_id="1",name="x"}}'] = "1x120"
    # Blocks of a development node come when there is a transaction.
    series[f"scan_head_age_seconds{{{LABELS}}}"] = "3600x120"
    assert not any(firing(tmp_path, *((rule["alert"], series) for rule in GROUPS["scan"])))


# Of an instance whose chain is in trouble, and of one whose chain is not.
@pytest.mark.check
def test_one_dead_chain_of_two_fires_and_two_sound_ones_do_not(tmp_path):
    cases = [
        (alert, {f"{name}{{{LABELS}}}": f"{one:f}x120", f"{name}{{{OTHER}}}": f"{other:f}x120"})
        for alert, (name, bad, good) in {
            "ScanDatabaseDown": ("scan_database_up", 0, 1),
            "ScanHeadStalled": ("scan_head_stalled", 1, 0),
            "ScanLagging": ("scan_lag_blocks", 31, 0),
            "ScanHeadOld": ("scan_head_age_seconds", 1000, 3),
            "ScanDeliveriesStopped": ("scan_deliveries_untried_seconds", 1000, 3),
            "ScanLimitStorageDown": ("scan_rate_limit_storage_up", 0, 1),
            "ScanDatabaseDiskLow": ("scan_disk_free_bytes", 2.1e9, 1e12),
            "ScanDatabaseDiskFills": ("scan_disk_full_seconds", 2.5e6, 1e9),
            "ScanWalArchiveFails": ("scan_wal_archive_failing", 1, 0),
            "ScanSlotKeepsWal": ("scan_slot_inactive_bytes", 1e10, 0),
        }.items()
        for one, other in ((bad, good), (good, bad), (good, good))
    ]
    fired = firing(tmp_path, *cases)
    assert [case for n, case in enumerate(cases) if fired[n] is (n % 3 == 2)] == []


def test_faults_of_the_index_fire_theirs(url, anvil, tmp_path):
    execute(url, "UPDATE indexer_status SET problem = 'no node', node_head = 100")
    execute(url, "UPDATE blocks SET timestamp = timestamp - interval '1 hour'")
    metrics = exported(url, anvil)
    of_the_index = {
        "ScanHeadStalled": "scan_head_stalled",
        "ScanLagging": "scan_lag_blocks",
        "ScanHeadOld": "scan_head_age_seconds",
    }
    cases = [(alert, constant(metrics, metric)) for alert, metric in of_the_index.items()]
    assert firing(tmp_path, *cases) == [True] * 3


@pytest.mark.check
def test_the_others_fire_by_their_series(tmp_path):
    """As promtool writes these, with @ for the labels of an instance, % for those of one of another
    chain; after "not" an alert must not fire."""
    text = r"""
ScanInstanceDown | up{@} 0x120
ScanThreadsBusy | scan_http_busy_threads{@} 8x120
ScanNodeFailing | scan_rpc_failures_total{@,reason="x"} 0+30x120
ScanErrors | scan_http_requests_total{@,status="200"} 0+600x120
    | scan_http_requests_total{@,status="503"} 0+60x120
ScanSlow | scan_http_request_seconds_bucket{@,route="/",le="1.0"} 0+600x120
    | scan_http_request_seconds_bucket{@,route="/",le="2.5"} 0+640x120
    | scan_http_request_seconds_bucket{@,route="/",le="+Inf"} 0+640x120
ScanReplicaDown | scan_replica_up{@} 0x120
ScanReplicaBehind | scan_replica_lag_blocks{@} 31x120
ScanDiskFull | node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"} 1e9-8e6x120
    | node_filesystem_size_bytes{mountpoint="/",fstype="ext4"} 2e9x120
# Only its indexer, or only another chain's instances go on.
ScanChainAbsent | scan_chain_info{@,chain_id="1",name="x"} 1x120
ScanChainAbsent | scan_chain_info{@,chain_id="1",name="x"} 1x60
    | scan_chain_info{%,chain_id="2",name="y"} 1x120
ScanMetricsAbsent | up{@} 1x120
ScanRestarts | process_start_time_seconds{@} 0+60x120
ScanWebhooksStopped | scan_webhooks_stopped{@} 4x100 5x20
ScanTransactionIdsAge | scan_transaction_id_age{@} 4.1e8x120
    | scan_transaction_id_freeze_age{@} 2e8x120
ScanWalArchiveFails | scan_wal_archive_age_seconds{@} 9e4x120
ScanCertificateExpires | probe_ssl_earliest_cert_expiry{instance="x"} 86400x120
# Another chain is busy and answers.
ScanErrors | scan_http_requests_total{%,route="/",status="200"} 0+60000x120
    | scan_http_requests_total{@,route="/",status="200"} 0+600x120
    | scan_http_requests_total{@,route="/",status="503"} 0+60x120
# What takes its time, as verification and streams do, is not slow.
ScanSlow not | scan_http_request_seconds_bucket{@,route="/api/v1/verify",le="1.0"} 0x120
    | scan_http_request_seconds_bucket{@,route="/api/v1/verify",le="+Inf"} 0+640x120
"""
    text = re.sub("^#.*\n", "", text, flags=re.M).replace("@", LABELS).replace("%", OTHER)
    cases, expected = [], []
    for case in re.split(r"\n(?=\w)", text.strip()):
        alert, *series = [part.strip() for part in case.split("|")]
        by_name = dict(re.fullmatch(r"(\S+\}) (.+)", one).groups() for one in series)
        cases.append((alert.removesuffix(" not"), by_name))
        expected.append(not alert.endswith(" not"))
    fired = firing(tmp_path, *cases)
    wrong = [case for n, case in enumerate(cases) if fired[n] is not expected[n]]
    assert wrong == [] and len(cases) == 18


def test_a_service_exports_every_metric_of_the_rules_and_the_dashboard(url, anvil):
    """A renamed metric would silence its alert. A label's first sample comes with its first event,
    but the metric's TYPE is exported from the start."""
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "scan.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = [rule["expr"] for rule in RULES_BY_ALERT.values()]
    names = {name for text in (*panels, *rules) for name in metrics_of(text)}
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
        created = requests.post(f"{address}/api/v1/webhooks", json=hook, timeout=WAIT_S)
        assert created.status_code == 201
        anvil.send(sender, sender)
        anvil.mine()
        Indexing(url, anvil.url).run_until(anvil.head())
        text = requests.get(f"{address}/metrics", timeout=WAIT_S).text
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    histograms = {f"{name}_bucket" for name, kind in types.items() if kind == "histogram"}
    # Prometheus's own, node_exporter's and blackbox_exporter's.
    of_others = set(
        "up node_filesystem_avail_bytes node_filesystem_size_bytes"
        " probe_ssl_earliest_cert_expiry".split()
    )
    assert names - types.keys() - histograms == of_others
