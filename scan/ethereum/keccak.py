"""The fastest installed keccak-256: the roots of a block take a dozen hashes for each record."""

try:
    from tiny_keccak import keccak256
except ImportError:  # the installation is older than this requirement; six times slower
    from eth_hash.auto import keccak as keccak256  # type: ignore[assignment]

__all__ = ["keccak256"]
