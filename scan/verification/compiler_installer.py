"""The compilers of verifications: a missing one is downloaded when a request first names it."""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillFetching

from scan.errors import ScanError, Unavailable
from scan.settings import Settings
from scan.verification.compiler_install import NotFetched, NotPublished, install, known_releases
from scan.verification.compiler_releases import SolcVersion, dotted, no_such_release
from scan.verification.installed_compilers import InstalledCompilers
from scan.verification.sandbox import Program

log = logging.getLogger(__name__)

WAIT_IN_REQUEST_S = 8.0
REMEMBER_FAILURE_S = 300.0
MOST_QUEUED = 4


class CompilerInstaller(InstalledCompilers):
    """Downloads missing compilers in the background, one at a time."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._fetching: dict[SolcVersion, Future[str]] = {}
        self._failed: dict[SolcVersion, tuple[float, NotFetched]] = {}

    def compiler(self, version: SolcVersion, wait_s: float = WAIT_IN_REQUEST_S) -> Program:
        """Return the compiler, downloaded if it is missing. Raises Unavailable where the download
        takes longer than `wait_s` or fails, InvalidParameter where there is no such release."""
        installed = self.find(version)
        if installed:
            return installed
        self._raise_remembered(version)
        try:
            self._start(version).result(wait_s)
        except StillFetching:
            raise Unavailable(
                f"The compiler {dotted(version)} is being downloaded; try again shortly.",
                retry_after_s=10,
            ) from None
        except (NotFetched, OSError):
            self._raise_remembered(version)
        installed = self.find(version)
        if not installed:
            raise _unfetchable(version)
        return installed

    def releases(self) -> dict[SolcVersion, bool]:
        """Return the releases that a request may name, newest first, with whether each is
        installed."""
        installed = self.placed()
        return {
            version: version in installed
            for version in sorted({*known_releases(), *installed}, reverse=True)
        }

    def _start(self, version: SolcVersion) -> "Future[str]":
        with self._lock:
            if version not in self._fetching:
                if len(self._fetching) >= MOST_QUEUED:
                    raise Unavailable("Other compilers are being downloaded.", retry_after_s=30)
                self._pool = self._pool or ThreadPoolExecutor(1, "solc-install")
                self._fetching[version] = self._pool.submit(self._fetch, version)
            return self._fetching[version]

    def _fetch(self, version: SolcVersion) -> str:
        try:
            if self.find(version):  # a download ended just before this one began
                return "an earlier download"
            source = install(version, self)
            log.info("installed solc %s from %s", dotted(version), source)
            return source
        except (NotFetched, OSError) as error:
            log.warning("cannot download solc %s: %s", dotted(version), error)
            reason = error if isinstance(error, NotFetched) else NotFetched(str(error))
            self._failed[version] = (time.monotonic(), reason)
            raise
        finally:
            with self._lock:
                self._fetching.pop(version, None)

    def _raise_remembered(self, version: SolcVersion) -> None:
        when, error = self._failed.get(version, (0.0, None))
        if error is None or time.monotonic() - when > REMEMBER_FAILURE_S:
            return
        raise no_such_release(version) if isinstance(error, NotPublished) else _unfetchable(version)


def _unfetchable(version: SolcVersion) -> ScanError:
    return Unavailable(
        f"The compiler {dotted(version)} is not installed on this server and cannot be downloaded"
        f" now; the operator can add it with: scan solc install {dotted(version)}",
        retry_after_s=300,
    )
