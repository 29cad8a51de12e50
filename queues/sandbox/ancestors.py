"""Keep a script from signalling the processes that look after it.

A worker that its own script kills could not record that run as failed. A filter of the kernel
(seccomp) refuses such signals, in the script and in whatever it starts, so the script fails by its
own error. This guards against accidents; a run that ends its worker by other means is lost.
"""

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Iterable

PR_SET_NO_NEW_PRIVS = 38
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4  # no slower code for the sake of a guard against accidents
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
LOAD, IS_EQUAL, RETURN = 0x20, 0x15, 0x06  # of the kernel's packet filters
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # where they stand in struct seccomp_data
EVERYBODY = -1
# kill, those that name a process first (tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo,
# prlimit64, pidfd_open), seccomp; by architecture as the kernel names it
CALLS = {
    "x86_64": (0xC000003E, 62, (200, 234, 129, 297, 302, 434), 317),
    "aarch64": (0xC00000B7, 129, (130, 131, 138, 240, 261, 434), 277),
}
Step = tuple[int, int, int, int]  # code, how many to skip if true, if false, value


def protect_ancestors(owner: int) -> bool:
    """Refuse signals to the parent, the owner and the owner's parent; False where nobody can."""
    if not sys.platform.startswith("linux") or platform.machine() not in CALLS:
        return False
    return _filter(steps(platform.machine(), _targets([os.getppid(), owner, _parent_of(owner)])))


def steps(machine: str, targets: Iterable[int]) -> list[Step]:
    """Return a filter that refuses to signal these; asking whether they live (signal 0) is fine."""
    architecture, kill, others, _ = CALLS[machine]
    checks: list[Step] = [(LOAD, 0, 0, FIRST)]
    known = [target & 0xFFFFFFFF for target in targets]
    for number, target in enumerate(known):
        checks.append((IS_EQUAL, len(known) - number, 0, target))
    checks += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    begin: list[Step] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (IS_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, NUMBER),
        (IS_EQUAL, len(others) + 1, 0, kill),
    ]
    for number, call in enumerate(others):
        begin.append((IS_EQUAL, len(others) + 2 - number, 0, call))
    return [
        *begin,
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, SECOND),
        (IS_EQUAL, len(checks) - 2, 0, 0),
        *checks,
    ]


def _targets(pids: Iterable[int]) -> list[int]:
    """Return the processes and their groups, without our own group, and everybody."""
    living = sorted({pid for pid in pids if pid > 1})
    groups = {os.getpgid(pid) for pid in living} - {os.getpgrp(), 0, 1}
    return [*living, *(-group for group in sorted(groups)), EVERYBODY]


def _parent_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


class _Step(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("if_true", ctypes.c_ubyte),
        ("if_false", ctypes.c_ubyte),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.POINTER(_Step))]


def _filter(program: list[Step]) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    array = (_Step * len(program))(*(_Step(*each) for each in program))
    given = _Program(len(program), array)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call = CALLS[platform.machine()][-1]
    mode, flag = SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW
    return libc.syscall(call, mode, flag, ctypes.byref(given)) == 0
