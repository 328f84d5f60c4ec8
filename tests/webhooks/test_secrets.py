"""A webhook's secret is rotated: for a day the former one signs beside the new one."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.made_blocks import Move, address
from tests.support.receiver import Answer
from tests.support.serving import completed
from tests.support.solidity import NODE

OWNER = address("owner")


def rotated(webhooks, hook, status=200):
    path = f"/api/v1/webhooks/{hook.id}/rotate-secret"
    answer = webhooks.client.post(path, headers=hook.headers)
    assert answer.status_code == status, answer.get_json()
    return hook._replace(secret=answer.get_json().get("secret"))


def verified(received, hook):
    """What the library makes of a request."""
    library = Webhook("whsec_" + b64encode(hook.secret.encode()).decode())
    return library.verify(received.body, dict(received.headers))


def sent(webhooks, receiver):
    """The next event, as the receiver gets it."""
    receiver.received.clear()
    webhooks.chain.append([Move(OWNER, OWNER)])
    with webhooks.delivering():
        [received] = receiver.wait_for(1)
    return received


def test_both_secrets_sign_until_the_former_one_ends(webhooks, receiver):
    hook = webhooks.register(OWNER, receiver.url())
    after = rotated(webhooks, hook)
    received = sent(webhooks, receiver)
    assert received.headers["Webhook-Signature"].count("v1,") == 2
    assert verified(received, hook) == verified(received, after) == received.event
    assert received.is_signed_with(after.secret)
    given = {"secret": hook.secret, "body": received.body.decode(), "headers": received.headers}
    verify = Path(__file__).with_name("verify.cjs").read_text()
    script = completed(["node", "-e", verify], cwd=NODE, input=json.dumps(given))
    assert json.loads(script.stdout) == received.event
    webhooks.execute("UPDATE former_secrets SET ends_at = now()")
    received = sent(webhooks, receiver)
    assert verified(received, after) == received.event
    with pytest.raises(WebhookVerificationError):
        verified(received, hook)


def test_only_the_new_secret_manages_the_webhook(webhooks, receiver):
    """Whoever has stolen a secret must not hold the webhook for another day by it."""
    hook = webhooks.register(OWNER, receiver.url())
    after = rotated(webhooks, hook)
    assert after.secret != hook.secret
    rotated(webhooks, hook, status=403)
    path = f"/api/v1/webhooks/{hook.id}"
    assert webhooks.client.delete(path, headers=hook.headers).status_code == 403
    assert webhooks.client.get(path, headers=after.headers).status_code == 200


def test_the_newest_six_secrets_sign_and_no_others_are_kept(webhooks, receiver):
    hooks = [webhooks.register(OWNER, receiver.url())]
    for _ in range(8):
        hooks.append(rotated(webhooks, hooks[-1]))
    received = sent(webhooks, receiver)
    assert received.headers["Webhook-Signature"].count("v1,") == 6
    assert all(verified(received, hook) == received.event for hook in hooks[-6:])
    kept = "SELECT count(*) <= 6, min(ends_at) - now() > '23 h' FROM former_secrets"
    assert webhooks.execute(kept) == [(True, True)]
    webhooks.execute("UPDATE former_secrets SET ends_at = now()")
    rotated(webhooks, hooks[-1])
    assert webhooks.execute("SELECT count(*) FROM former_secrets") == [(1,)]


def test_a_delivery_under_way_is_signed_by_the_new_secret_next(webhooks, receiver):
    """A lease held its secret for five seconds."""
    hook = webhooks.register(OWNER, receiver.url())
    webhooks.chain.append([Move(OWNER, OWNER) for _ in range(5)])
    made = []
    receiver.behaviour = lambda *_: [made or made.append(rotated(webhooks, hook)), Answer()][1]
    with webhooks.delivering():
        received = receiver.wait_for(5)
    assert all(verified(of, made[0]) == of.event for of in received[1:])
