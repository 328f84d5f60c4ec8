"""Scan: a block explorer's REST API over an EVM node."""
