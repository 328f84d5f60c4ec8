"""Calls and events of accounts, decoded by the code that they ran at the time; accounts that
delegate in the forms of other explorers."""

from collections import namedtuple

import pytest

from scan.extensions.block_records.tests.authorizations.delegating import EVERYBODY, delegations  # noqa: F401  # a fixture
from scan.extensions.decoding.tests.work import NEXT, WORK, check_work, events, proxy_to, work
from tests.support import anvil, authorizations, many_functions
from tests.support.anvil import ZERO

pytestmark = pytest.mark.thorough

__all__ = ["work"]
Account = namedtuple("Account", "address call")


@pytest.fixture
def account(work, request):
    """An address that may delegate, and what authorizes a delegate and calls it, and returns the
    hash of the indexed transaction."""
    own, explorer = authorizations.new_account(sum(request.node.name.encode())), work.explorer

    def call(*delegates):
        nonce = authorizations.nonce_of(explorer.anvil, own)
        signed = [authorizations.authorize(own, delegate, nonce) for delegate in delegates]
        data = "0x" + WORK.hex()
        sent = authorizations.send(explorer.anvil, signed, to=own.address, data=data)
        explorer.anvil.mine()
        explorer.wait_for_block(explorer.head)
        return sent

    return Account(own.address.lower(), call)


def listed(work, account):
    """The transactions to the account in Blockscout's form, newest first."""
    path = f"/api/v2/addresses/{account.address}/transactions?_={work.explorer.head}"
    return work.explorer.get(path)["items"]


def test_a_call_is_decoded_by_the_delegate_that_the_account_had(work, account):
    first = account.call(work.worker)
    check_work(work.details(first))
    second = account.call(authorizations.IDLE)
    assert work.details(second)["method"] is None
    third = account.call(work.worker)
    methods = [transaction["method"] for transaction in listed(work, account)]
    assert methods == ["work", "0x" + WORK[:4].hex(), "work"]
    ended = account.call(ZERO)
    for delegating in (first, third):
        check_work(work.details(delegating))
    for other in (second, ended):
        assert work.details(other)["method"] is None
    assert [event and event["name"] for event in events(work.explorer.client, account.address)] == [
        "Worked", "Quiet", "Worked", "Quiet",
    ]  # fmt: skip


def test_what_called_the_code_of_an_account_stays_a_call(work, account):
    """Whatever the account delegates to now."""
    sent = [account.call(), account.call(work.worker), account.call()]
    for are_calls in ([False, True, True], [False, True, True, False]):
        kinds = {one["hash"]: one["transaction_types"] for one in listed(work, account)}
        assert ["contract_call" in kinds[one] for one in sent] == are_calls
        sent.append(account.call(ZERO))


def test_a_delegate_that_is_a_proxy_reads_the_slots_of_the_account(work, account):
    proxy = proxy_to(work, many_functions.deploy(work.explorer, NEXT, "Next"))
    slot = "0x" + many_functions.SLOT
    word = "0x" + work.worker[2:].rjust(64, "0")
    work.explorer.anvil.call("anvil_setStorageAt", account.address, slot, word)
    check_work(work.details(account.call(proxy)))


def test_a_delegating_account_is_a_contract_everywhere(
    delegations,  # noqa: F811
):
    node, _, client = delegations
    delegating = 0
    for account in EVERYBODY:
        address = account.address.lower()
        delegate = authorizations.delegate_of(node, address, node.head())
        of_delegate = {True: ("eip7702", [delegate]), False: (None, [])}
        expected = of_delegate[is_delegating := delegate != anvil.ZERO]
        delegating += is_delegating
        form = client.get(f"/api/v2/addresses/{address}").json or {}
        sent = client.get(f"/api/v2/addresses/{address}/transactions").json or {}
        parties = [item[side] for item in sent["items"] for side in ("from", "to")]
        own = [party for party in parties if party and party["hash"] == form["hash"]]
        for party in (form, *own):
            assert party["is_contract"] is is_delegating
            shown = [one["address_hash"].lower() for one in party["implementations"]]
            assert (party["proxy_type"], shown) == expected
        path = f"/api?module=contract&action=getsourcecode&address={address}"
        [source] = client.get(path).json["result"]
        assert (source["Proxy"] == "1", source["Implementation"]) == (
            is_delegating,
            "".join(expected[1]),
        )
    assert delegating > 0
