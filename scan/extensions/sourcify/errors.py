"""Errors in Sourcify's form: {"customCode", "message", "errorId"}."""

import uuid

from scan.errors import LimitReached, NotFound, ScanError
from scan.http.interfaces import Interface
from scan.server.wsgi_responses import WsgiResponse, json_response

_CUSTOM_CODES = {
    "not_found": "route_not_found",
    "rate_limited": "too_many_requests",
    "too_large": "invalid_parameter",
    "unsupported_media_type": "invalid_parameter",
}
_NO_ROUTE = "Not found."


class UnsupportedChain(NotFound):
    code = "unsupported_chain"

    def __init__(self, chain_id: str) -> None:
        super().__init__(f"The chain with chainId {chain_id} is not supported")


class JobNotFound(NotFound):
    code = "job_not_found"


class ContractNotDeployed(NotFound):
    code = "contract_not_deployed"


class AlreadyVerified(LimitReached):
    code = "already_verified"


def error_value(code: str, message: str) -> dict[str, str]:
    return {"customCode": code, "message": message, "errorId": str(uuid.uuid4())}


def refuse(error: ScanError) -> WsgiResponse:
    message = _NO_ROUTE if error.code == NotFound.code else error.message
    value = error_value(_CUSTOM_CODES.get(error.code, error.code), message)
    return json_response(error.status, value, list(error.headers.items()))


SOURCIFY = Interface(
    refuse,
    prefixes=("/v2/contract/", "/v2/contracts/", "/v2/verify/", "/chains/", "/server/"),
    catalogued="/v2",
)
