"""How much of a request's time goes into decoding what contracts and their ABIs made."""

import time

# A standard transfer takes 12 units and 18 us; a word that is decoded, compared and shown 2.6 us.
WORK = 250_000
PROCESSOR_S = 0.5
ATTEMPT = 8  # units, besides one for each word


class DecodingBudget:
    """One request's, for its thread: over it, what is left is not decoded.

    Units of work bound what a request costs alike on every machine; the thread's processor time
    bounds what units do not count, such as reading ABIs.
    """

    def __init__(self, work: int = WORK, processor_s: float = PROCESSOR_S) -> None:
        self._work_left = work
        self._ends_at = time.thread_time() + processor_s
        self.is_exceeded = False

    def allows(self, size_bytes: int = 0) -> bool:
        """Whether there is enough left for one attempt to decode so many bytes; takes it."""
        self._work_left -= ATTEMPT + size_bytes // 32
        if self._work_left < 0 or time.thread_time() >= self._ends_at:
            self.is_exceeded = True
        return not self.is_exceeded
