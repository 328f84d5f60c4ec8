"""E-mail by a real SMTP server: asked for, confirmed, mailed, left, retried."""

import socket
import ssl
import time
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from app import create_app
from scan.errors import SettingError
from scan.extensions.mail import deliveries
from scan.extensions.mail.messages import mailer
from scan.extensions.mail.settings import Settings as MailSettings
from scan.extensions.mail.tests.inbox import ANNA, BERT, SITE, TO
from scan.setting_kinds import read_variables
from tests.support import made_blocks, serving
from tests.support.webhooks import QUICK


def test_events_are_mailed_once_confirmed_until_left(mail):
    assert (
        f'href="/mail?address=0x{ANNA.hex()}"' in mail.client.get(f"/address/0x{ANNA.hex()}").text
    )
    assert mail.ask().status_code == 200
    to, asking = mail.inbox.mails[0]
    assert (to, asking["List-Unsubscribe-Post"]) == (TO, "List-Unsubscribe=One-Click")
    chain = mail.webhooks.chain
    with mail.webhooks.delivering():
        chain.append([made_blocks.Move(ANNA, BERT)])
        confirm = mail.link("/mail/confirm")
        assert mail.client.get(confirm).status_code == 200  # as a program that follows links
        [sent] = chain.append([made_blocks.Move(BERT, ANNA)])
        assert mail.client.post(confirm).status_code == 200
        assert mail.client.post(confirm).status_code == 200
        [wanted] = chain.append([made_blocks.Move(ANNA, BERT)])
        serving.wait_until(lambda: len(mail.inbox.mails) == 2)
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
        chain.append([made_blocks.Move(ANNA, BERT)])
        serving.wait_until(lambda: not mail.webhooks.pending())
    assert len(mail.inbox.mails) == 2
    assert mail.client.post(confirm).status_code == 404


def test_what_a_fork_took_back_is_mailed_as_such(mail):
    mail.subscribed()
    with mail.webhooks.delivering():
        mail.webhooks.chain.append([])
        mail.webhooks.chain.append([made_blocks.Move(ANNA, BERT)])
        serving.wait_until(lambda: len(mail.inbox.mails) == 2)
        mail.webhooks.chain.unwind(0)
        serving.wait_until(lambda: len(mail.inbox.mails) == 3)
    assert mail.inbox.mails[2][1]["Subject"].startswith("Taken back by a fork: Transaction 0x")


def test_a_mail_is_retried_and_a_refused_address_is_left_alone(mail, monkeypatch):
    monkeypatch.setattr(deliveries, "MAX_MAILS_A_DAY", 2)  # attempts that fail are none
    mail.subscribed()
    mail.inbox.answers = ["451 try later", "421 try later"]
    with mail.webhooks.delivering():
        mail.webhooks.chain.append([made_blocks.Move(ANNA, BERT)])
        serving.wait_until(lambda: len(mail.inbox.mails) == 2)
        mail.inbox.answers = ["550 no such mailbox"]
        mail.webhooks.chain.append([made_blocks.Move(ANNA, BERT)])
        serving.wait_until(lambda: not mail.inbox.answers and not mail.webhooks.pending())
        mail.webhooks.chain.append([made_blocks.Move(ANNA, BERT)])
        serving.wait_until(lambda: not mail.webhooks.pending())
    assert len(mail.inbox.mails) == 2


def test_a_process_without_a_server_leaves_mails_to_others(mail):
    mail.subscribed()
    mail.webhooks.chain.append([])
    with mail.webhooks.delivering(of_extensions={}):
        mail.webhooks.chain.append([made_blocks.Move(ANNA, BERT)])
        time.sleep(3 * QUICK.poll_s)
        holders = mail.webhooks.execute("SELECT lease_holder FROM delivery_queues")
        assert (holders, mail.webhooks.pending()) == ([(None,)], 1)
        with mail.webhooks.delivering():
            serving.wait_until(lambda: len(mail.inbox.mails) == 2)


