"""Names of Ethereum on an L2 (ENSIP-19): chosen on the L2 or for all chains, kept on Ethereum."""

import pytest

from scan.extensions.names import name_services, node_names, primary_names
from scan.extensions.names.tests.ens_chain import EnsChain
from scan.extensions.names.tests.names_of_chain import HAS_SEARCH, served
from tests.support.anvil import Anvil
from tests.support.authorizations import CHAIN_ID
from tests.support.faulty_node import FaultyNode, cut_connection, hang
from tests.support.indexing import sources

NO_NAMES = name_services.Choice(name_services.NO_NAMES)
COIN = node_names.evm_coin_type(CHAIN_ID)


@pytest.fixture(scope="module")
def ethereum():
    """ENS with its universal resolver where it is on Ethereum."""
    with Anvil() as anvil, FaultyNode(anvil.url) as node:
        ens = EnsChain(anvil)
        ens.be_at(ens.universal, name_services.ENS.contract)
        ens.node = node  # that may fail
        yield ens


@pytest.fixture(scope="module")
def registrar(ens):
    deployed = ens.anvil.deploy(ens.owner, "ReverseRegistrarOfL2")
    return ens.be_at(deployed, name_services.REVERSE_REGISTRAR)


@pytest.fixture
def l2(ens, indexing, ethereum, registrar):
    """The L2, which is the indexed chain."""
    yield served(ens, indexing, ens.anvil, NO_NAMES, (ethereum.node.url,))
    ethereum.node.fault = None


def choose(named, registrar, account, name):
    named.ens.do(registrar, "setName(string)", name, sender=account)
    named.follow()


def test_a_name_leads_to_its_address_on_this_chain(l2, ethereum):
    alice, bob, *_ = l2.ens.people
    ethereum.point("alice.eth", bob)
    ethereum.point_on("alice.eth", alice, COIN)
    record = l2.lookup("Alice.eth").json
    assert (record["address"], record["coinType"]) == (alice, COIN)
    assert not HAS_SEARCH or [r["value"] for r in l2.search("alice.eth")] == [alice]


def test_a_name_without_an_address_on_this_chain_leads_to_ethereum_s_and_says_so(l2, ethereum):
    other_coin = node_names.evm_coin_type(10)
    bob = l2.ens.people[1]
    ethereum.point("bob.eth", bob)
    ethereum.point_on("bob.eth", l2.ens.people[0], other_coin)
    record = l2.lookup("bob.eth").json
    assert (record["address"], record["coinType"]) == (bob, node_names.COIN_TYPE)
    assert l2.lookup("nobody.eth").status_code == 404


def test_a_name_chosen_on_the_l2_counts_where_ethereum_leads_it_back(l2, registrar, ethereum):
    carol, eve = l2.ens.people[2:4]
    ethereum.point_on("carol.eth", carol, COIN)
    for account in (carol, eve):
        choose(l2, registrar, account, "carol.eth")
    assert l2.of(carol) == ("carol.eth", None)
    assert l2.of(eve) == (None, None)
    l2.ens.anvil.send(carol, eve, value=1)
    l2.mine()
    assert "carol.eth" in l2.page("/txs")


def test_a_name_that_leads_back_on_ethereum_alone_is_not_the_l2_s(l2, registrar, ethereum):
    """Whoever has a contract's address on one chain need not have it on another."""
    dave = l2.ens.people[4]
    ethereum.point("dave.eth", dave)
    ethereum.choose(dave, "dave.eth")
    choose(l2, registrar, dave, "dave.eth")
    assert l2.of(dave) == (None, None)


def test_a_name_chosen_for_all_chains_counts_unless_the_l2_has_its_own(l2, registrar, ethereum):
    sources(l2.client).get(primary_names.Names).kept_s = 0.0
    erin = l2.ens.people[5]
    ethereum.point_on("erin.eth", erin, COIN)
    ethereum.point_on("erin-here.eth", erin, COIN)
    ethereum.choose_everywhere(erin, "erin.eth")
    assert l2.of(erin) == ("erin.eth", None)
    choose(l2, registrar, erin, "erin-here.eth")
    assert l2.of(erin) == ("erin-here.eth", None)
    choose(l2, registrar, erin, "astray.eth")
    assert l2.of(erin) == (None, None)


