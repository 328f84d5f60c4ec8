"""Who may call the functions of a matched contract, by one more compilation without code.

Its source has matched, so that nothing here may fail the verification: what is too large, or has a
tree that cannot be read, is not known.
"""

import orjson

from scan.errors import Unavailable, VerificationFailed
from scan.verification.contract_match import Match
from scan.verification.permissions.contract_permissions import MAX_RECORD_BYTES
from scan.verification.submission_compilations import Compilations, errors

# What a tree of a form that is not known, or one that is nested too deeply, may raise.
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, RecursionError)


def read_permissions(compilations: Compilations, match: Match) -> str | None:
    """Return the record as JSON; None where it is not known."""
    language, contract = compilations.submission.language, match.contract
    if language.permissions is None:
        return None
    try:
        selection = language.tree_of(contract.path, contract.name)
        output = compilations.run(match.settings, selection)
        if errors(output):
            return None
        sources = compilations.submission.sources
        record = language.permissions(output, sources, contract.path, contract.name)
    except (VerificationFailed, Unavailable, *UNREADABLE):
        return None
    text = orjson.dumps(record).decode()
    return text if record is not None and len(text) <= MAX_RECORD_BYTES else None
