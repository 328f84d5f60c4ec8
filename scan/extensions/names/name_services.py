"""The name services of chains, and the value of SCAN_NAMES."""

import re
from enum import Enum
from typing import NamedTuple

from scan.environment import Kind, require

AUTO, OFF = "auto", "off"


class Interface(Enum):
    """What a service's contract is: a universal resolver (ENSIP-23), which follows resolvers and
    compares by itself, or a registry of resolvers (EIP-137)."""

    UNIVERSAL = "universal"
    REGISTRY = "registry"


class NameService(NamedTuple):
    """A name service on the indexed chain; names of addresses are below `reverse_zone`."""

    interface: Interface
    contract: bytes
    reverse_zone: str = "addr.reverse"


ENS = NameService(Interface.UNIVERSAL, bytes.fromhex("eeeeeeee14d718c2b47d9923deab1335e144eeee"))
LINEA = NameService(Interface.UNIVERSAL, bytes.fromhex("4d41762915f83c76ecaf6776d9b08076aa32b492"))
# Its zone is the chain's coin type in hex (ENSIP-11).
BASENAMES = NameService(
    Interface.REGISTRY,
    bytes.fromhex("b94704422c2a1e396835a571837aa5ae53285a95"),
    "80002105.reverse",
)
SPACE_ID = NameService(
    Interface.REGISTRY, bytes.fromhex("08ced32a7f3eec915ba84415e9c07a7286977956")
)
BY_CHAIN_ID = {
    "1": ENS,
    "17000": ENS,  # Holesky
    "11155111": ENS,  # Sepolia
    "59144": LINEA,
    "8453": BASENAMES,
    "56": SPACE_ID,
}


def _service(text: str) -> NameService | str:
    if text in (AUTO, OFF):
        return text
    match = re.fullmatch(r"(universal|registry):0x([0-9a-fA-F]{40})", text)
    require(match)
    assert match is not None
    return NameService(Interface(match[1]), bytes.fromhex(match[2]))


name_service = Kind(
    "name service", "auto, off, universal:0x… or registry:0x… with a contract's address", _service
)


def service_of(chosen: NameService | str, chain_id: str | None) -> NameService | None:
    """Return the service by SCAN_NAMES and the chain's id; None where there is none."""
    if isinstance(chosen, NameService):
        return chosen
    return BY_CHAIN_ID.get(chain_id or "") if chosen == AUTO else None
