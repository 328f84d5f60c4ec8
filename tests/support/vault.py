"""A contract to write to, and what its functions without arguments may do to their readers."""

from pathlib import Path

from eth_abi import encode

from tests.support.many_functions import CHECKSUMMED

VAULT = Path(__file__).with_name("Vault.sol").read_text()
OWNER = CHECKSUMMED.lower()
CONSTRUCTOR = encode(["address", "string"], [OWNER, "<b>first</b>"]).hex()
