"""Contracts with variables of all kinds, each with a function that reads it."""

from pathlib import Path

VERSION = "0.8.28"
PATH = "Kept.sol"
KEPT = Path(__file__).with_name("Kept.sol").read_text()
