"""Errors that clients may get, one class for each `code`. One handler in app.py makes them HTTP."""

from collections.abc import Mapping, Sequence

from scan.hex import to_hex


def install_extra(names: str) -> str:
    """Return how to install extras. In the public index `scan` is another project."""
    return f"pip install '.[{names}]' in the checkout, or 'FILE.whl[{names}]' of a release"


class ScanError(Exception):
    """An error with an HTTP status, a stable code and a sentence that a person can act on.

    `field` names the parameter at fault. `headers` are sent with the response. A client's text in
    either may have half of a surrogate pair, which no response can have.
    """

    status = 500
    code = "internal_error"
    challenge: str | None = None  # of 401: how to authenticate (RFC 9110, 11.6.1)

    def __init__(
        self, message: str, *, field: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message.encode("utf-8", "replace").decode()
        self.field = None if field is None else field.encode("utf-8", "replace").decode()
        self.headers = dict(headers or {})
        if self.challenge is not None:
            self.headers["WWW-Authenticate"] = self.challenge

    @property
    def for_operators(self) -> str:
        """The sentence in logs and on terminals, which may name hosts."""
        return self.message

    def body(self) -> dict[str, object]:
        body: dict[str, object] = {"error": self.message, "code": self.code}
        if self.field is not None:
            body["field"] = self.field
        return body


class InvalidJson(ScanError):
    status, code = 400, "invalid_json"


class InvalidParameter(ScanError):
    """A client's value is wrong. `faults` are all of a body that has several."""

    status, code = 400, "invalid_parameter"
    faults: Sequence["InvalidParameter"] = ()

    def body(self) -> dict[str, object]:
        errors = [ScanError.body(fault) for fault in self.faults]
        return super().body() | ({"errors": errors} if errors else {})


class MissingApiKey(ScanError):
    status, code = 401, "missing_api_key"
    challenge = 'Bearer realm="Scan"'


class InvalidApiKey(ScanError):
    status, code = 401, "invalid_api_key"
    challenge = 'Bearer realm="Scan", error="invalid_token"'


class SignatureMismatch(ScanError):
    status, code = 403, "signature_mismatch"


class OwnerMismatch(ScanError):
    status, code = 403, "owner_mismatch"


class ForeignForm(ScanError):
    status, code = 403, "foreign_form"


class WalletKeysOff(ScanError):
    """Wallets make no keys here: the operator does."""

    status, code = 403, "wallet_keys_off"


class NotFound(ScanError):
    status, code = 404, "not_found"


class MethodNotAllowed(ScanError):
    status, code = 405, "method_not_allowed"


class ReplayedRequest(ScanError):
    status, code = 409, "replayed_request"


class LimitReached(ScanError):
    status, code = 409, "limit_reached"


class RequestInProgress(ScanError):
    """The same request is being answered."""

    status, code = 409, "request_in_progress"


class PositionLost(ScanError):
    """A stream cannot go on from the client's position without losing events."""

    status, code = 409, "position_lost"


class Reorganised(ScanError):
    """The block that a client goes on from is no longer in the chain.

    `common` is the newest block that its branch shares with the chain. `cursor` goes on from there;
    None if the client has to begin again.
    """

    status, code = 409, "reorganised"

    def __init__(self, message: str, common: tuple[int, bytes], cursor: str | None) -> None:
        super().__init__(message)
        self._common = common
        self._cursor = cursor

    def body(self) -> dict[str, object]:
        number, block_hash = self._common
        common = {"number": number, "hash": to_hex(block_hash)}
        return {**super().body(), "commonBlock": common, "cursor": self._cursor}


class TooLarge(ScanError):
    status, code = 413, "too_large"
    of_body = "The body is too large."


class UnsupportedMediaType(ScanError):
    status, code = 415, "unsupported_media_type"


class IdempotencyKeyReused(ScanError):
    status, code = 422, "idempotency_key_reused"


class VerificationFailed(ScanError):
    status, code = 422, "verification_failed"


class SourceDoesNotCompile(VerificationFailed):
    pass


class CallReverted(ScanError):
    """A call reverted. `reason` is the decoded error, with name, signature and arguments; None
    without one."""

    status, code = 422, "call_reverted"

    def __init__(self, message: str, reason: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.reason = reason

    def body(self) -> dict[str, object]:
        body = super().body()
        return body if self.reason is None else {**body, "reason": self.reason}


class HistoryUnavailable(ScanError):
    """The node does not keep the state of such an old block."""

    status, code = 422, "history_unavailable"


class TracesUnavailable(ScanError):
    """The node has no trace of the transaction."""

    status, code = 422, "traces_unavailable"


class RateLimited(ScanError):
    status, code = 429, "rate_limited"


class UpstreamFailed(ScanError):
    """The node cannot serve now."""

    status, code = 502, "upstream_failed"

    def __init__(self, message: str, *, retry_after_s: int = 5) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after_s)})


class Unavailable(ScanError):
    """The database or a compiler cannot serve now."""

    status, code = 503, "unavailable"

    def __init__(self, message: str, *, retry_after_s: int = 2) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after_s)})


class CompilerUnavailable(Unavailable):
    """A compiler is missing or damaged, and trying again soon is of no use."""


class ClientBusy(Unavailable):
    """The client has as much of this running as one may; the service has room for others."""

    status, code = 429, "rate_limited"

    def __init__(self, *, retry_after_s: int = 2) -> None:
        super().__init__(
            "Your earlier requests of this kind are not done yet; send the next ones after them.",
            retry_after_s=retry_after_s,
        )


class MisdirectedRequest(ScanError):
    """Another instance counts the requests of this client; deploy/nginx.conf passes it on."""

    status, code = 421, "misdirected_request"


class SettingError(Exception):
    """An environment variable that cannot be used; the start stops with this message."""

    def __init__(self, name: str, value: str, reason: str) -> None:
        super().__init__(f"{name}={value!r}: {reason}")
