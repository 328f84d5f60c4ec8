"""The Helm chart, rendered by helm, and the Kurtosis package, run by a Starlark interpreter."""

import sys
from pathlib import Path

import pytest
import starlark
import yaml

from scan.settings import Settings
from tests.support.serving import ROOT, completed

pytestmark = pytest.mark.check

CHART = ROOT / "deploy" / "helm"
REDIS = "settings.SCAN_RATE_LIMIT_STORAGE=redis://redis:6379"


def helm(*arguments):
    return completed([Path(sys.executable).with_name("helm"), *arguments])


def rendered(*values):
    text = helm("template", "x", str(CHART), "--set", ",".join(("existingSecret=s", *values)))
    assert text.returncode == 0, text.stderr
    return [document for document in yaml.safe_load_all(text.stdout) if document]


def test_helm_accepts_the_chart():
    checked = helm("lint", "--strict", str(CHART), "--set", "existingSecret=s")
    assert checked.returncode == 0, checked.stdout


def test_one_indexer_one_deliverer_and_the_api():
    objects = rendered("replicas=3", REDIS, "ingress.enabled=true", "ingress.host=a.example")
    deployments = {
        item["metadata"]["labels"]["app.kubernetes.io/component"]: item["spec"]
        for item in objects
        if item["kind"] == "Deployment"
    }
    replicas = {name: spec["replicas"] for name, spec in deployments.items()}
    assert replicas == {"index": 1, "deliver": 1, "serve": 3}
    assert deployments["index"]["strategy"] == {"type": "Recreate"}
    for process, spec in deployments.items():
        (container,) = spec["template"]["spec"]["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["envFrom"][1] == {"secretRef": {"name": "s"}}
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert (container["args"], ports) == {  # of the processes, with the names of their ports
            "serve": (["serve"], {"http": 8000}),
            "index": (["index", "--metrics-port", "9100"], {"metrics": 9100}),
            "deliver": (["deliver", "--metrics-port", "9100"], {"metrics": 9100}),
        }[process]
        [port] = ports
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": port}
    selectors = [item["spec"]["selector"] for item in objects if item["kind"] == "Service"]
    assert selectors == [deployments["serve"]["template"]["metadata"]["labels"]]
    (ingress,) = (item for item in objects if item["kind"] == "Ingress")
    assert ingress["spec"]["rules"][0]["host"] == "a.example"


def test_pods_are_placed_watched_and_kept():
    placed = ("tolerations[0].key=scan", "affinity.nodeAffinity.x=y")
    watched = ("podMonitor.enabled=true", "podMonitor.labels.release=prometheus")
    objects = rendered(*placed, *watched, "podDisruptionBudget.enabled=true")
    by_kind = {item["kind"]: item for item in objects}
    pods = [i["spec"]["template"] for i in objects if i["kind"] == "Deployment"]
    for pod in pods:
        assert pod["spec"]["tolerations"] == [{"key": "scan"}]
        assert pod["spec"]["affinity"] == {"nodeAffinity": {"x": "y"}}
    monitor = by_kind["PodMonitor"]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    selected = monitor["spec"]["selector"]["matchLabels"].items()
    assert all(selected <= pod["metadata"]["labels"].items() for pod in pods)
    ports = {port["name"] for pod in pods for port in pod["spec"]["containers"][0]["ports"]}
    assert {one["port"] for one in monitor["spec"]["podMetricsEndpoints"]} == ports
    assert monitor["spec"]["jobLabel"] == "app.kubernetes.io/name"
    kept = by_kind["PodDisruptionBudget"]["spec"]
    assert kept["maxUnavailable"] == 1
    [service] = (i["spec"]["selector"] for i in objects if i["kind"] == "Service")
    assert kept["selector"]["matchLabels"] == service
    assert not {"PodMonitor", "PodDisruptionBudget"} & {item["kind"] for item in rendered()}


def test_its_settings_are_settings_of_scan():
    (values,) = (
        item["data"]
        for item in rendered("settings.SCAN_CHAIN_NAME=Acme", "trustedProxies=1", REDIS)
        if item["kind"] == "ConfigMap"
    )
    settings = Settings.from_environment(values)
    assert (settings.host, settings.port, settings.trusted_proxies) == ("0.0.0.0", 8000, 1)
    assert (settings.chain_name, settings.log_format) == ("Acme", "json")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("replicas=1", "existingSecret"),
        ("existingSecret=s,replicas=2", "several replicas need settings.SCAN_RATE_LIMIT_STORAGE"),
        ("existingSecret=s,settings.DATABASE_URL=a", "settings"),  # it has a password
        ("existingSecret=s,image.digest=latest", "digest"),
        ("existingSecret=s,replica=2", "replica"),
    ],
)
def test_wrong_values_are_named(values, reason):
    refused = helm("template", "x", str(CHART), "--set", values)
    assert refused.returncode != 0
    assert reason in refused.stderr


def test_the_kurtosis_package_adds_the_service():
    def run_package(arguments):
        """What main.star adds; Kurtosis's own values are dictionaries of their arguments."""
        module = starlark.Module()
        for name in ("ServiceConfig", "PortSpec", "ReadyCondition", "GetHttpRequestRecipe", "add"):
            module.add_callable(name, lambda **values: values)
        program = f"{text}\nresult = run(struct(add_service = add), {arguments})\n"
        extensions = [starlark.LibraryExtension.StructType]
        parsed = starlark.parse("main.star", program)
        starlark.eval(module, parsed, starlark.Globals.extended_by(extensions))
        return module["result"]

    text = (ROOT / "deploy" / "kurtosis" / "main.star").read_text()
    service = run_package('["http://a:8545", "http://b:8545"], settings = {"SCAN_LOGS": "all"}')
    config = service["config"]
    assert config["env_vars"] == {"SCAN_LOGS": "all", "RPC_URL": "http://a:8545,http://b:8545"}
    assert config["ports"]["http"]["number"] == 8000
    assert config["ready_conditions"]["recipe"]["endpoint"] == "/readyz"
    with pytest.raises(starlark.StarlarkError, match="at least one URL of a node"):
        run_package("[]")
