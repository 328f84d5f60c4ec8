"""E-mail of events, to addresses that have confirmed it, by the operator's SMTP server.

A subscription is a webhook whose URL is mail://: the indexer, the queues and their retries serve it
as any other. Start with views.py (ask, confirm, leave), then deliveries.py (what the
dispatcher sends), messages.py (what a mail says, the server).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "e-mail of events by an operator's SMTP server (SCAN_SMTP_URL)", paths=("mail/",)
)
