"""Errors for requests that gunicorn cannot parse or refuses."""

from gunicorn.http import errors

from scan.errors import ScanError

_REFUSALS = {
    errors.LimitRequestLine: (414, "too_large", "The request line is too long."),
    errors.LimitRequestHeaders: (431, "too_large", "The request headers are too large."),
    errors.ExpectationFailed: (417, "bad_request", "Only Expect: 100-continue is understood."),
    errors.UnsupportedTransferCoding: (501, "bad_request", "Unknown transfer coding."),
}


class MalformedRequest(ScanError):
    def __init__(self, error: Exception) -> None:
        default = (400, "bad_request", "This is not a well-formed HTTP request.")
        self.status, self.code, message = _REFUSALS.get(type(error), default)
        super().__init__(message)


class UnparsedRequest:
    """The request that gunicorn's Response needs, in place of one that could not be parsed."""

    method = "GET"
    version = (1, 1)

    def should_close(self) -> bool:
        return True
