"""Files that are whole or absent, whenever the process or the machine stops, and folders in which
one process works at a time.
"""

import errno
import fcntl
import glob
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scan.errors import ScanError

log = logging.getLogger(__name__)

UNFINISHED = ".unfinished"
PRIVATE = 0o600  # the mode of a file that only its owner can read


@contextmanager
def whole_file(path: Path, mode: int = 0o666, *, follows_links: bool = True) -> Iterator[BinaryIO]:
    """Open a new file under a hidden name of its own; it takes the place of `path`, or of what that
    is a link to, once it is whole on disk, at the end of the `with` block, unless that raises.

    Where several processes write it at once, each writes a file, and the last one stays. What
    killed ones have left is removed by the next. Raises OSError, also where `path` is a device, a
    pipe or a folder.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if follows_links:
        path = Path(os.path.realpath(path))
    for abandoned in path.parent.glob(f".{glob.escape(path.name)}.*{UNFINISHED}"):
        # It may be another user's link or pipe, which is neither followed nor waited for.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with suppress(OSError), os.fdopen(os.open(abandoned, flags), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            abandoned.unlink()
    unfinished = path.with_name(f".{path.name}.{os.urandom(4).hex()}{UNFINISHED}")
    try:
        with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            with suppress(OSError):  # as where it is on NFS: then nothing that is left is removed
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file
            file.flush()
            os.fsync(file.fileno())
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_private(path: Path, content: str | bytes, owner: os.stat_result | None = None) -> None:
    """Write a file, whole or not at all, that only its owner can read: `owner`, or this user. A
    link of another owner could lead to a file of this user's, so it is replaced."""
    with whole_file(path, PRIVATE, follows_links=owner is None) as file:
        if owner is not None:
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def file_errors(path: Path | str) -> Iterator[None]:
    """Raise ScanError with the path in place of an OSError of the `with` block, and of text that is
    not in UTF-8."""
    try:
        yield
    except UnicodeDecodeError:
        raise ScanError(f"{path}: not a text file in UTF-8") from None
    except OSError as error:
        raise ScanError(f"{path}: {error.strerror}") from None


@contextmanager
def held_folder(folder: Path, *, waits: bool = False) -> Iterator[None]:
    """Make a folder, and work in it during the `with` block while no other process does. Raises
    ScanError where one does, unless this `waits` for it, and OSError. A file system without such
    locks, as NFS may be, has none."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            raise ScanError(f"Another process works in {folder}.") from None
        except OSError as error:
            log.debug("%s is not locked: %s", folder, error.strerror)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """Make a folder among the system's temporary ones, which is removed at the end of the `with`
    block, or if the process is killed before, by the next one that makes such a folder. `prefix`
    begins the name of no others."""
    for abandoned in Path(tempfile.gettempdir()).glob(f"{glob.escape(prefix)}*"):
        with suppress(OSError), _locked(abandoned, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(abandoned)
    with ExitStack() as stack:
        while True:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix))
            try:
                stack.enter_context(_locked(Path(folder), fcntl.LOCK_EX))
            except OSError as error:
                log.debug("%s is not locked: %s", folder, error.strerror)
            # Another process may have taken it for one that is left, and removed it.
            if Path(folder).exists():
                break
        yield folder


@contextmanager
def _locked(folder: Path, operation: int) -> Iterator[None]:
    """Lock a folder of this user's. Raises OSError, also for another's, a link, or what is none."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError
        fcntl.flock(descriptor, operation)
        yield
    finally:
        os.close(descriptor)
