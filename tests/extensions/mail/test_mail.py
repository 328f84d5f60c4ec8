"""E-mail by a real SMTP server: asked for, confirmed, mailed, left, bounded, retried."""

import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from flask.testing import FlaskClient

from app import create_app
from scan.brand import Brand
from scan.environment import read_variables
from scan.errors import SettingError
from scan.extensions.mail import confirmations, deliveries, pages, subscriptions, worker
from scan.extensions.mail.addresses import mail_address
from scan.extensions.mail.mailer import mailer
from scan.extensions.mail.settings import Settings as MailSettings
from tests.support.database import execute
from tests.support.made_blocks import Move, address
from tests.support.receiver import Authority
from tests.support.serving import free_port, wait_until
from tests.support.webhooks import Webhooks

ANNA, BERT = address("anna"), address("bert")
SITE = "https://scan.example"
TO = "anna@example.org"


class Inbox:
    """Receives mails; `answers` are its next answers to RCPT, instead of accepting it."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, EmailMessage]] = []
        self.answers: list[str] = []

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, to: str, _options: list[str]
    ) -> str:
        if self.answers:
            return self.answers.pop(0)
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        [to] = envelope.rcpt_tos
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage) and message["To"] == to
        self.mails.append((to, message))
        return "250 OK"


class Mail(NamedTuple):
    webhooks: Webhooks
    client: FlaskClient
    inbox: Inbox
    port: int

    def ask(self, mail: str = TO, client: str = "10.9.0.1", **more: Any) -> Any:
        """The answer, once what it mails is there."""
        form = {"mail": mail, "watchAddress": f"0x{ANNA.hex()}", "events": "tx", **more}
        mails = len(self.inbox.mails)
        answer = self.client.post("/mail", data=form, environ_base={"REMOTE_ADDR": client})
        wait_until(lambda: answer.status_code != 200 or len(self.inbox.mails) > mails)
        return answer

    def link(self, path: str) -> str:
        """The newest mail's link, without the site."""
        _, message = self.inbox.mails[-1]
        text = message.get_content()
        [link] = re.findall(rf"{SITE}({path}\?token=\S+)", text)
        return str(link)

    def subscribed(self, mail: str = TO) -> str:
        """The link that ends the new subscription."""
        assert self.ask(mail).status_code == 200
        assert self.client.post(self.link("/mail/confirm")).status_code == 200
        return self.link("/mail/leave")


@pytest.fixture
def mail(webhooks: Webhooks, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mail]:
    monkeypatch.setattr(worker, "EVERY_S", 0.02)
    inbox = Inbox()
    server = Controller(inbox, hostname="127.0.0.1", port=free_port())
    server.start()
    own = MailSettings(f"smtp://127.0.0.1:{server.port}/?from=scan@scan.example")
    settings = {
        "of_extensions": {MailSettings: own},
        "brand": Brand(name='Scan "x" <a@b>', url=SITE),
    }
    webhooks.settings = replace(webhooks.settings, **settings)
    client = webhooks.another()
    with beside(client):
        yield Mail(webhooks, client, inbox, server.port)
    server.stop()


@contextmanager
def beside(client: FlaskClient) -> Iterator[None]:
    """Mail what asks for confirmations, as the worker of this service does."""
    [thread] = worker.threads(client.application.extensions["scan"])
    thread.start()
    yield
    thread.stop()


def test_events_are_mailed_once_confirmed_until_left(mail: Mail) -> None:
    assert mail.ask().status_code == 200
    to, asking = mail.inbox.mails[0]
    assert (to, asking["List-Unsubscribe-Post"]) == (TO, "List-Unsubscribe=One-Click")
    chain = mail.webhooks.chain
    with mail.webhooks.delivering():
        chain.append([Move(ANNA, BERT)])
        confirm = mail.link("/mail/confirm")
        assert mail.client.get(confirm).status_code == 200  # as a program that follows links
        [sent] = chain.append([Move(BERT, ANNA)])
        assert mail.client.post(confirm).status_code == 200
        assert mail.client.post(confirm).status_code == 200
        [wanted] = chain.append([Move(ANNA, BERT)])
        wait_until(lambda: len(mail.inbox.mails) == 2)
        to, event = mail.inbox.mails[1]
        text = event.get_content()
        assert to == TO and f"{SITE}/tx/0x{wanted.hex()}" in text and sent.hex() not in text
        assert event["Subject"] == f"Transaction 0x{wanted.hex()[:8]}"
        assert event["From"].addresses[0].addr_spec == "scan@scan.example"
        # One click, as RFC 8058 has it: a POST to the header's URL.
        leave = urlsplit(event["List-Unsubscribe"].strip("<>"))
        assert f"{leave.scheme}://{leave.netloc}" == SITE
        path = f"{leave.path}?{leave.query}"
        assert mail.client.get(path).headers["Cache-Control"] == "no-store"
        for _ in range(2):
            left = mail.client.post(path, data={"List-Unsubscribe": "One-Click"})
            assert left.status_code == 200
        chain.append([Move(ANNA, BERT)])
        wait_until(lambda: not mail.webhooks.pending())
    assert len(mail.inbox.mails) == 2
    assert mail.client.post(confirm).status_code == 404


