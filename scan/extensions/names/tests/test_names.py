"""Names of addresses by ENS's own contracts: whoever chose one has it, as long as it leads back."""

import pytest

from scan.extensions.names import name_services, primary_names
from scan.extensions.names.tests.names_of_chain import HAS_SEARCH, with_search
from tests.support import database, faulty_node, lists
from tests.support.indexing import sources


def test_a_name_leads_to_its_address_and_the_address_to_its_name(named):
    alice, ens = named.ens.people[0], named.ens
    ens.point("alice.eth", alice)
    ens.choose(alice, "alice.eth")
    named.follow()
    assert named.lookup("Alice.ETH").json == {
        "name": "alice.eth",
        "address": alice,
        "primaryName": "alice.eth",
        "primaryNameProblem": None,
        "coinType": None,
        "blockNumber": ens.anvil.head(),
        "unproven": ["address", "primaryName"],
    }
    assert named.of(alice) == ("alice.eth", None)
    both = lists.get(named.client, "/addresses", addresses=f"{ens.owner},{alice}")["addresses"]
    assert [a["name"] for a in both] == [None, "alice.eth"]
    for name in ("nobody.eth", "eth", "a.b.c.d.e.eth"):
        answer = named.lookup(name)
        assert (answer.status_code, answer.json["field"]) == (404, "name"), name


def test_a_name_that_leads_elsewhere_is_nobody_s(named):
    """Anybody may choose the name of another; only those that lead back are shown."""
    ens, (_, bob, eve, *_) = named.ens, named.ens.people
    ens.point("bob.eth", bob)
    ens.choose(eve, "bob.eth")
    named.follow()
    assert named.of(eve) == named.of(bob) == (None, None)
    assert named.lookup("bob.eth").json["primaryName"] is None
    assert "bob.eth" not in named.page(f"/address/{eve}")


def test_names_are_those_of_the_newest_block(named):
    """Within a block a name is read once; with the next one it is read again."""
    ens, carol = named.ens, named.ens.people[3]
    ens.point("carol.eth", carol)
    ens.choose(carol, "carol.eth")
    named.follow()
    assert named.of(carol) == ("carol.eth", None)
    before = named.node.requests
    assert named.page(f"/address/{carol}").count("carol.eth") > 0
    of_page = named.node.requests - before
    before = named.node.requests
    named.page(f"/address/{carol}?tab=transfers")
    assert named.node.requests - before <= of_page
    ens.choose(carol, "")
    named.follow()
    assert named.of(carol) == (None, None)


def test_lists_show_names_beside_addresses_and_labels_before_them(universal):
    ens, (dave, erin) = universal.ens, universal.ens.people[4:6]
    for person, name in ((dave, "dave.eth"), (erin, "erin.eth")):
        ens.point(name, person)
        ens.choose(person, name)
    universal.follow()
    url = universal.indexing.url
    label = "INSERT INTO labels VALUES (decode(%s, 'hex'), 'Exchange') ON CONFLICT DO NOTHING"
    database.execute(url, label, (erin[2:],))
    universal.mine()
    page = universal.page("/txs")
    assert 'class="claim"' in page and "dave.eth" in page
    assert "Exchange" in page and "erin.eth" not in page
    link = page[page.index(f'href="/address/{dave}"') :]
    shown = link[: link.index("</td>")]
    assert shown.index("</a>") < shown.index("dave.eth"), "the address is the link, not the name"
    assert "not its address" not in page
    ens.point(f"{erin}.eth", dave)
    ens.choose(dave, f"{erin}.eth")
    universal.follow()
    universal.mine()
    for path in (f"/address/{dave}", "/txs"):
        assert ">not its address</span>" in universal.page(path)
    own = universal.page(f"/address/{erin}")
    assert "<bdi>Exchange</bdi></h1>" in own and "erin.eth" in own


