"""`python -m journey.vendor [vega=6.4.0 …]`: the scripts that draw the board, taken anew from the npm registry.

Each goes into `slipway/operating/board/vendor/` as it was published, less the line that names its source map, with all
licences of what is in it. `vendor.json` there says of each where it is from, the digest of its package, and its own, by
which the page lets it run. npm holds what it fetches to the registry's digests; nothing that a package brings is run.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.files import write_atomically
from slipway.base.standard_output import exit_after

FOLDER = Path(__file__).resolve().parents[1] / "slipway" / "operating" / "board" / "vendor"
FILES = {
    "vega": "build/vega.min.js",
    "vega-lite": "build/vega-lite.min.js",
    "vega-embed": "build/vega-embed.min.js",
}
"""The scripts, in the order in which the page needs them."""
LICENCES = "LICENSES.txt"


def main(arguments: list[str]) -> int:
    try:
        wanted = _wanted(arguments)
        with tempfile.TemporaryDirectory() as folder:
            _install(wanted, Path(folder))
            write(Path(folder) / "node_modules")
    except SlipwayError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    return 0


def write(modules: Path) -> None:
    """Write the scripts, their licences and `vendor.json` from what npm installed."""
    described = []
    locked = json.loads((modules / ".package-lock.json").read_text("utf-8"))["packages"]
    for name, file in FILES.items():
        package = json.loads((modules / name / "package.json").read_text("utf-8"))
        text = _without_map((modules / name / file).read_text("utf-8"))
        target = f"{name}.min.js"
        write_atomically(FOLDER / target, text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        described.append(
            {
                "name": name,
                "version": package["version"],
                "licence": package["license"],
                "source": f"{name}@{package['version']}/{file}",
                "integrity": locked[f"node_modules/{name}"]["integrity"],
                "file": target,
                "sha256": digest,
            }
        )
    write_atomically(FOLDER / "vendor.json", f"{json.dumps(described, indent=2)}\n")
    write_atomically(FOLDER / LICENCES, _licences(modules))


def _wanted(arguments: list[str]) -> Mapping[str, str]:
    """Return the version of each package: as asked for, else the newest."""
    asked = dict(one.partition("=")[::2] for one in arguments)
    if unknown := asked.keys() - FILES.keys():
        raise ConfigError(f"nothing of {', '.join(sorted(unknown))} is in the page", fix=f"one of {', '.join(FILES)}")
    return {name: asked.get(name, "latest") for name in FILES}


def _install(wanted: Mapping[str, str], folder: Path) -> None:
    packages = [f"{name}@{version}" for name, version in wanted.items()]
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
    try:
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise ConfigError("there is no npm", fix="install Node.js, which has it") from error
    except subprocess.CalledProcessError as error:
        raise SlipwayError(
            f"npm could not fetch {', '.join(packages)}", why="its own words are above", fix="try again"
        ) from error


def _without_map(text: str) -> str:
    """Leave out the source map's name: a browser's tools would look for that file."""
    lines = [line for line in text.splitlines() if not line.startswith("//# sourceMappingURL=")]
    return "\n".join(lines) + "\n"


def _licences(modules: Path) -> str:
    """Return the licences of all installed packages, each text once: a script contains the packages that it was built
    from."""
    found: dict[str, list[str]] = {}
    for file in sorted(modules.rglob("package.json")):
        texts = sorted(one for one in file.parent.iterdir() if one.name.lower().startswith(("license", "licence")))
        about = json.loads(file.read_text("utf-8"))
        if texts and "version" in about and file.parent.parent.name in ("node_modules", *_scopes(modules)):
            text = texts[0].read_text("utf-8").strip()
            found.setdefault(text, []).append(f"{about['name']} {about['version']}")
    return "\n\n\n".join(f"{', '.join(sorted(names))}\n\n{text}" for text, names in found.items()) + "\n"


def _scopes(modules: Path) -> list[str]:
    return [one.name for one in modules.glob("@*")]


if __name__ == "__main__":
    exit_after(lambda: main(sys.argv[1:]))
