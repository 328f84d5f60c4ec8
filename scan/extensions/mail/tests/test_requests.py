"""Who may ask for mail, how often, and what no form, mail address or other site can do."""

import pytest

from scan.extensions.mail import messages, settings, views
from scan.extensions.mail.tests.inbox import ANNA, SITE, TO
from tests.support import serving


def test_who_may_ask_is_bounded(mail, monkeypatch):
    for n in range(views.MAX_PER_MAILBOX_A_DAY):
        assert mail.ask(client=f"10.1.0.{n}").status_code == 200
    assert mail.ask(" ANNA@Example.org", client="10.1.1.1").status_code == 409
    for n in range(views.MAX_PER_CLIENT_A_DAY):
        assert mail.ask(f"bert{n}@example.org").status_code == 200
    assert mail.ask("carl@example.org").status_code == 409
    monkeypatch.setattr(views, "MAX_A_DAY", len(mail.inbox.mails))
    assert mail.ask("dora@example.org", client="10.1.1.2").status_code == 409
    assert mail.ask("anna+x@example.org", client="10.1.1.2").status_code == 409
    # What nobody has confirmed is gone after a day; a mail address that left then is never asked.
    monkeypatch.undo()
    left = mail.link("/mail/leave")
    assert mail.client.post(left).status_code == 200
    for table in ("mail_subscriptions", "mail_requests"):
        mail.webhooks.execute(f"UPDATE {table} SET created_at = created_at - interval '2 days'")  # noqa: S608
    left = mail.inbox.mails[-1][0].replace("@", "+tag@")
    assert mail.ask(left).status_code == 409
    assert mail.ask(mail.inbox.mails[-1][0]).status_code == 409
    assert mail.ask().status_code == 200
    assert mail.webhooks.execute("SELECT count(*) FROM mail_subscriptions") == [(2,)]
    assert mail.webhooks.execute("SELECT count(*) FROM mail_requests") == [(1,)]


def test_leaving_gives_no_requests_back(mail):
    """Else a mailbox would get a mail for each round, and a client could ask on and on."""
    for tag in ("", "+a", "+b"):
        mail.subscribed(f"anna{tag}@example.org")
        assert mail.client.post(mail.link("/mail/leave")).status_code == 200
    assert mail.ask(client="10.8.0.1").status_code == 409
    for number in range(2):
        mail.subscribed(f"bert{number}@example.org")
        assert mail.client.post(mail.link("/mail/leave")).status_code == 200
    assert mail.ask("carl@example.org").status_code == 409
    assert len(mail.inbox.mails) == 5
    [(kept,)] = mail.webhooks.execute("SELECT string_agg(r::text, '') FROM mail_requests r")
    assert "example.org" not in str(kept)


@pytest.mark.parametrize("address", ["10.7.0.{}", "2001:db8:1:{}::1"])
def test_a_network_is_bounded_as_a_whole(mail, monkeypatch, address):
    monkeypatch.setattr(views, "MAX_PER_NETWORK_A_DAY", 3)
    for number in range(3):
        client = address.format(number)
        assert mail.ask(f"anna{number}@example.org", client=client).status_code == 200
    assert mail.ask("bert@example.org", client=address.format(99)).status_code == 409
    assert mail.ask("bert@example.org", client="10.7.1.1").status_code == 200


@pytest.mark.parametrize("network", ["10.7.0.{}", "10.{}.0.1"])
def test_a_newcomer_is_mailed_before_what_others_have_asked_for(mail, monkeypatch, network):
    """Confirmations have a budget of their own, which delays and refuses nobody, also where a burst
    of requests came from as many networks."""
    monkeypatch.setattr(messages, "MOST_IN_10_MINUTES", 2)

    def request(client):
        form = {"watchAddress": f"0x{ANNA.hex()}", "events": "tx", "mail": f"a{client}@example.org"}
        answer = mail.client.post("/mail", data=form, environ_base={"REMOTE_ADDR": client})
        assert answer.status_code == 200

    for number in range(6):
        request(network.format(number))
    serving.wait_until(lambda: len(mail.inbox.mails) == 2)
    request("192.0.2.1")
    assert len(mail.inbox.mails) == 2
    mail.webhooks.execute("UPDATE mail_requests SET mailed_at = mailed_at - interval '10 minutes'")
    serving.wait_until(lambda: len(mail.inbox.mails) == 4)
    assert mail.inbox.mails[2][0] == "a192.0.2.1@example.org"


