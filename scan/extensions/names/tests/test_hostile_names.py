"""Names that imitate, hide, or are no names: whoever makes a resolver can answer anything."""

import pytest
from eth_abi import encode

from scan.extensions.names.tests import names_of_chain
from tests.support.faulty_node import replacing

pytestmark = pytest.mark.thorough

MARKUP = "<img src=x onerror=alert(1)>.eth"
# Of which each is one kind: normalization's own test has more.
CLAIMS = {
    "bidirectional": "\u202ehte.kciv.eth",
    "whole script": "\u0430\u0440\u0435.eth",
    "upper case": "VIC.eth",
    "markup": MARKUP,
    "NUL": "vic\0.eth",
    "address": "0x" + "ab" * 20 + " (verified)",
}
# Of these a registry has no node, or the usual resolver does not store them in one transaction.
UNREACHABLE = ["vic..eth", "a" * 10_000 + ".eth"]


@pytest.fixture(scope="module")
def parrot(ens):
    return ens.anvil.deploy(ens.owner, "Parrot")


# What is no normalised name is known from the text alone, by whichever interface it was read.
@pytest.mark.parametrize("kind", CLAIMS)
def test_a_claim_that_is_no_normalised_name_is_not_shown_anywhere(universal, kind):
    """The claim leads back to its owner, as far as contracts are concerned."""
    named = universal
    ens, claim, mallory = named.ens, CLAIMS[kind], named.ens.people[8]
    ens.point(claim, mallory)
    ens.choose(mallory, claim)
    named.follow()
    assert named.of(mallory) == (None, "not_normalized")
    require_not_shown(named, mallory, claim)
    assert "it may imitate another" in named.page(f"/address/{mallory}")


@pytest.mark.parametrize("claim", UNREACHABLE, ids=["dots", "long"])
def test_a_claim_that_no_name_leads_back_from_is_not_shown_anywhere(named, parrot, claim):
    ens, mallory = named.ens, named.ens.people[8]
    ens.be_named_by(mallory, parrot)
    ens.do(parrot, "say(bytes)", encode(["string"], [claim]), gas=30_000_000)
    named.follow()
    name, problem = named.of(mallory)
    assert name is None and problem in (None, "not_normalized")
    require_not_shown(named, mallory, claim)
    page = named.page(f"/address/{mallory}")
    assert ("it may imitate another" in page) is (problem == "not_normalized")


def require_not_shown(named, mallory, claim):
    ens = named.ens
    ens.anvil.send(mallory, ens.people[0], value=1)
    named.mine()
    for path in (f"/address/{mallory}", "/txs", f"/address/{ens.people[0]}"):
        page = named.page(path)
        assert claim[:500] not in page and "onerror" not in page
        assert "\u202e" not in page and "claim" not in page.partition(mallory)[2][:200]


@pytest.mark.parametrize(
    "text",
    [MARKUP, CLAIMS["bidirectional"], CLAIMS["address"], *UNREACHABLE, "%ff.eth", ".."],
    ids=ascii,
)
def test_texts_that_are_no_names_are_refused_with_the_reason(universal, text):
    answer = universal.client.get(f"/api/v1/names/{text}")
    assert answer.status_code in (400, 404)
    assert answer.json["code"] in ("invalid_parameter", "not_found")
    assert answer.json["error"].isprintable() and len(answer.json["error"]) < 300
    assert "onerror" not in answer.text or answer.status_code == 404
    page = universal.client.get("/search", query_string={"q": text})
    assert page.status_code in (200, 302, 400) or not names_of_chain.HAS_SEARCH
    assert "<img src=x" not in page.text


@pytest.mark.parametrize(
    ("said", "status"),
    [
        pytest.param(b"", 404, id="nothing"),
        pytest.param((32).to_bytes(32), 200, id="a word"),
        pytest.param((2**255).to_bytes(32) + bytes(64), 404, id="far"),
        pytest.param(
            (32).to_bytes(32) + (2**32).to_bytes(32) + b"vic.eth", 404, id="beyond its end"
        ),
        pytest.param((0).to_bytes(32) + bytes(64), 404, id="its own length"),
        pytest.param(encode(["bytes"], [b"\xff\xfe.eth"]), 404, id="not UTF-8"),
        pytest.param(b"\xff" * 32, 404, id="no address"),
        pytest.param(b"\0" * 12_000, 404, id="large"),
    ],
)
def test_answers_of_another_form_are_no_names_and_no_addresses(named, parrot, said, status):
    """Of resolvers, whatever they are asked."""
    ens, mallory = named.ens, named.ens.people[8]
    ens.be_named_by(mallory, parrot)
    ens.resolve_by("parrot.eth", parrot)
    ens.do(parrot, "say(bytes)", said, gas=30_000_000)
    named.follow()
    assert named.of(mallory)[0] is None
    # Whoever points a name may point it anywhere.
    assert named.lookup("parrot.eth").status_code == status
    assert named.page(f"/address/{mallory}")
    assert not names_of_chain.HAS_SEARCH or named.page("/search?q=parrot.eth")


@pytest.mark.parametrize(
    "lie",
    ["0x", "0x12", "0xzz", None, 7, {}, "0x" + "ff" * 96, "0x" + "00" * 400_000],
    ids=lambda lie: ascii(lie)[:12],
)
def test_a_node_that_lies_makes_no_name(universal, lie):
    """Of what it answers to calls; a page and a record are there all the same."""
    alice = universal.ens.people[0]

    universal.mine()
    universal.node.fault = replacing("eth_call", lie)
    assert universal.of(alice)[0] is None
    assert universal.page("/txs") and universal.page(f"/address/{alice}")
    assert universal.lookup("alice.eth").status_code in (404, 502)
