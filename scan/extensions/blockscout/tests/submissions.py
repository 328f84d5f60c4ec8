"""Submissions to verify, as Blockscout's clients make them."""

from io import BytesIO

from tests.support.serving import wait_until


def submit(explorer, address, method, **fields):
    path = f"/api/v2/smart-contracts/{address}/verification/via/{method}"
    return explorer.client.post(path, data=fields, content_type="multipart/form-data")


def upload(text, name):
    return BytesIO(text.encode()), name


def outcome(explorer, response):
    """What Etherscan's interface says of a submission, once it has ended, with details."""
    assert response.status_code == 200, response.text
    guid = response.json["verification_id"]
    query = {"module": "contract", "action": "checkverifystatus", "guid": guid}

    def answer():
        return explorer.client.get("/api", query_string=query).json

    with explorer.running_jobs():
        wait_until(lambda: answer()["result"] != "Pending in queue")
    return " ".join([answer()["result"], *filter(None, [answer().get("details")])])