FOREIGN = (
    {"Origin": "https://other.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site", "Origin": SITE},
    {"Sec-Fetch-Site": "same-site"},
)
OWN = ({}, {"Origin": "http://localhost"}, {"Origin": SITE}, {"Sec-Fetch-Site": "same-origin"})


def test_another_site_cannot_send_the_form(mail):
    form = {"mail": TO, "watchAddress": f"0x{ANNA.hex()}", "events": "tx"}
    for headers in FOREIGN:
        refused = mail.client.post("/mail", data=form, headers=headers)
        assert refused.status_code == 403 and "Another site" in refused.text
    assert mail.webhooks.execute("SELECT FROM mail_requests") == []
    for number, headers in enumerate(OWN):
        data = {**form, "mail": f"anna{number}@example.org"}
        assert mail.client.post("/mail", data=data, headers=headers).status_code == 200
    serving.wait_until(lambda: len(mail.inbox.mails) == len(OWN))
    # Who has a token has it from a mail, and mail programs may run as pages of another site.
    for path in ("/mail/confirm", "/mail/leave"):
        assert mail.client.post(mail.link(path), headers=FOREIGN[0]).status_code == 200


@pytest.mark.parametrize("path", ["/decode", f"/address/0x{ANNA.hex()}/call"])
def test_other_forms_are_of_the_own_pages_too(mail, path):
    assert mail.client.post(path, headers=FOREIGN[0]).status_code == 403
    assert mail.client.post(path).status_code != 403
    assert mail.client.post("/api/v1/query", json={}, headers=FOREIGN[0]).status_code == 400


HOSTILE = (
    "anna@example.org\r\nBcc: bert@example.org",
    "anna@example.org,bert@example.org",
    "@",
    "",
    "anna@example.org\n",
    '"anna bert"@example.org',
    "anna@[127.0.0.1]",
    "änna@example.org",
    "anna@example",
    "a" * 65 + "@example.org",
    "a@" + "b." * 130 + "org",
    "a\0@example.org",
    "anna@-example.org",
    "<anna@example.org>",
    "anna%40example.org",
    "=?utf-8?q?a=0d=0ab?=@example.org",
    "a.=?utf-8?q?a=40b.org=2c?=@example.org",
)


@pytest.mark.parametrize("given", HOSTILE, ids=[ascii(text)[:20] for text in HOSTILE])
def test_no_header_can_be_made_of_an_address(given):
    with pytest.raises(ValueError, match="must be a mail address"):
        settings.mail_address(given)


def test_other_forms_are_refused_and_mail_nothing(mail):
    for form in ({"mail": HOSTILE[0]}, {"watchAddress": "0x1"}, {"events": "all"}, {"events": []}):
        answer = mail.ask(**form)
        assert answer.status_code == 400 and b'role="alert"' in answer.data
    for path in ("/mail/confirm", "/mail/confirm?token=x", "/mail/leave?token=x"):
        assert mail.client.get(path).status_code == 404
    assert mail.client.post("/mail/leave?token=" + "x" * 100).status_code == 400
    assert mail.inbox.mails == []


def test_events_that_are_not_indexed_are_not_offered(mail, monkeypatch):
    assert mail.ask(events="internal_transfer").status_code == 200
    monkeypatch.setattr(views, "EVENT_TYPES", ("tx", "log"))  # as without traces
    assert mail.ask(events="internal_transfer").status_code == 400
    assert "internal_transfer" not in mail.client.get("/mail").text
    asked = mail.client.get(mail.link("/mail/confirm"))  # before
    assert (asked.status_code, "<p>Internal transfer of" in asked.text) == (200, True)
