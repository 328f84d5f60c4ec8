"""The fastest keccak-256 that is installed: roots take a dozen hashes of blocks' records each."""

try:
    from tiny_keccak import keccak256
except ImportError:  # an installation from before it was required: six times slower
    from eth_hash.auto import keccak as keccak256  # type: ignore[assignment]

__all__ = ["keccak256"]
