"""`scan run --anvil`: a node that starts and stops with the service."""

import os
import re
import sys

import pytest
import requests

from tests.support import WAIT_S
from tests.support.anvil import Node, _binary
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until

SCAN = (sys.executable, "-m", "scan")
OPTION = "--anvil=--port 0"


def with_anvil():
    return {"PATH": f"{_binary().parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.thorough
def test_the_node_starts_and_stops_with_the_service_and_goes_on_with_the_next(open_folder):

    def is_there(url):
        try:
            return requests.get(url, timeout=WAIT_S).status_code == 200
        except requests.ConnectionError:
            return False

    printed = re.compile(r"Page: +(\S+)\nNode: +(\S+) .*\nBuilds: none")
    for number in (1, 2):
        with scan_run(SCAN, open_folder, OPTION, **with_anvil()) as run:
            wait_until(lambda run=run: "Builds:" in run.output(), run.process)
            page, url = printed.search(run.output()).groups()
            assert page == run.url
            node = Node(url)
            one, two = node.call("eth_accounts")[:2]
            sent = node.call("eth_sendTransaction", {"from": one, "to": two, "value": "0x5"})
            wait_until(lambda: node.call("eth_getTransactionReceipt", sent) is not None)  # noqa: B023
            assert node.call("eth_getTransactionReceipt", sent)["blockNumber"] == hex(number)
            wait_until(lambda sent=sent: is_there(f"{run.url}/tx/{sent}"), run.process)
        with pytest.raises(Exception, match="refused"):
            node.call("eth_chainId")
    assert (open_folder / "var" / "anvil.log").stat().st_mode & 0o77 == 0


@pytest.mark.parametrize(
    ("option", "environment", "reason"),
    [
        (OPTION, {"PATH": "/nowhere", "HOME": "/nowhere"}, "foundryup installs it"),
        (OPTION, {**with_anvil(), "RPC_URL": "http://127.0.0.1:1"}, "leave RPC_URL out"),
        ("--anvil=--no-such-option", with_anvil(), "anvil did not start: error: unexpected"),
        ("--anvil='", with_anvil(), "must be options of anvil"),
    ],
)
def test_what_cannot_be_started_is_named(option, environment, reason, open_folder):
    with scan_run(SCAN, open_folder, option, **environment) as run:
        assert run.process.wait(WAIT_S) != 0
        assert reason in run.output()
