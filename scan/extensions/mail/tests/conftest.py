"""A service that mails, for each test."""

from dataclasses import replace

import pytest
from aiosmtpd.controller import Controller

from scan.extensions.mail import views
from scan.extensions.mail.settings import Settings as MailSettings
from scan.extensions.mail.tests.inbox import SITE, Inbox, Mail, beside
from scan.settings import Brand
from tests.support.serving import free_port


@pytest.fixture
def mail(webhooks, monkeypatch):
    monkeypatch.setattr(views, "EVERY_S", 0.02)
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
