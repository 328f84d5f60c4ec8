"""Scan: a block explorer's REST API over an EVM node."""

from importlib.metadata import version

VERSION = version("scan")
