"""Submissions to Sourcify's form, and what is looked up there."""

import re
from pathlib import Path

from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import VERSION
from tests.support.serving import wait_until

CHAIN = "31337"
SOURCE = Path(__file__).with_name("Stored.sol").read_text()
PATH = "contracts/Stored.sol"
IDENTIFIER = f"{PATH}:Stored"
STANDARD = standard_input({PATH: SOURCE}, optimizer={"enabled": True, "runs": 300})
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def get(explorer, path, **query):
    return explorer.client.get(path, query_string=query)


def submit(explorer, address, body, path="/v2/verify", client="::1"):
    peer = {"REMOTE_ADDR": client}
    return explorer.client.post(f"{path}/{CHAIN}/{address}", json=body, environ_base=peer)


def standard_request(source=SOURCE, **changed):
    given = {**STANDARD, "sources": {PATH: {"content": source}}}
    version = f"{VERSION}+commit.7893614a"
    body = {"stdJsonInput": given, "compilerVersion": version, "contractIdentifier": IDENTIFIER}
    return {**body, **changed}


def ended(explorer, response):
    assert response.status_code == 202, response.json
    verification_id = response.json["verificationId"]
    assert UUID.fullmatch(verification_id)
    path = f"/v2/verify/{verification_id}"
    with explorer.running_jobs():
        wait_until(lambda: get(explorer, path).json["isJobCompleted"])
    return get(explorer, path).json


def is_error(response, status, code):
    assert response.content_type == "application/json"
    value = response.json
    assert set(value) == {"customCode", "message", "errorId"} and UUID.fullmatch(value["errorId"])
    assert (response.status_code, value["customCode"]) == (status, code), value
    return True


def deployed(explorer, source=SOURCE):
    standard = {**STANDARD, "sources": {PATH: {"content": source}}}
    return explorer.deploy(compiled(VERSION, standard, PATH, "Stored").creation)
