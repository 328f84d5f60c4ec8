"""Clients published for Python, with Scan's host for theirs: which calls are answered."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.support import WAIT_S, reasons
from tests.support.serving import ROOT, completed, gunicorn

pytestmark = pytest.mark.long

CLIENTS = ROOT / "tests/support/clients"
OF_TOKENS = (
    "REST get_token_counters",
    "REST get_token_holders",
    "REST get_token_info",
    "REST get_token_transfers",
    "REST get_smart_contract",
)
# Errors that clients make of answers: lists without rows, and guids of nothing.
ANSWERS = (
    "No transactions found",
    "No blocks found",
    "Unknown UID",
    "was unfortunately not detected",
)
# Of the client itself, at the last page.
OWN_FAULTS = {"Account.get_all_blocks_mined", "Account.get_all_transactions"}


@pytest.fixture(scope="module")
def served(own_index, scenario):
    url = own_index.url
    reasons.verify(url, [scenario.stage.contracts["harbor"]])
    limits = {"SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute"}
    with gunicorn(url, RPC_URL=scenario.anvil.url, **limits) as served:
        yield served


def arguments(scenario):
    """The value of each parameter of the clients' functions, by its name."""
    truth, stage = scenario.truth, scenario.stage
    token, person = stage.contracts["harbor"].address, stage.people[1]
    transaction = next(t for t in truth.transactions if t["fromAddress"] == person.lower())
    block, day = transaction["blockNumber"], truth.blocks[0]["timestamp"][:10]
    named = {
        ("address",): person,
        ("addresses", "contractaddresses"): [token],
        ("contract_address", "contractaddress", "to"): token,
        ("txhash", "tx_hash"): transaction["hash"],
        ("blockno", "block_no", "block"): block,
        ("block_number",): str(block),
        ("start_date", "end_date"): day,
        ("data",): "0x70a08231" + person[2:].lower().rjust(64, "0"),
        ("value", "position", "index"): "0x0",
        ("gas_price",): "0x3b9aca00",
        ("gas",): "0x186a0",
        ("page", "offset"): "1",
    }
    values = {name: value for names, value in named.items() for name in names}
    return values | {
        "action": "balance",
        "client_type": "geth",
        "closest": "before",
        "compiler_version": "v0.8.28+commit.7893614a",
        "contract_name": "A",
        "contract_type": "proxy",
        "endblock": "99999999",
        "full": False,
        "guid": f"proxy-{token[2:].lower()}-any",
        "raw_hex": "0x02",
        "sort": "asc",
        "source_code": "contract A {}",
        "startblock": "0",
        "sync_mode": "archive",
        "token_name": "HBR",
        "ts": 1_800_000_000,
    }


def own_arguments(scenario):
    """Values of single functions, by client."""
    stage, miner = scenario.stage, scenario.truth.blocks[0]["miner"]
    token, keepers = (stage.contracts[name].address for name in ("harbor", "keepers"))
    owned = {"address": stage.people[1]}
    later = scenario.truth.head + 1_000
    return {
        "aioetherscan": {
            "account.mined_blocks": {"address": miner},
            "account.token_transfers": {"address": stage.people[1]},
            "block.est_block_countdown_time": {"blockno": later},
            "contract.check_proxy_contract_verification": {"guid": "proxy"},
            "contract.check_verification_status": {"guid": "none"},
            "contract.contract_abi": {"address": token},
            "contract.contract_source_code": {"address": token},
            "logs.get_logs": {"address": token},
            "proxy.estimate_gas": {"to": stage.people[1]},
            "token.token_holding_erc721": owned,
            "token.token_info": {"contract_address": token},
            "token.token_inventory": {**owned, "contract_address": keepers},
        },
        "blockscout_python": {
            "RPC get_est_block_countdown_time_by_block_number": {"block_no": later},
            **{function: {"address": token} for function in OF_TOKENS},
        },
    }


def environment(folder, *packages):
    """The Python of a new environment with these packages."""
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=WAIT_S)
    done = completed(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return python


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    return environment(folder, "-r", str(CLIENTS / "requirements.txt"))


def check(python, name, served, scenario, folder):
    """As many functions of a client return a result as the guide says."""
    own = own_arguments(scenario).get(name, {})
    done = completed(
        [python, CLIENTS / "call_all.py", name],
        input=json.dumps({"url": served, "arguments": arguments(scenario), "of": own}),
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results = json.loads(done.stdout)  # the error of each function, "" where there is none
    failed = {
        function: error
        for function, error in results.items()
        if error and (function in OWN_FAULTS or not any(answer in error for answer in ANSWERS))
    }
    guide = " ".join((ROOT / "docs/compatible.md").read_text(encoding="utf-8").split())
    client = name.replace("_", "-")
    assert re.search(
        rf"\| {client} [\d.]+ \| .+? \| {len(results) - len(failed)} of {len(results)} ", guide
    ), failed


@pytest.mark.parametrize("name", ["aioetherscan", "py_etherscan_api", "blockscout_python"])
def test_calls_of_a_client(served, scenario, python, tmp_path, name):
    check(python, name, served, scenario, tmp_path)


def test_calls_of_ape(served, scenario, tmp_path):
    python = environment(tmp_path / "ape", "ape-etherscan==0.8.7")
    (tmp_path / "ape-config.yaml").write_text(
        "etherscan:\n  ethereum:\n    rate_limit: 1000\n"
        f"    local:\n      uri: {served}\n      api_uri: {served}/api\n"
    )
    check(python, "ape_etherscan", served, scenario, tmp_path)
