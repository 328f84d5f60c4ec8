"""A mail server that keeps what it receives, and a service that mails to it."""

import re
from collections import namedtuple
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

from scan.extensions.mail import views
from tests.support import made_blocks, serving

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
SITE = "https://scan.example"
TO = "anna@example.org"


class Inbox:
    """Receives mails; `answers` are its next answers to RCPT, instead of accepting it."""

    def __init__(self):
        self.mails = []
        self.answers = []

    async def handle_RCPT(self, _server, _session, envelope, to, _options):
        if self.answers:
            return self.answers.pop(0)
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, _server, _session, envelope):
        assert isinstance(envelope.content, bytes)
        [to] = envelope.rcpt_tos
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage) and message["To"] == to
        self.mails.append((to, message))
        return "250 OK"


class Mail(namedtuple("Mail", "webhooks client inbox port")):
    def ask(self, mail=TO, client="10.9.0.1", **more):
        """The answer, once what it mails is there."""
        form = {"mail": mail, "watchAddress": f"0x{ANNA.hex()}", "events": "tx", **more}
        mails = len(self.inbox.mails)
        answer = self.client.post("/mail", data=form, environ_base={"REMOTE_ADDR": client})
        serving.wait_until(lambda: answer.status_code != 200 or len(self.inbox.mails) > mails)
        return answer

    def link(self, path):
        """The newest mail's link, without the site."""
        _, message = self.inbox.mails[-1]
        [link] = re.findall(rf"{SITE}({path}\?token=\S+)", message.get_content())
        return str(link)

    def subscribed(self, mail=TO):
        """The link that ends the new subscription."""
        assert self.ask(mail).status_code == 200
        assert self.client.post(self.link("/mail/confirm")).status_code == 200
        return self.link("/mail/leave")


@contextmanager
def beside(client):
    """Mail what asks for confirmations, as the worker of this service does."""
    [thread] = views.confirmation_threads(client.application.extensions["scan"])
    thread.start()
    yield
    thread.stop()
