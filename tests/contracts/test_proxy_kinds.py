"""Every kind of proxy, by real contracts or by its documented code, on a real node."""

from pathlib import Path

import pytest

from scan.contracts.known_proxies import BEACON_SLOT, IMPLEMENTATION_SLOT
from scan.contracts.proxy_contracts import account_delegation, proxy_after
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import PROXY, VERSION, deploy, verified
from tests.support.proxies import (
    EIP1167,
    FALLBACK,
    SELECTING,
    SLOTS,
    Lying,
    array,
    expect,
    stored,
    word,
)

CLONES = {
    "eip1167": EIP1167,
    "eip1167 with PUSH0": "5f5f365f5f37365f73{}5af43d5f5f3e5f3d91602a57fd5bf3",
    "eip1167 of 0age and Solady": "3d3d3d3d363d3d37363d73{}5af43d3d93803e602a57fd5bf3",
    "eip1167 of EIP-7511": "365f5f375f5f365f73{}5af43d5f5f3e5f3d91602a57fd5bf3",
    "eip1167 of Vyper before 0.2.9": "366000600037611000600036600073{}5af41558576110006000f3",
    "immutable-args-clone": EIP1167 + "ab" * 40,
    "immutable-args-clone, ERC-6551": EIP1167 + "00" * 32 + f"{1:064x}{2:064x}{3:064x}",
    "immutable-args-clone, ERC-3448": "363d3d373d3d3d3d60368038038091363936013d73{}"
    "5af43d3d93803e603457fd5bf3" + "ef" * 64 + f"{64:064x}",
    "immutable-args-clone, by calldata": "363d3d373d3d3d3d610022806035363936013d73{}"
    "5af43d3d93803e603357fd5bf3" + "cd" * 32 + "0022",
    "immutable-args-clone, logging coin": "36602c57343d527f9e4ac34f21c619cefc926c8bd93b54bf5a39c7"
    "ab2127a895af1cc0691d7e3dff593da1005b363d3d373d3d3d3d610022806062363936013d73{}"
    "5af43d3d93803e606057fd5bf3" + "cd" * 32 + "0022",
}
_STORED = IMPLEMENTATION_SLOT[2:]
UUPS = f"363d3d373d3d363d7f{_STORED}545af43d6000803e6038573d6000fd5b3d6000f3"
UUPS_I = (
    f"365814604357363d3d373d3d363d7f{_STORED}545af43d6000803e603e573d6000fd5b3d6000f3"
    "5b6020600f3d393d51543d52593df3"
)
BEACON = (
    "363d3d373d3d363d602036600436635c60da1b60e01b36527f"
    "a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
    "545afa5036515af43d6000803e604d573d6000fd5b3d6000f3"
)


def source_of(name):
    return Path(__file__).with_name(name).read_text().replace("FALLBACK", FALLBACK)


@pytest.mark.check
def test_code_that_passes_nothing_on_is_no_proxy():
    code = bytes.fromhex(CLONES["eip1167"].format("11" * 20))
    assert stored(code).proxy[:3] == ("eip1167", b"\x11" * 20, "code")
    for other in (b"\0" + code, code[:30], b""):
        assert stored(other).proxy is None
    account = account_delegation(bytes.fromhex("ef0100" + "22" * 20))
    assert account[:2] == ("eip7702", b"\x22" * 20)
    assert account_delegation(bytes.fromhex("ef0100" + "22" * 21)) is None
    # Not the whole input, its first four bytes alone, a call of itself, CALL, and without JUMPDEST.
    for other in (
        "5f5f60045f73{}5af4",
        "60045f5f3760045f5f5f73{}5af4",
        "365f5f375f5f365f305af1",
        "365f5f375f5f365f5f73{}5af1",
        "600456365f5f375f5f365f73{}5af4",
    ):
        assert stored(bytes.fromhex(other.format("11" * 20))).way is None, other


@pytest.mark.check
@pytest.mark.parametrize(
    ("answer", "facets"),
    [
        (array(1, 2), 2),
        (array(*[7] * 5000), 1),
        (array(*range(1, 5000)), 64),
        *((bad, 0) for bad in ("0x", "0x12", array(), array(0), array(2**200), array(1, count=2))),
        *((bad, 0) for bad in (array(1, count=2**255), array(1, offset=64), array(1, 2, count=1))),
    ],
)
def test_facets_are_bounded_and_addresses(answer, facets):
    proxy = proxy_after(Lying(answer), b"\1" * 20, stored(SELECTING), None)
    assert (len(proxy.implementations) if proxy else 0) == facets


@pytest.mark.parametrize("name", CLONES)
def test_clones(explorer, many, name):
    clone = explorer.place(CLONES[name].format(many[2:]))
    kind = name.split()[0].rstrip(",")
    record = explorer.contract(clone).json
    assert record["proxy"] == {"type": kind, "implementation": many, "evidence": "code"}
    assert record["verifiedBy"] == many
    expect(explorer, clone, kind, many, "code")


@pytest.mark.parametrize(
    ("code", "slot"),
    [
        pytest.param(UUPS, IMPLEMENTATION_SLOT, id="uups"),
        pytest.param(UUPS_I, IMPLEMENTATION_SLOT, id="uups i"),
        pytest.param(BEACON, BEACON_SLOT, id="beacon"),
    ],
)
def test_proxies_of_eip_7760(explorer, many, code, slot):
    beacon = deploy(explorer, PROXY, "Beacon", word(many)[2:])
    named = {IMPLEMENTATION_SLOT: many, BEACON_SLOT: beacon}[slot]
    proxy = explorer.place(code)
    explorer.anvil.call("anvil_setStorageAt", proxy, slot, word(named))
    expect(explorer, proxy, "eip7760", many, "code")


