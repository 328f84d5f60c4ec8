"""A contract with something of everything, and proxies of it."""

from pathlib import Path

from tests.support.explorer import compiled, standard_input

VERSION = "0.8.28"
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

MANY = Path(__file__).with_name("Many.sol").read_text()
PROXY = Path(__file__).with_name("Proxy.sol").read_text()
SLOT = "360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"


def deploy(explorer, source, name, arguments=""):
    contract = compiled(VERSION, standard_input({f"{name}.sol": source}), f"{name}.sol", name)
    return explorer.deploy(contract.creation, arguments)


def verified(explorer, source, name, arguments=""):
    address = deploy(explorer, source, name, arguments)
    answer = explorer.verify(address, source, VERSION, contractName=name, optimizationUsed=0)
    assert answer.status_code == 200, answer.json
    return address
