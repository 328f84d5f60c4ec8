"""One compiler, run on hostile input: standard JSON in, standard JSON out.

Native builds, Node scripts around npm's soljson.js, and Python scripts around Vyper's wheels take
the same two kinds of arguments.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from scan.errors import Unavailable, VerificationFailed
from scan.verification.compiler_releases import parse_version
from scan.verification.confined_process import CANNOT_CONFINE
from scan.verification.sandbox import (
    MEMORY_KIB,
    OUTPUT_BYTES,
    Finished,
    Program,
    TimedOut,
    TooManyProcesses,
)

COMPILE_TIMEOUT_S = 40.0
VERSION_TIMEOUT_S = 30.0
# A compiler makes 32 MB of ABI from a megabyte of source with nested structs, and parsing it holds
# the interpreter lock for 0.4 s. Parsing this many values takes 0.1 s.
MOST_OUTPUT_VALUES = 500_000


class OutOfLimits(VerificationFailed):
    """The source needs more time or memory than a compilation may use."""


def compile_source(
    compiler: Program,
    standard_input: object,
    timeout_s: float,
    check: Callable[[], None] = lambda: None,
    options: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the compiler's standard JSON output. Raises OutOfLimits, Unavailable.

    `options` come before the compiler's arguments. `check` is called while the compiler runs; an
    exception from it ends the compiler.
    """
    timeout_s = min(timeout_s, COMPILE_TIMEOUT_S)
    if timeout_s <= 0:
        raise OutOfLimits("The time limit of this verification is reached.")
    with tempfile.TemporaryDirectory(prefix="scan-solc-") as folder:
        arguments = [*options, *_arguments(compiler, folder)]
        try:
            finished = compiler.run(
                arguments, folder, timeout_s, orjson.dumps(standard_input), check
            )
        except TimedOut:
            raise OutOfLimits(
                f"The compiler did not finish within {timeout_s:.0f} seconds."
            ) from None
        except TooManyProcesses:
            raise OutOfLimits("The compiler started too many processes.") from None
    return _output(finished)


def stated_version(compiler: Program) -> str | None:
    """Return the version that `--version` prints, such as `0.8.26`, under the limits of a
    compilation; None where it prints none."""
    with tempfile.TemporaryDirectory(prefix="scan-solc-") as folder:
        try:
            finished = compiler.run(["--version"], folder, VERSION_TIMEOUT_S)
        except (TimedOut, TooManyProcesses):
            return None
    version = re.search(rb"(?:Version: |\A)([0-9.]{1,20})", finished.output[:1000])
    return version[1].decode() if version and finished.status == 0 else None


def _arguments(compiler: Program, folder: str) -> list[str]:
    arguments = ["--standard-json"]
    name, _, release = compiler.executable.name.partition("-")
    if name != "solc" or not compiler.is_native():
        return arguments
    version = parse_version(release)
    if version >= (0, 6, 9):
        arguments += ["--base-path", folder]
    if version >= (0, 8, 22):
        arguments += ["--no-import-callback"]
    return arguments


def _output(finished: Finished) -> dict[str, Any]:
    """Return the compiler's output. Raises OutOfLimits: the compiler reports bad_alloc as a JSON
    error with exit status 0, and crashes at other limits."""
    if finished.status in (CANNOT_CONFINE, 126, 127):
        raise Unavailable("The compiler cannot be started.", retry_after_s=60)
    if len(finished.output) >= OUTPUT_BYTES:
        raise OutOfLimits("The compiler's output is larger than 32 MB.")
    if sum(map(finished.output.count, (b",", b"[", b"{"))) > MOST_OUTPUT_VALUES:
        raise OutOfLimits(f"The compiler's output has more than {MOST_OUTPUT_VALUES:,} values.")
    try:
        output = orjson.loads(finished.output)
    except ValueError:
        output = None
    if finished.status != 0 or not isinstance(output, dict):
        raise OutOfLimits("The compiler crashed: it exceeded a limit on memory or nesting.")
    messages = [str(error.get("message")) for error in output.get("errors") or ()]
    if any("bad_alloc" in text or text.startswith("Unknown exception") for text in messages):
        raise OutOfLimits(f"The compiler needs more than {MEMORY_KIB // 1024} MB for this source.")
    return output
