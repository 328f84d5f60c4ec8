"""anvil as a child process of `scan run`."""

import logging
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scan.commands.run import run_chain
from scan.errors import SettingError
from scan.settings import Settings

log = logging.getLogger(__name__)

FOUNDRY = "~/.foundry/bin"  # where foundryup installs it
START_S = 60.0  # a fork reads from another node before it listens
STOP_S = 10.0  # in which it writes its state
LOOK_EVERY_S = 0.02
MAX_OUTPUT_BYTES = 1024 * 1024  # that are kept; anvil prints a line a request
OPTION = "--anvil"
OWN_STATE = {"--state", "--load-state", "--init", "--fork-url", "--rpc-url", "-f"}
_LISTENING = re.compile(rb"Listening on (\S+)")
# It ends with this process, however that ends.
_ENDS_WITH_PARENT = (path, "--pdeathsig", "TERM") if (path := shutil.which("setpriv")) else ()


def run(settings: Settings, options: str) -> int:
    """Run everything for a chain of anvil, started with these options, and return the exit code.
    Raises SettingError where anvil cannot be started."""
    if settings.rpc_urls:
        wrong = "starts a node of its own: leave RPC_URL out, or --anvil"
        raise SettingError("RPC_URL", ", ".join(settings.rpc_urls), wrong)
    try:
        arguments = shlex.split(options)
    except ValueError as error:
        raise SettingError(OPTION, options, f"must be options of anvil: {error}") from None
    with _started(settings, arguments) as url:
        node = f"{url} (anvil; its accounts and keys: {_output(settings)})"
        return run_chain(replace(settings, rpc_urls=(url,)), node=node)


def _output(settings: Settings) -> Path:
    return settings.data_dir / "anvil.log"


@contextmanager
def _started(settings: Settings, arguments: Sequence[str]) -> Iterator[str]:
    """Start anvil, and yield its URL once it listens; stop it at the end. Its chain goes on with
    the next start, unless the arguments say where its state comes from."""
    program = shutil.which("anvil") or shutil.which("anvil", path=str(Path(FOUNDRY).expanduser()))
    if program is None:
        wrong = "anvil is neither in the PATH nor in ~/.foundry/bin: foundryup installs it"
        raise SettingError(OPTION, " ".join(arguments), wrong)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    state: tuple[str, ...] = ("--state", str(settings.data_dir / "anvil-state.json"))
    if not OWN_STATE.isdisjoint(argument.partition("=")[0] for argument in arguments):
        state = ()
    process = subprocess.Popen(
        [*_ENDS_WITH_PARENT, program, *arguments, *state],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    printed = _Printed(process, _output(settings))
    try:
        yield f"http://{printed.address()}"
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            log.warning("anvil did not stop in time; killing it")
            process.kill()
            process.wait()


class _Printed:
    """What anvil prints: the first of it in a file that its owner alone can read, the rest read by
    a thread, as a full pipe would stop it."""

    def __init__(self, process: "subprocess.Popen[bytes]", path: Path) -> None:
        self._process = process
        self._path = path
        self._bytes = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._path.unlink(missing_ok=True)
        self._path.touch(mode=0o600)
        with self._path.open("wb", buffering=0) as file:
            for line in self._process.stdout:
                if len(self._bytes) < MAX_OUTPUT_BYTES:
                    self._bytes += line
                    file.write(line)

    def address(self) -> str:
        """Return host and port as anvil prints them. Raises SettingError where it ends before."""
        deadline = time.monotonic() + START_S
        while self._process.poll() is None and time.monotonic() < deadline:
            if match := _LISTENING.search(self._bytes):
                return match[1].decode()
            time.sleep(LOOK_EVERY_S)
        if self._process.poll() is not None:
            self._reader.join(START_S)  # what it printed last may not have been read yet
        lines = self._bytes.decode(errors="replace").strip().splitlines()
        reason = next((line for line in lines if "rror" in line), "see its output")
        raise SettingError(OPTION, "", f"anvil did not start: {reason[:200]} ({self._path})")
