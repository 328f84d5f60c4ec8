"""Known faults of PostgreSQL's minor releases that matter where others log in, for `scan doctor`
and `scan sql-role`."""

from typing import NamedTuple

# By each of them a role that only reads, or may create objects, executes code as the server's user.
# The first minor of each major without it is that of the CVE's record.
MENDED = {
    "CVE-2026-14680": {16: 15, 17: 11, 18: 6},  # arguments of the type "internal"
    "CVE-2026-16239": {16: 15, 17: 11, 18: 6},  # cursors that are declared again
    "CVE-2026-6460": {16: 16, 17: 12, 18: 7},  # types that are altered
}


class KnownFaults(NamedTuple):
    text: str
    advice: str


def known_faults(version: int) -> KnownFaults | None:
    """Return what is known of a server by its server_version_num, such as 180004 of 18.4."""
    major, minor = divmod(version, 10_000)
    faults = [name for name, mended in MENDED.items() if minor < mended.get(major, 0)]
    if not faults:
        return None
    newest = max(MENDED[name][major] for name in faults)
    return KnownFaults(
        f"in PostgreSQL {major}.{minor} roles can execute code on the server: {', '.join(faults)}",
        f"update it to {major}.{newest} or newer; before that let only people log in whom you trust"
        " with the server",
    )
