"""A contract to write to, and what its functions without arguments may do to their readers."""

from pathlib import Path

VAULT = Path(__file__).with_name("Vault.sol").read_text()
