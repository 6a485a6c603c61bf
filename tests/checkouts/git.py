"""git, as somebody whom its commits name."""

import subprocess
from pathlib import Path

_ADA = ("-c", "user.name=ada", "-c", "user.email=ada@company.example")


def git(folder: Path, *words: str) -> str:
    """Run it successfully in a folder; return its output."""
    done = subprocess.run(["git", *_ADA, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
