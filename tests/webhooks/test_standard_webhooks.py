"""The libraries of Standard Webhooks accept what is sent, used as docs/webhooks.md shows."""

import json
import os
import subprocess
from base64 import b64encode

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.made_blocks import Move, address
from tests.support.receiver import Answer, Received, Receiver
from tests.support.serving import wait_until
from tests.support.solidity import NODE
from tests.support.webhooks import QUICK, Hook, Webhooks

OWNER, OTHER = address("owner"), address("other")
VERIFY = """
const { Webhook } = require("standardwebhooks");
const { secret, body, headers } = JSON.parse(require("fs").readFileSync(0));
const whsec = "whsec_" + Buffer.from(secret).toString("base64");
console.log(JSON.stringify(new Webhook(whsec).verify(body, headers)));
"""


@pytest.fixture
def sent(webhooks: Webhooks, receiver: Receiver) -> tuple[Hook, Received]:
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering():
        [received] = receiver.wait_for(1)
    return hook, received


def headers_of(received: Received) -> dict[str, str]:
    return {name.lower(): value for name, value in received.headers.items()}


def verify_in_node(secret: str, received: Received) -> subprocess.CompletedProcess[str]:
    given = {
        "secret": secret, "body": received.body.decode(), "headers": headers_of(received)
    }  # fmt: skip
    return subprocess.run(
        ["node", "-e", VERIFY],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=60,
        cwd=NODE,
        env={"PATH": os.environ["PATH"]},
    )


def test_the_python_library_accepts_it(sent: tuple[Hook, Received]) -> None:
    hook, received = sent
    library = Webhook("whsec_" + b64encode(hook.secret.encode()).decode())
    assert library.verify(received.body, headers_of(received)) == received.event
    assert headers_of(received)["webhook-id"] == received.delivery
    with pytest.raises(WebhookVerificationError):
        library.verify(received.body + b" ", headers_of(received))
    with pytest.raises(WebhookVerificationError):
        library.verify(received.body, {**headers_of(received), "webhook-id": "1"})


def test_the_npm_library_accepts_it(sent: tuple[Hook, Received]) -> None:
    hook, received = sent
    assert json.loads(verify_in_node(hook.secret, received).stdout) == received.event
    refused = verify_in_node("0" * 64, received)
    assert refused.returncode != 0 and "No matching signature" in refused.stderr


def test_a_retry_is_signed_anew_under_the_same_id(webhooks: Webhooks, receiver: Receiver) -> None:
    hook = webhooks.register(OWNER, receiver.url())
    receiver.behaviour = lambda *_: Answer(500 if len(receiver.received) == 1 else 204)
    webhooks.chain.append([Move(OWNER, OTHER)])
    with webhooks.delivering(QUICK._replace(retry_steps_s=(1.5,))):
        first, second = map(headers_of, receiver.wait_for(2))
        wait_until(lambda: not webhooks.pending())
    assert first["webhook-id"] == second["webhook-id"]
    assert int(first["webhook-timestamp"]) < int(second["webhook-timestamp"])
    library = Webhook("whsec_" + b64encode(hook.secret.encode()).decode())
    assert library.verify(receiver.received[1].body, second)
