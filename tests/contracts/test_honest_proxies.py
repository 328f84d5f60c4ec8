"""Well-known designs of proxies, as their compilers made them: each has its implementation, also
beside a slot of EIP-1967 that its code does not read."""

from pathlib import Path

import pytest

from tests.support.explorer import compiled, standard_input
from tests.support.proxies import expect, word

pytestmark = pytest.mark.thorough

# Name: kind, compiler, file, contracts to deploy in their order; each gets the address of the
# implementation, and that of the one before.
DESIGNS = {
    "transparent, 0.8": ("eip1967", "0.8.28", "transparent", "P"),
    "transparent, 0.6": ("eip1967", "0.6.12", "transparent", "P"),
    "transparent, 0.5": ("eip1967", "0.5.16", "transparent_0_5", "P"),
    "EIP-897": ("eip897", "0.4.24", "owned", "P"),
    "ZeppelinOS": ("openzeppelin", "0.4.24", "zeppelinos", "P"),
    "Aragon, a kernel": ("other", "0.4.24", "aragon", "Kernel P"),
    "Aragon, a kernel's proxy": ("other", "0.4.24", "aragon", "Kernel KernelProxy P"),
    "a delegator": ("other", "0.5.16", "delegator", "P"),
    "a beacon without functions": ("other", "0.5.16", "dharma", "UpgradeBeacon P"),
    "a wallet": ("other", "0.6.12", "argent", "P"),
    "returned by the compiler": ("other", "0.8.28", "returning", "P"),
    "forwarded from memory": ("other", "0.6.12", "polygon", "P"),
}


@pytest.mark.parametrize("is_optimized", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", DESIGNS)
def test_designs(explorer, many, name, is_optimized):
    kind, version, file, contracts = DESIGNS[name]
    source = Path(__file__).with_name("proxy_designs").joinpath(f"{file}.sol").read_text()
    standard = standard_input({"P.sol": source}, optimizer={"enabled": is_optimized, "runs": 200})
    proxy = many
    for contract in contracts.split():
        creation = compiled(version, standard, "P.sol", contract).creation
        first = proxy if contract == "KernelProxy" else many
        proxy = explorer.deploy(creation, word(first)[2:] + word(proxy)[2:])
    expect(explorer, proxy, kind, many, "trace")
