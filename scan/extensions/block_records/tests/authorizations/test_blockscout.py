"""Delegating accounts in Blockscout's form."""

from scan.extensions.block_records.tests.authorizations.test_authorizations import (
    EVERYBODY,
    delegations,  # noqa: F401  # a fixture
)
from tests.support import anvil, authorizations


def test_a_delegating_account_is_a_contract_everywhere(
    delegations,  # noqa: F811
):
    node, _, client = delegations
    delegating = 0
    for account in EVERYBODY:
        address = account.address.lower()
        delegate = authorizations.delegate_of(node, address, node.head())
        delegating += delegate != anvil.ZERO
        form = client.get(f"/api/v2/addresses/{address}").json or {}
        sent = client.get(f"/api/v2/addresses/{address}/transactions").json or {}
        parties = [item[side] for item in sent["items"] for side in ("from", "to")]
        own = [party for party in parties if party and party["hash"] == form["hash"]]
        for party in (form, *own):
            assert party["is_contract"] is (delegate != anvil.ZERO)
            assert party["proxy_type"] == ("eip7702" if delegate != anvil.ZERO else None)
            shown = [one["address_hash"].lower() for one in party["implementations"]]
            assert shown == ([delegate] if delegate != anvil.ZERO else [])
    assert delegating > 0