def test_a_busy_address_is_mailed_so_often_a_day(mail, monkeypatch):
    monkeypatch.setattr(deliveries, "MAX_MAILS_A_DAY", 3)
    mail.subscribed()
    with mail.webhooks.delivering():
        mail.webhooks.chain.append([made_blocks.Move(ANNA, BERT)] * 9)
        serving.wait_until(lambda: len(mail.inbox.mails) == 4 and not mail.webhooks.pending())
    assert "last mail of today" in mail.inbox.mails[-1][1].get_content()
    assert "last mail of today" not in mail.inbox.mails[-2][1].get_content()


def test_asking_waits_for_no_server_and_is_mailed_when_one_accepts_it(mail):
    """Nor does the answer tell which mail addresses the server accepts."""
    form = {"mail": TO, "watchAddress": f"0x{ANNA.hex()}", "events": "tx"}
    waiting = "SELECT count(*) FROM mail_subscriptions WHERE mailed_on IS NULL"
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections, and says nothing
        own = MailSettings(f"smtp://127.0.0.1:{silent.getsockname()[1]}/?from=scan@scan.example")
        client = mail.webhooks.another(of_extensions={MailSettings: own})
        mail.inbox.answers = ["550 no", "451 later"]
        texts = {mail.client.post("/mail", data=form).text}
        serving.wait_until(lambda: len(mail.inbox.answers) == 1)
        texts |= {client.post("/mail", data={**form, "mail": "bert@example.org"}).text}
        serving.wait_until(lambda: not mail.inbox.answers)
        serving.wait_until(lambda: mail.webhooks.execute(waiting) == [(1,)])
        mail.webhooks.execute(
            "UPDATE mail_subscriptions SET created_at = created_at - interval '2 minutes'"
        )
        serving.wait_until(lambda: len(mail.inbox.mails) == 1)
    assert len(texts) == 1 and mail.inbox.mails[0][0] == "bert@example.org"
    assert mail.webhooks.execute(waiting) == [(0,)]  # a refused recipient is not asked again


def test_nobody_can_list_subscriptions_as_webhooks(mail):
    mail.subscribed()
    [(owner, address_of_url)] = mail.webhooks.execute("SELECT owner_address, url FROM webhooks")
    assert bytes(owner) not in (bytes(20), ANNA) and TO not in str(address_of_url)
    assert mail.client.get(f"/api/v1/webhooks?owner=0x{ANNA.hex()}").json["webhooks"] == []


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_password_is_sent_over_tls_alone(mail, authority, scheme):
    logins = []

    def authenticate(*arguments):
        login = arguments[-1]
        logins.append((login.login, login.password))
        return AuthResult(success=True)

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.certificate("localhost"))
    way = {"ssl_context" if scheme == "smtps" else "tls_context": context}
    server = Controller(
        mail.inbox,
        hostname="localhost",
        port=serving.free_port(),
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


def send(mail, own):
    mails = mailer(replace(mail.webhooks.settings, of_extensions={MailSettings: own}))
    mails.send(mails.writer.confirmation(TO, "token", f"0x{ANNA.hex()}"))


@pytest.mark.parametrize("url", ["smtp://h", "smtp://h/?from=a", "http://h/?from=a@b.org", "x"])
def test_a_wrong_smtp_url_stops_the_start(url):
    with pytest.raises(SettingError, match="SCAN_SMTP_URL"):
        read_variables(MailSettings, {"SCAN_SMTP_URL": url})


def test_a_site_without_a_server_sends_none(webhooks):
    assert webhooks.client.get("/mail").status_code == 404
    assert b'href="/mail"' not in webhooks.client.get("/").data
    own = MailSettings("smtp://127.0.0.1:1/?from=scan@scan.example")
    with pytest.raises(SettingError, match="SCAN_BRAND"):
        create_app(replace(webhooks.settings, of_extensions={MailSettings: own}))
