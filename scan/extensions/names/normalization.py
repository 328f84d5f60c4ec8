"""Names in the one form that name services know them by (ENSIP-15), which confusable ones lack.

Names of plain ASCII are normalised here. The tables for all others take 100 MB: they are in a
process of their own, with bounds, for as long as it is used (normalizing_process.py), where the
package ens-normalize is installed.
"""

import json
import os
import re
import select
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scan.cached_values import SizedCache
from scan.concurrency.concurrency_limit import PLACE_WAIT_S, ConcurrencyLimit
from scan.verification import sandbox

MAX_BYTES = 255  # of a name in UTF-8
ANSWER_S = 4.0  # with the second in which the tables are loaded
MAX_ANSWER_BYTES = 4096
CACHE_BYTES = 1024 * 1024
ENTRY_BYTES = 800

_PLAIN_LABEL = re.compile(r"_*[a-z0-9$-]+|_+")
# ASCII that is in no name, whatever stands beside it; it is worth no process.
_NEVER = re.compile(r"[\x00-\x20!\"%&()+,/:;<=>?@\[\\\]^`{|}~\x7f]")
_PROCESS = (sys.executable, "-I", str(Path(__file__).with_name("normalizing_process.py")))


class NotNormalizable(Exception):
    """The text is no name. The message says why, in words without the text itself."""


class NotChecked(Exception):
    """Whether the text is a name is not known now. The message says why."""


def normalized_plain(text: str) -> str | None:
    """Return a name of plain ASCII, normalised; None for a text that takes the tables. Raises
    NotNormalizable."""
    if not text:
        raise NotNormalizable("it is empty")
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise NotNormalizable(f"it is longer than {MAX_BYTES} bytes")
    if _NEVER.search(text):
        raise NotNormalizable("it has a character that no name has")
    labels = text.lower().split(".") if text.isascii() else [""]
    if "" in text.split("."):
        raise NotNormalizable("a part of it is empty")
    if not all(map(_PLAIN_LABEL.fullmatch, labels)):
        return None
    if any(label[2:4] == "--" for label in labels):
        raise NotNormalizable("a part of it has -- after two characters")
    return ".".join(labels)


class Normalizer:
    """Normalises names, and keeps what became of those that took the process."""

    answer_s = ANSWER_S

    def __init__(self) -> None:
        self._kept: SizedCache[tuple[str | None, str]] = SizedCache(CACHE_BYTES)
        busy = "Too many names are being checked; try again shortly."
        self._one = ConcurrencyLimit(1, places_in_line=1, busy=busy)
        self._process: subprocess.Popen[bytes] | None = None

    def known(self, text: str) -> str | None:
        """Return a name, normalised, without waiting; None where it takes the process first.
        Raises NotNormalizable."""
        plain = normalized_plain(text)
        if plain is not None:
            return plain
        kept = self._kept.get(text)
        return None if kept is None else _result(*kept)

    def normalized(self, text: str) -> str:
        """Return a name, normalised. Raises NotNormalizable, NotChecked, and Unavailable where
        another name is being checked."""
        normalized_name = self.known(text)
        if normalized_name is not None:
            return normalized_name
        if find_spec("ens_normalize") is None:
            raise NotChecked("this server cannot check names beyond ASCII (package ens-normalize)")
        with self._one.place(wait_s=PLACE_WAIT_S):
            answer = self._ask(text)
        kept = answer.get("name"), str(answer.get("reason", ""))[:200]
        self._kept.store(text, kept, ENTRY_BYTES)
        return _result(*kept)

    def _ask(self, text: str) -> dict[str, Any]:
        """Return what the process answers; one that has ended meanwhile is started once more."""
        for _ in range(2):
            is_new = self._process is None
            if self._process is None:
                self._process = sandbox.start(
                    [*_PROCESS],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={},
                )
            line = _exchange(self._process, json.dumps(text).encode() + b"\n", self.answer_s)
            with suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict):
                    return answer
            sandbox.end_session(self._process)
            self._process = None
            if is_new:
                break
        raise NotChecked("the check of the name did not end in time")


def _exchange(process: "subprocess.Popen[bytes]", line: bytes, answer_s: float) -> bytes:
    """Return the line with which the process answers; b"" where it has ended, or is late."""
    assert process.stdin is not None and process.stdout is not None
    ends_at, answer = time.monotonic() + answer_s, b""
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except OSError:
        return b""
    output = process.stdout.fileno()
    while not answer.endswith(b"\n") and len(answer) <= MAX_ANSWER_BYTES:
        readable, _, _ = select.select([output], [], [], max(0.0, ends_at - time.monotonic()))
        part = os.read(output, MAX_ANSWER_BYTES) if readable else b""
        if not part:
            return b""
        answer += part
    return answer


def _result(name: str | None, reason: str) -> str:
    if name is None:
        raise NotNormalizable(reason)
    return name
