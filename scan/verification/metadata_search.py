"""The search for the variant of a metadata file whose hash is in the deployed code.

The code can be equal while the metadata differs: a single file is submitted without its path, and
settings such as `runs` may not change the code. A variant with the hash is the deployer's file.
"""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence

from scan.verification.bytecode_metadata import BytecodeMetadata, hash_kind
from scan.verification.compiler_releases import EVM_VERSIONS
from scan.verification.metadata_hash import BY_KIND
from scan.verification.settings_search import RARER_RUNS

# The most that is hashed: SHA-256 of 3 KB takes 10 µs, Swarm's hashes 1 to 2 ms.
MOST_BYTES = {"ipfs": 12_000_000, "bzzr0": 1_500_000, "bzzr1": 900_000}

_OPTIMIZER = re.compile(r'"optimizer":\{"enabled":(?:true|false),"runs":[0-9]+\}')
_EVM_VERSION = re.compile(r'"evmVersion":"[A-Za-z]+",?')
_PATHS_BY_NAME = tuple(
    """
    {}.sol contracts/{}.sol src/{}.sol browser/{}.sol ./{}.sol ./contracts/{}.sol /{}.sol
    /contracts/{}.sol project:/contracts/{}.sol {}_flat.sol contracts/{}_flat.sol flattened/{}.sol
    """.split()
)
_PATHS = (
    *"""
    contract.sol Contract.sol contracts/contract.sol contracts/Contract.sol flattened.sol
    Flattened.sol contracts/flattened.sol source.sol input.sol main.sol test.sol contracts/test.sol
    a.sol A.sol 1.sol
    """.split(),
    "browser/test.sol",
    "browser/Untitled.sol",
    "",
    "<stdin>",
)


def find_variant(
    deployed: BytecodeMetadata | None, metadata: str, path: str, contract_names: Collection[str]
) -> str | None:
    """Return the metadata file with the deployed hash, None without one. Variants have other
    settings, and likely paths of a file with these contracts in place of `path`; none where the
    path is known."""
    kind = hash_kind(deployed)
    if deployed is None or kind is None:
        return None
    deployed_hash, digest = deployed.values[kind], BY_KIND[kind]
    most = MOST_BYTES[kind] // len(metadata)
    likely = [path.format(name) for path in _PATHS_BY_NAME for name in contract_names]
    paths = [path, *likely, *_PATHS] if contract_names else [path]
    for text in itertools.islice(_variants(metadata, path, paths), most):
        if digest(text.encode()) == deployed_hash:
            return text
    return None


def _variants(metadata: str, path: str, paths: Sequence[str]) -> Iterator[str]:
    for settings in _settings(metadata):
        for other in paths:
            yield settings.replace(f'"{path}":', f'"{other}":')


def _settings(metadata: str) -> Iterator[str]:
    """Yield the metadata file unchanged, then with other settings that may give equal code, then
    all of these with an explicit `bytecodeHash`."""
    for text in (metadata, _with_explicit_hash(metadata)):
        yield text
        for runs in (200, *RARER_RUNS):
            for enabled in ("true", "false") if runs == 200 else ("true",):
                optimizer = f'"optimizer":{{"enabled":{enabled},"runs":{runs}}}'
                yield _OPTIMIZER.sub(optimizer, text)
        for evm_version in EVM_VERSIONS:
            yield _EVM_VERSION.sub(f'"evmVersion":"{evm_version}",', text)


def _with_explicit_hash(metadata: str) -> str:
    """Return the file with the default `bytecodeHash` set, as some tools do: it is then part of the
    metadata."""
    if '"metadata":{' in metadata:
        return metadata
    return metadata.replace('"optimizer":', '"metadata":{"bytecodeHash":"ipfs"},"optimizer":', 1)
