"""One chain of transactions that fail in every way there is, and services behind nodes that lie."""

import pytest

from tests.support import explorer, faulty_node, indexing, reasons
from tests.support.lists import get


@pytest.fixture(scope="package")
def played(postgres, template):
    with reasons.play_reasons(postgres, template) as chain:
        yield chain


def names_of(played):
    """Transactions and contracts, as expected/ names them."""
    one, two, *_ = played.anvil.accounts
    names = {"one": one, "two": two, "Reasons": played.reasons.address, "Guard": played.guard}
    return names | played.sent


def is_trace(call):
    return str(call["method"]).startswith(("debug_", "trace_"))


NO_TRACES = faulty_node.refuse(is_trace)


def behind(played, fault=None):
    """As explorer.behind()."""
    return explorer.behind(indexing.settings_for(played.url, played.anvil.url), fault)


def answer_of(played, name, what="trace", client=None):
    return get(client or played.client, f"/transactions/{played.sent[name]}/{what}")
