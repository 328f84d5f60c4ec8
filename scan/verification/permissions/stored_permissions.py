"""Who may call the functions of a matched contract, by its syntax tree: one more compilation
without code.

Its source has matched, so that nothing here may fail the verification: what is too large, or has a
tree that cannot be read, is not known.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from scan.errors import Unavailable, VerificationFailed
from scan.verification.contract_match import Match
from scan.verification.permissions.contract_permissions import MAX_RECORD_BYTES
from scan.verification.submission_compilations import Compilations, errors

# What a tree of a form that is not known, or one that is nested too deeply, may raise.
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, RecursionError)


def with_tree(compilations: Compilations, match: Match) -> Mapping[str, Any] | None:
    """Return the compiler's output with syntax trees; None where it is not known."""
    language, contract = compilations.submission.language, match.contract
    if language.permissions is None:
        return None
    try:
        output = compilations.run(match.settings, language.tree_of(contract.path, contract.name))
    except (VerificationFailed, Unavailable):
        return None
    return None if errors(output) else output


def read_permissions(
    compilations: Compilations, match: Match, output: Mapping[str, Any]
) -> str | None:
    """Return the record of an output with trees as JSON; None where it is not known."""
    language, contract = compilations.submission.language, match.contract
    if language.permissions is None:
        return None
    try:
        sources = compilations.submission.sources
        record = language.permissions(output, sources, contract.path, contract.name)
    except (VerificationFailed, Unavailable, *UNREADABLE):
        return None
    text = orjson.dumps(record).decode()
    return text if record is not None and len(text) <= MAX_RECORD_BYTES else None
