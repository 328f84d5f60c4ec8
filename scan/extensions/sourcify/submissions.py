"""Converts Sourcify's verification requests to bodies of /api/v1/verify."""

import json
from collections.abc import Mapping
from typing import Any

from scan import parameters
from scan.errors import InvalidParameter
from scan.verification.metadata_request import check_number, member, request_of, text_member


def from_standard_json(address: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission's body from a standard JSON input, the compiler's version and the
    contract's `path:Name`."""
    _check_transaction_hash(body)
    standard_input = member(body, "stdJsonInput")
    sources = standard_input.get("sources")
    check_number(sources if isinstance(sources, dict) else {})
    identifier = text_member(body, "contractIdentifier")
    if ":" not in identifier:
        raise InvalidParameter(
            "The contractIdentifier must consist of the file path and the contract name separated"
            " by a ':'.",
            field="contractIdentifier",
        )
    return {
        "address": address,
        "sourceCode": json.dumps(standard_input),
        "compilerVersion": text_member(body, "compilerVersion"),
        "contractName": identifier,
    }


def from_metadata(address: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission's body from the compiler's metadata file and the sources that it
    lists, by path or by hash."""
    _check_transaction_hash(body)
    return request_of(address, member(body, "metadata"), member(body, "sources"))


def _check_transaction_hash(body: Mapping[str, Any]) -> None:
    """Raise InvalidParameter for a malformed hash; it has no other use, since the index has the
    creating transaction."""
    if body.get("creationTransactionHash") is not None:
        parameters.hash32(body["creationTransactionHash"], "creationTransactionHash")
