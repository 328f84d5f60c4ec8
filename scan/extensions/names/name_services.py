"""The name services of chains, and the value of SCAN_NAMES."""

import re
from enum import Enum
from typing import NamedTuple

from scan.setting_kinds import Kind, require

AUTO, OFF, GATEWAYS = "auto", "off", "+gateways"


class Interface(Enum):
    """What a service's contract is: a universal resolver (ENSIP-23), which looks up resolvers and
    compares by itself, or a registry of resolvers (EIP-137)."""

    UNIVERSAL = "universal"
    REGISTRY = "registry"


class NameService(NamedTuple):
    """A name service on a chain; names of addresses are below `reverse_zone`. An L2's reverse
    registrar, which has names of addresses alone (ENSIP-19), comes before that zone."""

    interface: Interface
    contract: bytes
    reverse_zone: str = "addr.reverse"
    reverse_registrar: bytes | None = None


class Choice(NamedTuple):
    """SCAN_NAMES: a service, `auto` or `off`, and whether gateways that names' contracts name are
    asked (EIP-3668)."""

    service: NameService | str
    asks_gateways: bool = False


ENS = NameService(Interface.UNIVERSAL, bytes.fromhex("eeeeeeee14d718c2b47d9923deab1335e144eeee"))
REVERSE_REGISTRAR = bytes.fromhex("0000000000d8e504002cc26e3ec46d81971c1664")  # of ENS, on L2s
LINEA = NameService(
    Interface.UNIVERSAL,
    bytes.fromhex("4d41762915f83c76ecaf6776d9b08076aa32b492"),
    reverse_registrar=REVERSE_REGISTRAR,
)
# Its zone is the chain's coin type in hex (ENSIP-11).
BASENAMES = NameService(
    Interface.REGISTRY,
    bytes.fromhex("b94704422c2a1e396835a571837aa5ae53285a95"),
    "80002105.reverse",
    REVERSE_REGISTRAR,
)
SPACE_ID = NameService(
    Interface.REGISTRY, bytes.fromhex("08ced32a7f3eec915ba84415e9c07a7286977956")
)
SPACE_ID_ARBITRUM = NameService(
    Interface.REGISTRY,
    bytes.fromhex("4a067ee58e73ac5e4a43722e008dfdf65b2bf348"),
    reverse_registrar=REVERSE_REGISTRAR,
)
# A chain without names of its own, where Ethereum's may be read.
NO_SERVICE = NameService(Interface.REGISTRY, bytes(20))
NO_NAMES = NO_SERVICE._replace(reverse_registrar=REVERSE_REGISTRAR)
BY_CHAIN_ID = {
    "1": ENS,
    "17000": ENS,  # Holesky
    "11155111": ENS,  # Sepolia
    "59144": LINEA,
    "8453": BASENAMES,
    "56": SPACE_ID,
    "42161": SPACE_ID_ARBITRUM,
}
# Chains with the reverse registrar and no names, where Ethereum's are read.
REVERSE_ALONE = {"10": NO_NAMES, "534352": NO_NAMES}  # OP Mainnet, Scroll


def _choice(text: str) -> Choice:
    service = text.removesuffix(GATEWAYS)
    asks_gateways = service != text
    if service in (AUTO, OFF):
        require(service == AUTO or not asks_gateways)
        return Choice(service, asks_gateways)
    match = re.fullmatch(r"(universal|registry):0x([0-9a-fA-F]{40})", service)
    require(match)
    assert match is not None
    return Choice(NameService(Interface(match[1]), bytes.fromhex(match[2])), asks_gateways)


name_service = Kind(
    "name service",
    "auto, off, universal:0x… or registry:0x… with a contract's address; +gateways may follow",
    _choice,
)


def service_of(
    chosen: NameService | str, chain_id: str | None, *, has_l1: bool = False
) -> NameService | None:
    """Return the service by SCAN_NAMES and the chain's id; None where there is none. With `has_l1`
    Ethereum's names are read besides."""
    if isinstance(chosen, NameService):
        return chosen
    if chosen == OFF:
        return None
    service = BY_CHAIN_ID.get(chain_id or "")
    return REVERSE_ALONE.get(chain_id or "", NO_SERVICE) if service is None and has_l1 else service
