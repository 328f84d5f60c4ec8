"""What messages and calls inside of calls are for, on pages that a phone shows."""

import json
from urllib.parse import urlencode

import pytest
from werkzeug.serving import make_server

from scan.extensions.clear_signing.tests import exchange, test_clear_signing
from scan.extensions.clear_signing.tests.test_calls_to_sign import SAFE, SEND, executed, transfer
from scan.extensions.clear_signing.tests.test_messages import descriptor, message
from tests.support import page_checks, serving


@pytest.mark.parametrize(("subject", "words"), [("message", "Approve"), ("call", "Call inside 1.")])
def test_what_is_decoded_can_be_read_on_a_phone(chain, client_of, page, subject, words):
    client = client_of(permits=descriptor(chain), token=chain.descriptor({exchange.TRANSFER: SEND}))
    call = f"0x{executed(chain.exchange, transfer()).hex()}"
    fields = {
        "message": {"data": json.dumps(message(chain))},
        "call": {"data": call, "address": SAFE},
    }
    server = make_server("127.0.0.1", 0, client.application, threaded=True)
    with serving.in_thread(server) as url:
        page.call("Emulation.setDeviceMetricsOverride", **test_clear_signing.PHONE)
        page.open(f"{url}/decode?{urlencode(fields[subject])}")
        shown = page.text("#clear-signing")
        assert f"What the {subject} is for" in shown and words in shown
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page_checks.all_violations(page) == []
