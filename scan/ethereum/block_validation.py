"""Whether a node's block agrees with its own hash and roots, and whether it can show that. Pure."""

from typing import Any

from scan.ethereum.block_encoding import Unencodable
from scan.ethereum.block_hashing import (
    contradicting_fields,
    fields_out_of_place,
    has_its_hash,
    own_form,
    uncompared,
)
from scan.ethereum.client import AnswerTooLarge

HEADER, BODY = "header", "body"  # parts of a block


def contradiction(header: Any, receipts: Any) -> tuple[str, str]:
    """Return the part of a block, HEADER or BODY, that contradicts its hash, and the fields that do
    so, in words; two empty strings if none. Parts too large to be read at once are not checked."""
    if isinstance(header, AnswerTooLarge):
        return "", ""
    if not has_its_hash(header):
        return HEADER, "header and hash"
    if isinstance(receipts, AnswerTooLarge):
        return "", ""
    fields = _contradicting_fields(header, receipts)
    return (BODY, fields) if fields else ("", "")


def shows_form(part: str, header: Any, receipts: Any) -> bool:
    """Return whether a part of a block is evidence of the chain's form: a body is none without
    transactions, with transactions that cannot be encoded, or if it is too large to be read."""
    if isinstance(header, AnswerTooLarge) or part == HEADER:
        return not isinstance(header, AnswerTooLarge)
    try:
        own_form(header, receipts)
        return bool(header.transactions) and not isinstance(receipts, AnswerTooLarge)
    except (ValueError, KeyError, TypeError, AttributeError, Unencodable):
        return False


def is_out_of_place(header: Any, receipts: Any) -> bool:
    """Return whether a block has one of OUT_OF_PLACE otherwise than its order says."""
    if isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge):
        return False
    try:
        return bool(fields_out_of_place(header.transactions, receipts))
    except (ValueError, TypeError, AttributeError):
        return False  # the decoder reports what is malformed


def uncompared_of(header: Any, receipts: Any) -> list[str]:
    """Return the parts of a block that no root covers, in words; none of a malformed block."""
    try:
        return uncompared(header, receipts)
    except (ValueError, TypeError, AttributeError):
        return []  # the decoder reports what is malformed


def _contradicting_fields(header: Any, receipts: Any) -> str:
    try:
        return contradicting_fields(header, receipts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return f"malformed fields ({type(error).__name__})"
    except Unencodable as error:
        return str(error)
