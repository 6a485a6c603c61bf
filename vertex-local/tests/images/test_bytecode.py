"""An image has the bytecode of what jobs import, before the first job."""

import subprocess
import sys
from pathlib import Path

from vertex_local.images import bytecode


def test_modules_are_compiled_except_tests_and_installers(tmp_path: Path) -> None:
    names = ("numpy/core.py", "numpy/tests/test_core.py", "numpy/testing/tools.py", "pip/main.py", "setuptools/dist.py")
    for name in (*names, "numpy/with_errors.py"):
        file = tmp_path / "site-packages" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("(" if name.endswith("errors.py") else "x = 1")
    words = [sys.executable, "-I", bytecode.__file__, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    compiled = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert compiled == {"core", "tools"}
