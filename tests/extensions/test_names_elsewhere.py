"""Names of addresses in other explorers' forms."""

import pytest

from scan.extensions.names.tests.conftest import ens, indexing, services, universal  # noqa: F401  # fixtures

pytest.importorskip("scan.extensions.blockscout")


def test_blockscout_s_form_has_primary_names(universal):  # noqa: F811
    chain, (alice, bob, *_) = universal.ens, universal.ens.people
    chain.point("alice.eth", alice)
    chain.choose(alice, "alice.eth")
    chain.choose(bob, "alice.eth")  # which does not lead back to him
    sent = chain.anvil.send(alice, bob, value=1)
    universal.mine()

    def names(path):
        record = universal.client.get(f"/api/v2{path}").json
        sides = (record["from"], record["to"]) if "from" in record else (record,)
        return [side["ens_domain_name"] for side in sides]

    assert names(f"/transactions/{sent}") == ["alice.eth", None]
    assert names(f"/transactions/{sent}/preview") == ["alice.eth", None]
    assert names(f"/addresses/{alice}") == ["alice.eth"]
    assert names(f"/addresses/{bob}") == [None]
    [item, *_] = universal.client.get(f"/api/v2/addresses/{alice}/transactions").json["items"]
    assert item["from"]["ens_domain_name"] == "alice.eth"
