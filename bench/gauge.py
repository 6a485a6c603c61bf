"""Runs one command and reports its time and peak memory. Started alone, as a script, on purpose.

The kernel counts what a process held *before* it became the command, so a starter with many modules loaded would put a
floor under every figure. This file imports next to nothing (some 10 MB) and is the starter.

Usage: python -S -E gauge.py REPORT STDOUT STDERR COMMAND…   (REPORT gets `seconds peak_kb exit_code`)
"""

import os
import sys
import time

if __name__ == "__main__":
    report, stdout, stderr, *command = sys.argv[1:]
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, stdout, write, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, stderr, write, 0o600),
    ]
    began = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=files)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - began
    peak_kb = usage.ru_maxrss // 1024 if sys.platform == "darwin" else usage.ru_maxrss
    with open(report, "w") as out:  # noqa: PTH123 (pathlib would add the very weight this file avoids)
        out.write(f"{seconds} {peak_kb} {os.waitstatus_to_exitcode(status)}")
