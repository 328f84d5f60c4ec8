"""Executes another program with resource limits and no network; sandbox.py runs this file.

Arguments: optionally KEEP_NETWORK, resource limits such as RLIMIT_CPU=20, `--`, the program and its
arguments. Exits with CANNOT_CONFINE if this kernel or processor does not support the limits, and
writes why, with 127 if there is no such program.

A system call filter (seccomp) needs no privileges, so it also works where a unit or a container
forbids namespaces; unlike a network namespace it also denies Unix sockets. A Landlock domain denies
what /proc shows of the memory and environment of processes outside it, also to root: landlock(7).
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from contextlib import suppress

KEEP_NETWORK = "--keep-network"
CANNOT_CONFINE = 125
NICENESS = 10

# From linux/prctl.h, linux/seccomp.h, linux/filter.h and linux/audit.h.
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 38, 22
_FILTER_MODE = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_PR_SET_DUMPABLE = 4
# The numbers are the same on all processors. A domain has to deny something: this one denies making
# block devices.
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_LANDLOCK_VERSION, _MAKE_BLOCK_DEVICE = 1, 1 << 11
_CAPABILITY_VERSION = 0x20080522  # from linux/capability.h
_X32 = 0x40000000  # added to the numbers of x86-64's calls in its x32 ABI
# Refused: socket; io_uring_setup, which can open sockets; access to other processes of this user:
# ptrace, process_vm_readv, process_vm_writev, pidfd_getfd; and what a process would need to outlive
# its group, which is killed at the end: setsid, setpgid.
_REFUSED = {
    "x86_64": (0xC000003E, (41, 425, 101, 310, 311, 438, 112, 109)),
    "aarch64": (0xC00000B7, (198, 425, 117, 270, 271, 438, 157, 154)),
}


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    options, command = arguments[:split], arguments[split + 1 :]
    try:
        for option in options:
            if option != KEEP_NETWORK:
                _limit_resource(*option.split("="))
        os.nice(NICENESS)
        with suppress(OSError):  # without memory, the kernel then kills this before the database
            os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"1000")
        _hide_other_processes()
        _drop_capabilities()
        if KEEP_NETWORK not in options:
            _refuse_calls()
    except (OSError, ValueError, KeyError, AttributeError) as error:
        print(repr(error))  # noqa: T201
        return CANNOT_CONFINE
    try:
        os.execvp(command[0], command)
    except OSError:
        return 127


def _limit_resource(name: str, value: str) -> None:
    """Limit a resource to a value, or to this process's own limit where that is lower. Processor
    time has a second more as its hard limit: at that the kernel would kill the process as it does
    where memory is short, and not by SIGXCPU."""
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    limit, last = int(value), int(value) + (kind == resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        limit, last = min(limit, hard), min(last, hard)
    resource.setrlimit(kind, (limit, last))


def can_hide_processes() -> bool:
    """Return whether this kernel has Landlock."""
    libc = ctypes.CDLL(None)
    return int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION)) > 0


def hide_this_process() -> None:
    """Deny this process's memory and environment to others of its user, but not to root."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _hide_other_processes() -> None:
    """Enter a Landlock domain, from which no process outside can be traced. Raises OSError."""
    if not can_hide_processes():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(_MAKE_BLOCK_DEVICE)
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(handled), 8, 0)
    if (
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
        or ruleset < 0
        or libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0
    ):
        raise OSError(ctypes.get_errno(), "landlock")
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Drop all capabilities: root's would let the program read other processes' environment in
    spite of Landlock. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("@Ii", _CAPABILITY_VERSION, 0)
    if libc.capset(header, bytes(24)) != 0:  # effective, permitted, inheritable, twice 32 bits
        raise OSError(ctypes.get_errno(), "capset")


def _refuse_calls() -> None:
    """Refuse the system calls of _REFUSED. Raises OSError, KeyError or AttributeError where the
    filter is not supported."""
    architecture, refused = _REFUSED[platform.machine()]
    count = len(refused)
    # A jump gives the number of instructions to skip: the last but one allows, the last refuses.
    program = [
        (_LOAD, 0, 0, 4),  # the architecture, then the call's number: offsets in seccomp_data
        (_EQUAL, 0, count + 3, architecture),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, count + 1, 0, _X32),
        *((_EQUAL, count - index, 0, call) for index, call in enumerate(refused)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    instructions = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    code = ctypes.create_string_buffer(instructions)
    header = struct.pack("@HP", len(program), ctypes.addressof(code))  # struct sock_fprog
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong)
    for option, value, pointer in (
        (_PR_SET_PDEATHSIG, signal.SIGKILL, None),  # killed when the service ends
        (_PR_SET_NO_NEW_PRIVS, 1, None),
        (_PR_SET_SECCOMP, _FILTER_MODE, header),
    ):
        if prctl(option, value, pointer, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