@pytest.mark.thorough
def test_names_of_a_registry_on_the_l2_come_first(ens, indexing, registrar, ethereum):
    """As Basenames: a primary name of the reverse registrar, or below the registry's own zone."""
    frank, grace, heidi = ens.people[6:9]
    service = name_services.BASENAMES._replace(contract=bytes.fromhex(ens.registry.address[2:]))
    for l1_urls in ((), (ethereum.node.url,)):
        named = served(ens, indexing, ens.anvil, name_services.Choice(service), l1_urls)
        ens.point("frank.base.eth", frank)
        ethereum.point_on("frank.base.eth", heidi, COIN)
        choose(named, registrar, frank, "frank.base.eth")
        ens.point("grace.base.eth", grace)
        zone = f"{grace[2:].lower()}.80002105.reverse"
        ens.resolve_by(zone, ens.resolver)
        ens.name(zone, "grace.base.eth")
        named.follow()
        assert named.of(frank) == ("frank.base.eth", None)
        assert named.of(grace) == ("grace.base.eth", None)
        record = named.lookup("frank.base.eth").json
        assert (record["address"], record["coinType"]) == (frank, None)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [cut_connection, hang(9.0)], ids=["gone", "late"])
def test_without_ethereum_s_node_the_chain_is_served(l2, registrar, ethereum, fault):
    known = sources(l2.client).get(primary_names.Names)
    known.one_s = known.list_s = 0.03
    carol = l2.ens.people[2]
    choose(l2, registrar, carol, "carol.eth")
    ethereum.node.fault = fault
    assert l2.page("/txs") and l2.page(f"/address/{carol}")
    assert l2.of(carol) == (None, "unread")
    assert l2.lookup("carol.eth").status_code in (502, 503)


@pytest.mark.thorough
def test_what_ethereum_said_is_kept_over_blocks_of_the_l2(l2, registrar, ethereum):
    alice = l2.ens.people[0]
    ethereum.point_on("alice.eth", alice, COIN)
    choose(l2, registrar, alice, "alice.eth")
    assert l2.of(alice) == ("alice.eth", None)
    before = ethereum.node.requests
    for _ in range(3):
        l2.mine()
        assert l2.of(alice) == ("alice.eth", None)
    assert ethereum.node.requests == before


@pytest.mark.check
def test_services_are_chosen_by_the_chain_s_id():
    has = name_services.service_of
    assert has("auto", "10") is None and has("off", "10", has_l1=True) is None
    assert has("auto", "10", has_l1=True) == name_services.NO_NAMES
    assert has("auto", "1", has_l1=True) == has("auto", "1") == name_services.ENS
    assert has("auto", "8453") == name_services.BASENAMES
    unknown = has("auto", "12345", has_l1=True)
    assert unknown is not None and unknown.reverse_registrar is None


@pytest.mark.check
def test_the_setting_has_a_service_and_whether_gateways_are_asked():
    own = name_services.NameService(name_services.Interface.REGISTRY, bytes(19) + b"\x07")
    address = f"0x{own.contract.hex()}"
    chosen = {"auto": ("auto",), "off": ("off",), "auto+gateways": ("auto", True)}
    chosen |= {f"registry:{address}": (own,), f"registry:{address}+gateways": (own, True)}
    for text, choice in chosen.items():
        assert name_services.name_service(text) == name_services.Choice(*choice)
    for wrong in ("off+gateways", "+gateways", "auto+", f"{address}+gateways", "registry:0x1"):
        with pytest.raises(ValueError, match="gateways may follow"):
            name_services.name_service(wrong)


@pytest.mark.check
@pytest.mark.parametrize(("chain_id", "coin"), [(1, 60), (10, 0x8000000A), (8453, 0x80002105)])
def test_coin_types_are_those_of_ensip_11(chain_id, coin):
    assert node_names.evm_coin_type(chain_id) == coin