@pytest.mark.parametrize("kind", SLOTS)
def test_proxies_by_their_slot(explorer, many, kind):
    slot = SLOTS[kind]
    source = PROXY.replace(IMPLEMENTATION_SLOT, slot)
    proxy = deploy(explorer, source, "Proxy", word(many)[2:] + slot[2:])
    answer = explorer.call(proxy, "over(uint256)", 5).json
    assert (answer["implementation"], answer["evidence"]) == (many, "claim")
    page = explorer.get(f"/address/{proxy}?tab=contract")
    assert "says that it is a proxy" in page and "Claims to be a proxy of" in page
    expect(explorer, proxy, kind, many, "trace")


def test_a_safe_and_a_comptroller(explorer, many):
    without_metadata = (  # of Safe's proxy 1.4.1
        "608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e"
        + "00" * 28
        + "60003514156050578060005260206000f35b3660008037600080366000845af43d6000803e"
        "60008114156070573d6000fd5b3d6000f3fe"
    )
    safe = explorer.place(without_metadata)
    explorer.anvil.call("anvil_setStorageAt", safe, "0x" + 64 * "0", word(many))
    expect(explorer, safe, "safe", many, "code")
    comptroller = deploy(explorer, source_of("Unitroller.sol"), "Unitroller", word(many)[2:])
    expect(explorer, comptroller, "comptroller", many, "trace")


def test_an_account_that_delegates(explorer, many):
    account = "0x" + "d7" * 20
    explorer.anvil.call("anvil_setCode", account, "0xef0100" + many[2:])
    answer = explorer.call(account, "over(uint256)", 5)
    assert answer.json == {
        "result": "number",
        "implementation": many,
        "evidence": "code",
        "unproven": ["result", "implementation"],
    }, answer.json
    assert explorer.call("0x" + "d8" * 20, "over(uint256)", 5).status_code == 404


def test_a_diamond_has_the_functions_and_events_of_all_facets(explorer, many):
    source = source_of("Diamond.sol")
    # The loupe is a facet, too, as in the reference implementations.
    facets = [*(verified(explorer, source, name) for name in ("Loupe", "Other")), many]
    diamond = deploy(explorer, source, "Diamond", "".join(word(facet)[2:] for facet in facets))
    assert explorer.call(diamond, "grown", 4).json == {
        "result": "5",
        "implementation": facets[1],
        "evidence": "claim",
        "unproven": ["result", "implementation"],
    }
    assert explorer.call(diamond, "over(uint256)", 4).json["result"] == "number"
    assert explorer.call(diamond, "absent").status_code == 400
    page = explorer.get(f"/address/{diamond}?tab=contract&view=read")
    assert "says that it is a proxy (ERC-2535)" in page
    assert all(f"/address/{facet}" in page for facet in facets)
    record = explorer.transact(diamond, calldata("grow(uint256)", 3))
    assert record["logs"][0]["event"]["name"] == "Grown"
    explorer.verify(diamond, source, VERSION, contractName="Diamond", optimizationUsed=0)
    assert explorer.contract(diamond).json["proxy"] == {
        "type": "eip2535",
        "implementation": facets[0],
        "evidence": "claim",
        "implementations": facets,
    }
    answer = explorer.call(diamond, "over(uint256)", 4).json
    assert (answer["implementation"], answer["evidence"]) == (facets[2], "claim")
    explorer.send(diamond, calldata("over(uint256)", 4))
    assert explorer.call(diamond, "over(uint256)", 4).json["evidence"] == "trace"


# Well-known designs by their names: kind, compiler, file, contracts to deploy in their order; each
# gets the address of the implementation, and that of the one before.
@pytest.mark.thorough
@pytest.mark.parametrize("is_optimized", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize(
    ("kind", "version", "file", "contracts"),
    [
        pytest.param("eip1967", "0.8.28", "transparent", "P", id="transparent, 0.8"),
        pytest.param("eip1967", "0.6.12", "transparent", "P", id="transparent, 0.6"),
        pytest.param("eip1967", "0.5.16", "transparent_0_5", "P", id="transparent, 0.5"),
        pytest.param("eip897", "0.4.24", "owned", "P", id="EIP-897"),
        pytest.param("openzeppelin", "0.4.24", "zeppelinos", "P", id="ZeppelinOS"),
        pytest.param("other", "0.4.24", "aragon", "Kernel P", id="Aragon, a kernel"),
        pytest.param(
            "other", "0.4.24", "aragon", "Kernel KernelProxy P", id="Aragon, a kernel's proxy"
        ),
        pytest.param("other", "0.5.16", "delegator", "P", id="a delegator"),
        pytest.param(
            "other", "0.5.16", "dharma", "UpgradeBeacon P", id="a beacon without functions"
        ),
        pytest.param("other", "0.6.12", "argent", "P", id="a wallet"),
        pytest.param("other", "0.8.28", "returning", "P", id="returned by the compiler"),
        pytest.param("other", "0.6.12", "polygon", "P", id="forwarded from memory"),
    ],
)
def test_designs(explorer, many, kind, version, file, contracts, is_optimized):
    """As their compilers made them, also beside a slot of EIP-1967 that the code does not read."""
    source = Path(__file__).with_name("proxy_designs").joinpath(f"{file}.sol").read_text()
    standard = standard_input({"P.sol": source}, optimizer={"enabled": is_optimized, "runs": 200})
    proxy = many
    for contract in contracts.split():
        creation = compiled(version, standard, "P.sol", contract).creation
        first = proxy if contract == "KernelProxy" else many
        proxy = explorer.deploy(creation, word(first)[2:] + word(proxy)[2:])
    expect(explorer, proxy, kind, many, "trace")