def test_what_a_fork_took_back_is_mailed_as_such(mail: Mail) -> None:
    mail.subscribed()
    with mail.webhooks.delivering():
        mail.webhooks.chain.append([])
        mail.webhooks.chain.append([Move(ANNA, BERT)])
        wait_until(lambda: len(mail.inbox.mails) == 2)
        mail.webhooks.chain.unwind(0)
        wait_until(lambda: len(mail.inbox.mails) == 3)
    assert mail.inbox.mails[2][1]["Subject"].startswith("Taken back by a fork: Transaction 0x")


def test_a_mail_is_retried_and_a_refused_address_is_left_alone(
    mail: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MAX_MAILS_A_DAY", 2)  # attempts that fail are none
    mail.subscribed()
    mail.inbox.answers = ["451 try later", "421 try later"]
    with mail.webhooks.delivering():
        mail.webhooks.chain.append([Move(ANNA, BERT)])
        wait_until(lambda: len(mail.inbox.mails) == 2)
        mail.inbox.answers = ["550 no such mailbox"]
        mail.webhooks.chain.append([Move(ANNA, BERT)])
        wait_until(lambda: not mail.inbox.answers and not mail.webhooks.pending())
        mail.webhooks.chain.append([Move(ANNA, BERT)])
        wait_until(lambda: not mail.webhooks.pending())
    assert len(mail.inbox.mails) == 2


def test_a_busy_address_is_mailed_so_often_a_day(
    mail: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MAX_MAILS_A_DAY", 3)
    mail.subscribed()
    with mail.webhooks.delivering():
        mail.webhooks.chain.append([Move(ANNA, BERT)] * 9)
        wait_until(lambda: len(mail.inbox.mails) == 4 and not mail.webhooks.pending())
    assert "last mail of today" in mail.inbox.mails[-1][1].get_content()
    assert "last mail of today" not in mail.inbox.mails[-2][1].get_content()


def test_who_may_ask_is_bounded(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(subscriptions.MAX_PER_MAILBOX_A_DAY):
        assert mail.ask(client=f"10.1.0.{n}").status_code == 200
    assert mail.ask(" ANNA@Example.org", client="10.1.1.1").status_code == 409
    for n in range(subscriptions.MAX_PER_CLIENT_A_DAY):
        assert mail.ask(f"bert{n}@example.org").status_code == 200
    assert mail.ask("carl@example.org").status_code == 409
    monkeypatch.setattr(subscriptions, "MAX_A_DAY", len(mail.inbox.mails))
    assert mail.ask("dora@example.org", client="10.1.1.2").status_code == 409
    assert mail.ask("anna+x@example.org", client="10.1.1.2").status_code == 409
    # What nobody has confirmed is gone after a day; a mail address that left then is never asked.
    monkeypatch.undo()
    left = mail.link("/mail/leave")
    assert mail.client.post(left).status_code == 200
    url = mail.webhooks.settings.database_url
    for table in ("mail_subscriptions", "mail_requests"):
        execute(url, f"UPDATE {table} SET created_at = created_at - interval '2 days'")  # noqa: S608
    left = mail.inbox.mails[-1][0].replace("@", "+tag@")
    assert mail.ask(left).status_code == 409
    assert mail.ask(mail.inbox.mails[-1][0]).status_code == 409
    assert mail.ask().status_code == 200
    assert execute(url, "SELECT count(*) FROM mail_subscriptions") == [(2,)]
    assert execute(url, "SELECT count(*) FROM mail_requests") == [(1,)]


def test_leaving_gives_no_requests_back(mail: Mail) -> None:
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
    [(kept,)] = execute(
        mail.webhooks.settings.database_url, "SELECT string_agg(r::text, '') FROM mail_requests r"
    )
    assert "example.org" not in str(kept)


@pytest.mark.parametrize("address", ["10.7.0.{}", "2001:db8:1:{}::1"])
def test_a_network_is_bounded_as_a_whole(
    mail: Mail, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(subscriptions, "MAX_PER_NETWORK_A_DAY", 3)
    for number in range(3):
        client = address.format(number)
        assert mail.ask(f"anna{number}@example.org", client=client).status_code == 200
    assert mail.ask("bert@example.org", client=address.format(99)).status_code == 409
    assert mail.ask("bert@example.org", client="10.7.1.1").status_code == 200


@pytest.mark.parametrize("network", ["10.7.0.{}", "10.{}.0.1"])
def test_a_newcomer_is_mailed_before_what_others_have_asked_for(
    mail: Mail, monkeypatch: pytest.MonkeyPatch, network: str
) -> None:
    """Confirmations have a budget of their own, which delays and refuses nobody, also where a burst
    of requests came from as many networks."""
    monkeypatch.setattr(confirmations, "MOST_IN_10_MINUTES", 2)
    url = mail.webhooks.settings.database_url

    def request(client: str) -> None:
        form = {"watchAddress": f"0x{ANNA.hex()}", "events": "tx", "mail": f"a{client}@example.org"}
        answer = mail.client.post("/mail", data=form, environ_base={"REMOTE_ADDR": client})
        assert answer.status_code == 200

    for number in range(6):
        request(network.format(number))
    wait_until(lambda: len(mail.inbox.mails) == 2)
    request("192.0.2.1")
    assert len(mail.inbox.mails) == 2
    execute(url, "UPDATE mail_requests SET mailed_at = mailed_at - interval '10 minutes'")
    wait_until(lambda: len(mail.inbox.mails) == 4)
    assert mail.inbox.mails[2][0] == "a192.0.2.1@example.org"


FOREIGN = (
    {"Origin": "https://other.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site", "Origin": SITE},
    {"Sec-Fetch-Site": "same-site"},
)
OWN = ({}, {"Origin": "http://localhost"}, {"Origin": SITE}, {"Sec-Fetch-Site": "same-origin"})


def test_another_site_cannot_send_the_form(mail: Mail) -> None:
    form = {"mail": TO, "watchAddress": f"0x{ANNA.hex()}", "events": "tx"}
    for headers in FOREIGN:
        refused = mail.client.post("/mail", data=form, headers=headers)
        assert refused.status_code == 403 and "Another site" in refused.text
    assert execute(mail.webhooks.settings.database_url, "SELECT FROM mail_requests") == []
    for number, headers in enumerate(OWN):
        data = {**form, "mail": f"anna{number}@example.org"}
        assert mail.client.post("/mail", data=data, headers=headers).status_code == 200
    wait_until(lambda: len(mail.inbox.mails) == len(OWN))
    # Who has a token has it from a mail, and mail programs may run as pages of another site.
    for path in ("/mail/confirm", "/mail/leave"):
        assert mail.client.post(mail.link(path), headers=FOREIGN[0]).status_code == 200


@pytest.mark.parametrize("path", ["/decode", f"/address/0x{ANNA.hex()}/call"])
def test_other_forms_are_of_the_own_pages_too(mail: Mail, path: str) -> None:
    assert mail.client.post(path, headers=FOREIGN[0]).status_code == 403
    assert mail.client.post(path).status_code != 403
    assert mail.client.post("/api/v1/query", json={}, headers=FOREIGN[0]).status_code == 400


HOSTILE = (
    *("anna@example.org\r\nBcc: bert@example.org", "anna@example.org,bert@example.org", "@", ""),
    *("anna@example.org\n", '"anna bert"@example.org', "anna@[127.0.0.1]", "änna@example.org"),
    *("anna@example", "a" * 65 + "@example.org", "a@" + "b." * 130 + "org", "a\0@example.org"),
    *("anna@-example.org", "<anna@example.org>", "anna%40example.org"),
    *("=?utf-8?q?a=0d=0ab?=@example.org", "a.=?utf-8?q?a=40b.org=2c?=@example.org"),
)


@pytest.mark.parametrize("given", HOSTILE, ids=[ascii(text)[:20] for text in HOSTILE])
def test_no_header_can_be_made_of_an_address(given: str) -> None:
    with pytest.raises(ValueError, match="must be a mail address"):
        mail_address(given)


def test_other_forms_are_refused_and_mail_nothing(mail: Mail) -> None:
    for form in ({"mail": HOSTILE[0]}, {"watchAddress": "0x1"}, {"events": "all"}, {"events": []}):
        answer = mail.ask(**form)
        assert answer.status_code == 400 and b'role="alert"' in answer.data
    for path in ("/mail/confirm", "/mail/confirm?token=x", "/mail/leave?token=x"):
        assert mail.client.get(path).status_code == 404
    assert mail.client.post("/mail/leave?token=" + "x" * 100).status_code == 400
    assert mail.inbox.mails == []


def test_events_that_are_not_indexed_are_not_offered(
    mail: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mail.ask(events="internal_transfer").status_code == 200
    monkeypatch.setattr(pages, "EVENT_TYPES", ("tx", "log"))  # as without traces
    assert mail.ask(events="internal_transfer").status_code == 400
    assert "internal_transfer" not in mail.client.get("/mail").text
    asked = mail.client.get(mail.link("/mail/confirm"))  # before
    assert (asked.status_code, "<p>Internal transfer of" in asked.text) == (200, True)


def test_asking_waits_for_no_server_and_is_mailed_when_one_accepts_it(mail: Mail) -> None:
    """Nor does the answer tell which mail addresses the server accepts."""
    form = {"mail": TO, "watchAddress": f"0x{ANNA.hex()}", "events": "tx"}
    url = mail.webhooks.settings.database_url
    waiting = "SELECT count(*) FROM mail_subscriptions WHERE mailed_on IS NULL"
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections, and says nothing
        own = MailSettings(f"smtp://127.0.0.1:{silent.getsockname()[1]}/?from=scan@scan.example")
        client = mail.webhooks.another(of_extensions={MailSettings: own})
        mail.inbox.answers = ["550 no", "451 later"]
        texts = {mail.client.post("/mail", data=form).text}
        wait_until(lambda: len(mail.inbox.answers) == 1)
        texts |= {client.post("/mail", data={**form, "mail": "bert@example.org"}).text}
        wait_until(lambda: not mail.inbox.answers)
        wait_until(lambda: execute(url, waiting) == [(1,)])
        execute(url, "UPDATE mail_subscriptions SET created_at = created_at - interval '2 minutes'")
        wait_until(lambda: len(mail.inbox.mails) == 1)
    assert len(texts) == 1 and mail.inbox.mails[0][0] == "bert@example.org"
    assert execute(url, waiting) == [(0,)]  # a refused recipient is not asked again


def test_nobody_can_list_subscriptions_as_webhooks(mail: Mail) -> None:
    mail.subscribed()
    url = mail.webhooks.settings.database_url
    [(owner, address_of_url)] = execute(url, "SELECT owner_address, url FROM webhooks")
    assert bytes(owner) not in (bytes(20), ANNA) and TO not in str(address_of_url)
    listed = mail.client.get(f"/api/v1/webhooks?owner=0x{ANNA.hex()}").json
    assert listed["webhooks"] == []


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_password_is_sent_over_tls_alone(mail: Mail, authority: Authority, scheme: str) -> None:
    logins: list[tuple[bytes, bytes]] = []

    def authenticate(*arguments: Any) -> AuthResult:
        login = arguments[-1]
        logins.append((login.login, login.password))
        return AuthResult(success=True)

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.certificate("localhost"))
    way = {"ssl_context" if scheme == "smtps" else "tls_context": context}
    server = Controller(
        mail.inbox,
        hostname="localhost",
        port=free_port(),
        authenticator=authenticate,
        auth_require_tls=scheme == "smtp",
        **way,
    )
    server.start()
    own = MailSettings(f"{scheme}://anna:p%40ss@localhost:{server.port}/?from=scan@scan.example")
    send(mail, own)
    server.stop()
    assert logins == [(b"anna", b"p@ss")] and len(mail.inbox.mails) == 1
    with pytest.raises(OSError):
        send(mail, MailSettings(f"smtp://anna:p%40ss@127.0.0.1:{mail.port}/?from=a@scan.example"))
    assert len(logins) == len(mail.inbox.mails) == 1


def send(mail: Mail, own: MailSettings) -> None:
    mails = mailer(replace(mail.webhooks.settings, of_extensions={MailSettings: own}))
    mails.send(mails.writer.confirmation(TO, "token", f"0x{ANNA.hex()}"))


@pytest.mark.parametrize("url", ["smtp://h", "smtp://h/?from=a", "http://h/?from=a@b.org", "x"])
def test_a_wrong_smtp_url_stops_the_start(url: str) -> None:
    with pytest.raises(SettingError, match="SCAN_SMTP_URL"):
        read_variables(MailSettings, {"SCAN_SMTP_URL": url})


def test_a_site_without_a_server_sends_none(webhooks: Webhooks) -> None:
    assert webhooks.client.get("/mail").status_code == 404
    assert b'href="/mail"' not in webhooks.client.get("/").data
    own = MailSettings("smtp://127.0.0.1:1/?from=scan@scan.example")
    with pytest.raises(SettingError, match="SCAN_BRAND"):
        create_app(replace(webhooks.settings, of_extensions={MailSettings: own}))
