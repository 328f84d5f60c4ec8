"""`scan run` as a person has it: the demo chain, and a development node that comes and goes."""

import json
import sys

import pytest
import requests

from scan.commands import main
from tests.support import WAIT_S, faulty_node, serving
from tests.support.anvil import Anvil
from tests.support.explorer import compiled, standard_input
from tests.support.scan_run import scan_run

SCAN = (sys.executable, "-m", "scan")


@pytest.mark.check
@pytest.mark.parametrize("option", ["--port", "--host"])
def test_an_option_that_is_a_variable_names_it(option, capsys):
    with pytest.raises(SystemExit):
        main(["run", option, "9000"])
    name = option[2:].upper()
    assert f"{name} is set by the environment: {name}=" in capsys.readouterr().err


@pytest.mark.long
def test_a_service_runs_and_says_that_its_node_lacks_block_0(anvil, node, open_folder):
    """Once the node has the block, its chain is indexed."""
    anvil.mine(5)
    reason = "does not have block 0, whose hash identifies the chain"
    node.fault = faulty_node.prune(3, "null", genesis=True)
    with scan_run(SCAN, open_folder, RPC_URL=node.url) as run:
        serving.wait_until(lambda: reason in (run.ready().get("problem") or ""), run.process)
        assert requests.get(f"{run.url}/healthz", timeout=WAIT_S).status_code == 200
        assert reason in requests.get(run.url, timeout=WAIT_S).text
        node.fault = None
        run.wait_for_block(5)


@pytest.mark.long
def test_a_restarted_development_node_is_followed_in_a_database_of_its_own(open_folder, solc_dir):
    """Contracts that are deployed there again are verified again."""
    version, source = "0.8.28", "contract Box { uint public stored = 5; }"
    code = compiled(version, standard_input({"Box.sol": source}), "Box.sol", "Box").creation

    def deploy(anvil):
        """The address of a contract; where it lands depends on what its sender did before."""
        data = f"0x{code.removeprefix('0x')}"
        sent = anvil.send(anvil.accounts[0], None, data=data, gas=1_000_000)
        return anvil.receipt_of(sent)["contractAddress"]

    def is_verified():
        try:
            answer = requests.get(f"{scan.url}/api/v1/contracts/{box}", timeout=WAIT_S)
        except requests.ConnectionError:  # while the service changes to another database
            return False
        return answer.status_code == 200 and answer.json()["match"] == "full"

    port = serving.free_port()
    limits = {"SCAN_RATE_LIMIT_ANONYMOUS": "1000/second", "SCAN_SOLC_DIR": str(solc_dir)}
    with Anvil(port=port) as first:
        first.mine(2)
        with scan_run(SCAN, open_folder, RPC_URL=first.url, **limits) as scan:
            box = deploy(first)
            scan.wait_for_block(3)
            fields = {"sourceCode": source, "compilerVersion": version, "contractName": "Box"}
            body = {"address": box, "optimizationUsed": 0, **fields}
            answer = requests.post(f"{scan.url}/api/v1/verify", json=body, timeout=WAIT_S)
            assert answer.status_code == 200, answer.text
            serving.wait_until(lambda: [*(open_folder / "var" / "sources").glob("*.json")] != [])
            path = open_folder / "var" / "database_url"
            before = path.read_text()
            first.stop()
            with Anvil("--chain-id", "4242", port=port) as second:
                second.mine(1)
                scan.wait_for_block(1)
                assert path.read_text() != before
            assert "serves chain 4242 with genesis 0x" in scan.output()
            with Anvil(port=port) as third:  # as the first was, and begins before it ended
                serving.wait_until(lambda: path.read_text() == before)
                assert third.head() == 0
                third.mine(2)
                assert deploy(third) == box
                serving.wait_until(is_verified)
    chains = json.loads((open_folder / "var" / "chains.json").read_text())
    assert list(chains) == [f"http://127.0.0.1:{port}"]
