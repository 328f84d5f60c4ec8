"""Solidity releases: which exist, and which EVM versions and metadata each supports."""

import re

from scan.errors import InvalidParameter

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
        raise InvalidParameter(
            "compilerVersion must look like 0.8.19, v0.8.19 or v0.8.19+commit.7dd6d404.",
            field="compilerVersion",
        )
    major, minor, patch = (int(part) for part in match[1].split("."))
    _check_exists((major, minor, patch))
    return major, minor, patch


def _check_exists(version: SolcVersion) -> None:
    if version < _FIRST_RELEASE:
        raise InvalidParameter(
            "compilerVersion must be 0.4.11 or newer: older compilers have no standard JSON.",
            field="compilerVersion",
        )
    if version[2] > _LAST_PATCH.get(version[:2], 999) or version[0] > 0:
        raise no_such_release(version)


def no_such_release(version: SolcVersion, title: str = "Solidity") -> InvalidParameter:
    return InvalidParameter(
        f"There is no {title} compiler {dotted(version)}.", field="compilerVersion"
    )


def dotted(version: SolcVersion) -> str:
    return ".".join(str(part) for part in version)


def default_evm_version(version: SolcVersion) -> str | None:
    """Return a release's default EVM version; None before 0.4.21, which has no such setting."""
    names = [name for name, since in _DEFAULTS if since <= version]
    return names[-1] if names else None


def evm_versions(version: SolcVersion) -> list[str]:
    """Return the EVM versions that a compiler supports, oldest first."""
    return [name for name, since in _DEFAULTS if _TAKEN_FROM.get(name, since) <= version]