@with_search
def test_suggestions_and_the_search_page_list_names_and_lead_nowhere(universal):
    frank = universal.ens.people[6]
    universal.ens.point("frank.eth", frank)
    universal.follow()
    for path in ("/search", "/search/suggestions"):
        page = universal.page(f"{path}?q=frank.eth")
        assert "<bdi>frank.eth</bdi>" in page and f'href="/address/{frank}"' in page
    [result] = universal.search(" Frank.eth ")
    assert (result["value"], result["name"], result["match"]) == (frank, "frank.eth", "exact")
    for text in ("frank", "frank.", "nobody.eth", "a.frank.eth"):
        assert universal.search(text) == []
    confusable = universal.page("/search?q=\u0430\u0440\u0435.eth")
    assert "is not a valid name (ENSIP-15): it" in confusable
    assert "Nothing matches" not in confusable


def test_a_registry_s_names_below_a_wildcard_resolver_are_resolved(services):
    """By the nearest resolver above (ENSIP-10), if it resolves names below its own; a name with a
    resolver of its own is not below it, and what other hosts keep is said."""
    named = services[name_services.Interface.REGISTRY]
    ens, (bob, *_, grace) = named.ens, named.ens.people
    for name, is_extended in (("wild.eth", True), ("deaf.eth", False)):
        ens.resolve_by(name, ens.anvil.deploy(ens.owner, "Wildcard", grace, "", is_extended))
    ens.point("own.wild.eth", bob)
    ens.choose(grace, "any.thing.wild.eth")
    named.follow()
    for name in ("wild.eth", "thing.wild.eth", "any.thing.wild.eth"):
        assert named.lookup(name).json["address"] == grace, name
    assert named.lookup("own.wild.eth").json["address"] == bob
    assert named.of(grace) == ("any.thing.wild.eth", None)
    for name in ("deaf.eth", "any.deaf.eth", "below.own.wild.eth"):
        assert named.lookup(name).status_code == 404, name
    offchain = named.lookup("x.wild.eth")
    assert offchain.status_code == 404 and "EIP-3668" in offchain.json["error"]


def test_names_that_other_hosts_keep_are_said_and_not_looked_up(named):
    ens = named.ens
    ens.resolve_by("offchain.eth", ens.offchain(["https://names.example/{sender}/{data}.json"]))
    named.follow()
    answer = named.lookup("offchain.eth")
    assert answer.status_code == 404 and "EIP-3668" in answer.json["error"]
    assert not HAS_SEARCH or "EIP-3668" in named.page("/search?q=offchain.eth")


@pytest.mark.parametrize(
    "fault",
    [faulty_node.cut_connection, pytest.param(faulty_node.hang(0.3), marks=pytest.mark.thorough)],
    ids=["gone", "late"],
)
def test_without_the_node_names_are_left_out_and_it_is_said(universal, fault):
    known = sources(universal.client).get(primary_names.Names)
    known.one_s = known.list_s = 0.01
    person = universal.ens.owner
    universal.mine()
    universal.node.fault = fault
    assert universal.page("/txs")
    assert universal.of(person) == (None, "unread")
    assert "could not be read" in universal.page(f"/address/{person}")
    assert universal.lookup("alice.eth").status_code in (502, 503)
    assert not HAS_SEARCH or "is not known" in universal.page("/search?q=alice.eth")


def test_a_list_whose_names_were_late_does_not_wait_for_the_next_ones(universal):
    sources(universal.client).get(primary_names.Names).list_s = 0.02
    universal.mine()
    universal.node.fault = faulty_node.hang(1.0)
    universal.page("/txs")
    before = universal.node.requests
    for query in ("limit=50", "limit=100"):
        universal.page(f"/txs?{query}")
    assert universal.node.requests == before


def test_a_chain_without_a_service_has_no_names_and_asks_for_none(indexing, ens, universal):
    client = indexing.client(rpc_urls=(universal.node.url,))
    before = universal.node.requests
    assert not HAS_SEARCH or lists.get(client, "/search", q="alice.eth")["results"] == []
    assert universal.node.requests == before
    assert not {"name", "nameProblem"} & lists.get(client, f"/addresses/{ens.people[0]}").keys()
    answer = client.get("/api/v1/names/alice.eth")
    assert answer.status_code == 404 and "SCAN_NAMES" in answer.json["error"]
