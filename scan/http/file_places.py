"""How many lists are written and sent as files at once."""

from scan.rate_limits.concurrency import ConcurrencyLimit

MAX_WRITING = 2  # of the eight threads
MAX_OPEN = 16  # being written or sent: their bytes lie on disk


class FilePlaces:
    """Limits of files: a client has one at a time; one that reads slowly occupies no thread."""

    def __init__(self) -> None:
        self.open = ConcurrencyLimit(
            MAX_OPEN,
            places_per_client=1,
            busy="Too many files are being sent, or one to you already; try again shortly.",
            retry_after_s=5,
        )
        self.writing = ConcurrencyLimit(
            MAX_WRITING, busy="Too many files are being written; try again shortly."
        )
