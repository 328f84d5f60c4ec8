"""`scan key request`, as a person calls it."""

import os
import re
import sys

import pytest
import requests
from eth_account.messages import encode_defunct

from tests.support import forked_python, wallets


def scan_key_request(*arguments, **environment):
    command = [sys.executable, "-m", "scan", "key", "request", *arguments]
    return forked_python.run(command, env={**os.environ, **environment})


def test_a_private_key_in_the_environment_is_enough(shared_server):
    wallet = wallets.new_wallet()
    done = scan_key_request(
        "--url",
        shared_server,
        "--label",
        "from a shell",
        SCAN_PRIVATE_KEY="0x" + bytes(wallet.key).hex(),
    )
    assert done.returncode == 0, done.stderr
    key = done.stdout.splitlines()[0]
    address = f"{shared_server}/api/v1/keys?owner={wallet.address}"
    listed = requests.get(address, headers={"X-API-Key": key}, timeout=5).json()["keys"]
    assert [record["label"] for record in listed] == ["from a shell"]


def test_the_printed_message_can_be_signed_elsewhere(shared_server):
    wallet = wallets.new_wallet()
    printed = scan_key_request("--owner", wallet.address).stdout
    [message] = re.findall(r"^Scan API Key Request\n.*\n.*$", printed, re.M)
    [timestamp] = re.findall(r"--timestamp (\d+)", printed)
    assert wallets.owner_of(wallet) in message
    signature = "0x" + bytes(wallet.sign_message(encode_defunct(text=message)).signature).hex()
    again = ("--url", shared_server, "--owner", wallet.address)
    done = scan_key_request(*again, "--timestamp", timestamp, "--signature", signature)
    assert re.match(r"scan_[0-9a-f]{64}\n", done.stdout), done.stderr


def test_a_refusal_is_printed_in_the_servers_words(shared_server):
    owner = wallets.new_wallet().address
    refused = scan_key_request("--url", shared_server, "--owner", owner, "--signature", "0x12")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "signature is malformed" in refused.stderr


@pytest.mark.check
def test_without_owner_or_private_key_it_says_what_to_give():
    refused = scan_key_request()
    assert refused.returncode == 1
    assert "--owner" in refused.stderr and "SCAN_PRIVATE_KEY" in refused.stderr


@pytest.mark.check
def test_an_address_without_a_scheme_is_named():
    owner = wallets.new_wallet().address
    refused = scan_key_request("--url", "localhost", "--owner", owner, "--signature", "0x12")
    assert refused.returncode == 1
    assert "no response from localhost/api/v1/keys: unknown url type" in refused.stderr
