"""Stand-ins for the programs that a runner has, as far as the workflows' scripts ask for them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.checkouts.kept_server import forking_python

JQ = """
import json, sys
import jq
words = {dash: [word for word in sys.argv[1:] if word.startswith("-") is dash] for dash in (True, False)}
options, (query, *files) = "".join(words[True]), words[False]
text = open(files[0]).read() if files else sys.stdin.read()
found = list(jq.compile(query).input_text(text, slurp="s" in options))
for one in found:
    print(one if "r" in options and isinstance(one, str) else json.dumps(one))
sys.exit("e" in options and found[-1] in (None, False))
"""


def run(
    step: Mapping[str, Any], environ: Mapping[str, str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a step's script as GitHub does: with `shell: bash` a pipe fails with its first program."""
    how = ["--noprofile", "--norc", "-eo", "pipefail"] if step.get("shell") == "bash" else ["-e"]
    command = ["bash", *how, "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)


def put(folder: Path, **programs: str) -> str:
    """Put programs of Python into a folder; return a PATH that begins there, and has a `slipway` that starts fast."""
    folder.mkdir(exist_ok=True)
    for name, code in programs.items():
        (folder / name).write_text(f"#!{sys.executable}\n{code}")
        (folder / name).chmod(0o755)
    folders = (folder, forking_python(), Path(sys.executable).parent)
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])
