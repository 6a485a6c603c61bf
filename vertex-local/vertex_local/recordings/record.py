"""`python -m vertex_local.recordings.record FILE [--every 60] -- COMMAND …`: record this machine's GPUs while a
command runs, in the form that a scenario of the local cloud plays."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from ..supply import gpu_recording

FIELDS = ("timestamp", "index", "name", "utilization.gpu", "utilization.memory", "memory.used", "memory.total")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--every", type=int, default=60, help="seconds between two samples")
    parser.add_argument("command", nargs="+")
    known = parser.parse_args(argv)
    query = ("nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv", f"--loop={known.every}")
    with known.file.open("w", encoding="utf-8") as stream:
        stream.write(f"# Recorded on {datetime.now(UTC):%Y-%m-%d} of: {shlex.join(known.command)}\n")
        stream.flush()
        with subprocess.Popen(query, stdout=stream) as recorder:
            code = subprocess.run(known.command, check=False).returncode
            recorder.terminate()
    whole, newline, _ = known.file.read_text("utf-8").rpartition("\n")  # The last line may be torn.
    known.file.write_text(whole + newline, "utf-8")
    found = gpu_recording.parse(whole)
    print(
        f"{known.file}: {len(found.samples)} samples, {found.samples[-1].after_s:.0f} s; the command ended with {code}"
    )
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
