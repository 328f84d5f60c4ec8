"""The bound on the time that a request may spend on decoding hostile calls, logs and ABIs."""

import time

# A standard transfer costs 12 units and takes 18 us; decoding, comparing and rendering one word
# takes 2.6 us.
WORK = 250_000
PROCESSOR_S = 0.5
ATTEMPT = 8  # units, plus one per word


class DecodingBudget:
    """The budget of one request, in its thread. When it is spent, nothing more is decoded.

    Units of work limit a request equally on every machine; the thread's processor time also limits
    work that is not counted in units, such as reading ABIs.
    """

    def __init__(self, work: int = WORK, processor_s: float | None = None) -> None:
        self._work_left = work
        self._ends_at = time.thread_time() + (PROCESSOR_S if processor_s is None else processor_s)
        self.is_exceeded = False

    def allows(self, size_bytes: int = 0) -> bool:
        """Deduct the cost of one attempt to decode `size_bytes`, and return whether the budget
        allowed it."""
        self._work_left -= ATTEMPT + size_bytes // 32
        if self._work_left < 0 or time.thread_time() >= self._ends_at:
            self.is_exceeded = True
        return not self.is_exceeded
