"""`make release VERSION=…`: all that is passed on of one commit, in `dist/VERSION`.

Sources and wheels of Slipway and of its local cloud, notes from the changelog, a bill of materials and the hashes of
all. Built from the commit and nothing beside it, so that whoever repeats it with the same Python gets the same bytes.
Nothing is published: what to type for that is said.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from journey import changelog
from local.pull_request import Repository
from slipway.base.errors import ConfigError, Interrupted, SlipwayError
from slipway.base.standard_output import exit_after

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_UV = Path(sys.executable).with_name("uv")
_BILL = "sbom.cdx.json"


def check(repository: Repository, version: str) -> str:
    """Return the notes of a release of HEAD. Raises ConfigError for a commit or version that can't be released."""
    if not _VERSION.fullmatch(version):
        raise ConfigError(f"VERSION {version!r} is not a version", fix="make release VERSION=1.2.3")
    if changed := repository.git("status", "--porcelain", "--untracked-files=normal").splitlines():
        names = ", ".join(line.split(maxsplit=1)[-1] for line in changed[:5])
        raise ConfigError(
            f"the checkout has changes that are in no commit: {names}",
            why="a release is one commit, which anybody can build again",
            fix="commit them, or git stash --include-untracked",
        )
    for file in ("pyproject.toml", "vertex-local/pyproject.toml"):
        declared = tomllib.loads(repository.git("show", f"HEAD:{file}"))["project"]["version"]
        if declared != version:
            raise ConfigError(
                f"{file} has version {declared}, not {version}", fix=f'set version = "{version}" there, and commit'
            )
    if repository.git("tag", "--list", f"v{version}") and f"v{version}" not in repository.git(
        "tag", "--points-at", "HEAD"
    ):
        raise ConfigError(
            f"v{version} is released, from another commit",
            why="a version that somebody has never becomes another",
            fix=f"choose the next version, or git checkout v{version} to build that again",
        )
    return changelog.notes(changelog.read(repository.git("show", f"HEAD:{changelog.FILE}")), version)


def release(repository: Repository, version: str) -> Path:
    """Build all and return the folder, which is either whole or not there. An existing one is replaced."""
    notes = check(repository, version)
    head = repository.git("rev-parse", "HEAD")
    parent = repository.root / "dist"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".") as name:
        work = Path(name)
        source, tools, made = work / "source", work / "tools", work / version
        _export(repository, source)
        made.mkdir()
        environment = {
            **repository.environment,
            "SOURCE_DATE_EPOCH": repository.git("show", "-s", "--format=%ct", "HEAD"),
        }
        _run(environment, _UV, "venv", "--python", sys.executable, tools)
        python = tools / "bin" / "python"
        pinned = source / "requirements-release.txt"
        _run(environment, _UV, "pip", "install", "--python", python, "--require-hashes", "-r", pinned)
        for project in (source, source / "vertex-local"):
            _run(environment, _UV, "build", "--no-build-isolation", "--python", python, "--out-dir", made, project)
        (made / ".gitignore").unlink(missing_ok=True)
        for archive in made.glob("*.tar.gz"):
            archive.write_bytes(_reproducible(archive.read_bytes(), int(environment["SOURCE_DATE_EPOCH"])))
        bill = ("--output-reproducible", "--pyproject", source / "pyproject.toml", "-o", made / _BILL)
        _run(environment, python, "-m", "cyclonedx_py", "requirements", *bill, source / "requirements.txt")
        _add_scripts(made / _BILL, source / "slipway" / "operating" / "board" / "vendor" / "vendor.json")
        (made / "notes.md").write_text(f"{notes}\n\nBuilt from {head}.\n", encoding="utf-8")
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(made.iterdir())]
        (made / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
        target = parent / version
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    return target


def _export(repository: Repository, folder: Path) -> None:
    """Write the files of HEAD, and its name in `slipway/commit.txt`, with permissions that no umask changes."""
    archive = folder.with_suffix(".tar")
    repository.git("-c", "tar.umask=0022", "archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def _reproducible(archive: bytes, when: int) -> bytes:
    """Return a source archive without what setuptools takes from the machine: owners, times, order."""
    plain = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as packed,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as written,
    ):
        for member in sorted(packed.getmembers(), key=lambda member: member.name):
            fixed = member.replace(mtime=when, uid=0, gid=0, uname="", gname="", deep=False)
            fixed.pax_headers = {}
            written.addfile(fixed, packed.extractfile(member) if member.isfile() else None)
    return gzip.compress(plain.getvalue(), mtime=when)


def _add_scripts(bill: Path, described: Path) -> None:
    """Add the board's scripts, which no requirement names, each with the digest of its file in the wheel."""
    written = json.loads(bill.read_text(encoding="utf-8"))
    for one in json.loads(described.read_text(encoding="utf-8")):
        name = f"pkg:npm/{one['name']}@{one['version']}"
        written["components"].append(
            {
                "bom-ref": name,
                "description": f"slipway/operating/board/vendor/{one['file']}",
                "hashes": [{"alg": "SHA-256", "content": one["sha256"]}],
                "licenses": [{"license": {"id": one["licence"]}}],
                "name": one["name"],
                "purl": name,
                "type": "library",
                "version": one["version"],
            }
        )
        written["dependencies"].append({"ref": name})
    bill.write_text(json.dumps(written, indent=2), encoding="utf-8")


def _run(environment: Mapping[str, str], *command: str | Path) -> None:
    done = subprocess.run(
        list(map(str, command)), env=environment, umask=0o022, capture_output=True, text=True, check=False
    )
    if done.returncode:
        what, why = f"{Path(command[0]).name} {command[1]} failed", (done.stderr or done.stdout).strip()
        raise SlipwayError(what, why=why, fix="correct what it names, and try again")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m journey.release", description=__doc__.partition("\n")[0])
    parser.add_argument("version", help="as pyproject.toml and the changelog have it")
    version = parser.parse_args(arguments).version
    try:
        made = release(Repository(Path.cwd(), os.environ), version)
    except SlipwayError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; nothing was made", file=sys.stderr)
        return Interrupted.exit_code
    for path in sorted(made.iterdir()):
        print(f"{path.relative_to(Path.cwd())}  {path.stat().st_size:,} bytes")
    print(f"to publish: git tag v{version} && git push origin v{version}, and a release of that tag with these files")
    return 0


if __name__ == "__main__":
    exit_after(main)
