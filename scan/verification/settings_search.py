"""The compiler settings to try where none were submitted, most likely first: which releases of
Solidity exist, and which EVM versions and metadata each supports.

Of 53 public single-file contracts without settings, 44 matched within the first two settings of
this order and all within 22.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scan.errors import InvalidParameter
from scan.verification import bytecode_comparison, bytecode_metadata

SolcVersion = tuple[int, int, int]

_VERSION = re.compile(
    r"v?([0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,3})(\+commit\.[0-9a-f]{6,40}(\..{0,80})?)?"
)
# The last patch of the release lines that are closed; standard JSON begins with 0.4.11.
_LAST_PATCH = {(0, 4): 26, (0, 5): 17, (0, 6): 12, (0, 7): 6}
_FIRST_RELEASE = (0, 4, 11)

VIA_IR_FROM = (0, 8, 13)
BYTECODE_HASH_FROM = (0, 6, 0)
APPEND_CBOR_FROM = (0, 8, 18)
SHANGHAI = "shanghai"

# EVM versions that were supported before they became the default, by trying the releases. All
# others are supported from the release on that made them the default.
_TAKEN_FROM: dict[str, SolcVersion] = {
    "berlin": (0, 5, 16),
    "cancun": (0, 8, 24),
    "prague": (0, 8, 27),
    "osaka": (0, 8, 29),
}
# EVM versions, oldest first, each with the release from which it is the default.
_DEFAULTS: tuple[tuple[str, SolcVersion], ...] = (
    ("byzantium", (0, 4, 21)),
    ("petersburg", (0, 5, 5)),
    ("istanbul", (0, 5, 14)),
    ("berlin", (0, 8, 5)),
    ("london", (0, 8, 7)),
    ("paris", (0, 8, 18)),
    (SHANGHAI, (0, 8, 20)),
    ("cancun", (0, 8, 25)),
    ("prague", (0, 8, 30)),
    ("osaka", (0, 8, 31)),
)
# EVM versions of later forks, each with the release from which `settings.experimental` allows it.
EXPERIMENTAL: dict[str, SolcVersion] = {"amsterdam": (0, 8, 36)}
EVM_VERSIONS = (*(name for name, _ in _DEFAULTS), *EXPERIMENTAL)


def parse_version(version: object) -> SolcVersion:
    """Return (0, 8, 19) for `0.8.19`, `v0.8.19` or `v0.8.19+commit.7dd6d404`.

    Commits are not compared: distributions build the same release from other commits. Raises
    InvalidParameter, also for a release that does not exist.
    """
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if not match:
        message = "compilerVersion must look like 0.8.19, v0.8.19 or v0.8.19+commit.7dd6d404."
        raise InvalidParameter(message, field="compilerVersion")
    major, minor, patch = (int(part) for part in match[1].split("."))
    if (major, minor, patch) < _FIRST_RELEASE:
        message = "compilerVersion must be 0.4.11 or newer: older compilers have no standard JSON."
        raise InvalidParameter(message, field="compilerVersion")
    if major > 0 or patch > _LAST_PATCH.get((major, minor), 999):
        raise no_such_release((major, minor, patch))
    return major, minor, patch


def no_such_release(version: SolcVersion, title: str = "Solidity") -> InvalidParameter:
    return InvalidParameter(
        f"There is no {title} compiler {dotted(version)}.", field="compilerVersion"
    )


def dotted(version: SolcVersion) -> str:
    return ".".join(str(part) for part in version)


def evm_versions(version: SolcVersion) -> list[str]:
    """Return the EVM versions that a compiler supports, oldest first."""
    return [name for name, since in _DEFAULTS if _TAKEN_FROM.get(name, since) <= version]


_DEFAULT_METADATA = {"bytecodeHash": "ipfs", "appendCBOR": True}
RARER_RUNS = (999_999, 1_000_000, 1, 10_000, 1000, 800)
OLDER_EVM_VERSIONS = 4

CompilerSettings = dict[str, Any]


class InferredSettings(NamedTuple):
    """Settings inferred from deployed code: `settings.metadata`, and whether it uses PUSH0."""

    metadata: Mapping[str, Any]
    push0: bool


def infer_settings(deployed: bytes, version: SolcVersion) -> InferredSettings:
    """Return the settings that the deployed code shows, as far as the release supports them."""
    push0 = SHANGHAI in evm_versions(version) and bytecode_comparison.uses_push0(deployed)
    return InferredSettings(_metadata_mode(deployed, version), push0)


def _metadata_mode(deployed: bytes, version: SolcVersion) -> dict[str, Any]:
    """Return `settings.metadata`; {} for the release's default, which would change the metadata if
    it were explicit."""
    metadata = bytecode_metadata.read_metadata(deployed)
    kind = bytecode_metadata.hash_kind(metadata)
    if version < BYTECODE_HASH_FROM or kind == "ipfs":
        return {}
    if kind == "bzzr1":
        return {"bytecodeHash": "bzzr1"}
    if metadata is None and version >= APPEND_CBOR_FROM:
        return {"bytecodeHash": "none", "appendCBOR": False}
    return {"bytecodeHash": "none"}


def candidate_settings(
    requested: Mapping[str, Any], version: SolcVersion, inferred: InferredSettings
) -> Iterator[CompilerSettings]:
    """Yield complete settings without repetition. Submitted ones are not changed, but for metadata
    that the deployed code does not have."""
    likely, rarer = _optimizers(requested.get("optimizer"))
    first_evm, *other_evms = _evm_versions(requested, version, has_push0=inferred.push0)
    # Values of viaIR for the legacy pipeline and the IR: None omits it, as most tools do.
    plain: list[bool | None] = [None]
    via_ir: list[bool | None] = [] if "viaIR" in requested or version < VIA_IR_FROM else [True]
    order = itertools.chain(
        itertools.product(likely, [first_evm], plain),
        itertools.product(likely, [first_evm], via_ir),
        itertools.product(likely, other_evms, plain),
        itertools.product(rarer, [first_evm], plain),
        itertools.product(rarer, [first_evm], via_ir),
        itertools.product(likely, other_evms, via_ir),
        itertools.product(rarer, other_evms, [*plain, *via_ir]),
    )
    metadata = _metadata(requested.get("metadata", {}), inferred.metadata)
    for optimizer, evm_version, pipeline in order:
        chosen: CompilerSettings = {**requested, "optimizer": optimizer}
        chosen.pop("metadata", None)
        if metadata:
            chosen["metadata"] = metadata
        if evm_version:
            chosen["evmVersion"] = evm_version
        if pipeline is not None:
            chosen["viaIR"] = pipeline
        yield chosen
        allowed_from = EXPERIMENTAL.get(chosen.get("evmVersion", ""))
        if allowed_from and version >= allowed_from and "experimental" not in chosen:
            yield {**chosen, "experimental": True}


def _metadata(given: Mapping[str, Any], of_code: Mapping[str, Any]) -> dict[str, Any]:
    """Return `settings.metadata` as submitted, or as the code has it where it has other metadata:
    tools send settings that a contract was not compiled with."""
    is_bare = given.get("appendCBOR") is False is of_code.get("appendCBOR")  # of any hash
    needed = {**_DEFAULT_METADATA, **of_code}
    if is_bare or needed.items() <= {**_DEFAULT_METADATA, **given}.items():
        return dict(given)
    return {n: v for n, v in given.items() if n not in _DEFAULT_METADATA} | dict(of_code)


def _optimizers(
    given: Mapping[str, Any] | None,
) -> tuple[list[CompilerSettings], list[CompilerSettings]]:
    """Return the likely and the rarer settings of the optimizer."""
    if given is not None and ("enabled" in given) and ("runs" in given or not given["enabled"]):
        return [dict(given)], []
    if given is not None and "runs" in given:
        return [{**given, "enabled": True}, {**given, "enabled": False}], []
    extra = dict(given or {})
    on = {**extra, "enabled": True, "runs": 200}
    rarer = [{**extra, "enabled": True, "runs": runs} for runs in RARER_RUNS]
    if extra.get("enabled"):
        return [on], rarer
    return [on, {**extra, "enabled": False, "runs": 200}], rarer


def _evm_versions(
    given: Mapping[str, Any], version: SolcVersion, *, has_push0: bool
) -> list[str | None]:
    """Return the EVM versions to try. The default is None and comes first, unless the code excludes
    it."""
    defaults = [name for name, since in _DEFAULTS if since <= version]
    if "evmVersion" in given or not defaults:  # releases before 0.4.21 have no such setting
        return [None]
    index = EVM_VERSIONS.index(defaults[-1])
    newer = [name for name in EVM_VERSIONS[index + 1 : index + 2] if name in evm_versions(version)]
    older = EVM_VERSIONS[:index][::-1]
    shanghai = EVM_VERSIONS.index(SHANGHAI)
    fitting: list[str | None] = [
        name for name in (*older, *newer) if (EVM_VERSIONS.index(name) >= shanghai) == has_push0
    ]
    fitting = fitting[: OLDER_EVM_VERSIONS + 1]
    return [None, *fitting] if (index >= shanghai) == has_push0 or not fitting else fitting
