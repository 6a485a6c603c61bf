"""An environment with the wheel, and nothing of this checkout."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.checkouts.shell import Done

UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Laptop:
    """An environment with the package and nothing else, and a person's folder."""

    programs: Path
    folder: Path
    environ: dict[str, str]

    def run(self, program: str, *arguments: str) -> Done:
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def slipway(self, *arguments: str) -> Done:
        return self.run("slipway", *arguments)

    def well(self, *arguments: str) -> Done:
        done = self.slipway(*arguments)
        assert done.code == 0, done.said
        return done

    def python(self, program: str) -> str:
        done = self.run("python", "-c", program)
        assert done.code == 0, done.said
        return done.out.strip()


def here(folder: Path) -> Laptop:
    """Return a person's folder with this checkout's own environment."""
    programs = Path(sys.executable).parent
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return Laptop(programs, folder, {**environ, "PATH": f"{programs}{os.pathsep}{environ['PATH']}", "NO_COLOR": "1"})


def uv(*arguments: str | Path) -> None:
    subprocess.run([UV, *arguments, "--quiet"], check=True)
