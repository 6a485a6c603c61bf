"""The installed distribution: its version, its commit, and the source to install it from once more.

On the package index `slipway` is somebody else's, so no message tells anybody to install that name. Imports here are
late: every command imports this, and hardly any needs them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import Distribution

NAME = "slipway-vertex"
LOCAL_CLOUD = "vertex-local"
"""The local cloud's distribution, which is released with this one, and its folder in the repository."""
PACKAGE = Path(__file__).parents[1]


def version() -> str:
    """Return "0.1.0", or "unknown" for a copy of the package alone."""
    if in_checkout():
        return str(_project()["version"])
    installed = _distribution()
    return installed.version if installed else "unknown"


def commit() -> str:
    """Return the commit that this was built from, empty for a checkout and where it is not known."""
    baked = (PACKAGE / "commit.txt").read_text(encoding="utf-8").strip()  # `git archive` writes it: .gitattributes.
    return str(direct_url().get("vcs_info", {}).get("commit_id", "")) or ("" if baked.startswith("$") else baked)


def in_checkout() -> bool:
    """Tell whether this runs in a checkout of slipway's own repository."""
    return _project().get("name") == NAME


def install_extra(extra: str) -> str:
    """Return the command that installs an extra of this same slipway."""
    if in_checkout():
        return "make setup, then .venv/bin/slipway"  # It installs every extra.
    return _install(requirement(direct_url(), extra))


def source(extra: str = "") -> str:
    """Return the source that this runs from, as a line of requirements.txt."""
    if in_checkout():
        return requirement({"url": PACKAGE.parent.as_uri(), "dir_info": {}}, extra)
    origin = direct_url()
    return requirement(origin, extra) + ("" if origin else f"=={version()}")


def updating() -> str:
    """Return how to get a newer slipway: a command where its source stays the same, else the source."""
    if in_checkout():
        return "update slipway: git pull in its checkout, then make setup"
    origin = direct_url()
    vcs = origin.get("vcs_info", {})
    requested = vcs.get("requested_revision", "")
    source = requirement({**origin, "vcs_info": {**vcs, "commit_id": requested}} if vcs else origin)
    # Only an index, and a repository without a requested revision, have the newer one at the same address.
    same_address = not origin or (vcs and not requested)
    if not same_address:
        return f"update Slipway from where it came: {source}"
    return f"update slipway: {_install(source, newer=True)}"


def local_cloud(origin: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the source of the local cloud that belongs to slipway from `origin`; empty for a package of an index."""
    from urllib.parse import urlsplit

    url = PACKAGE.parent.as_uri() if in_checkout() else str(origin.get("url", ""))
    if in_checkout() or "dir_info" in origin:
        return {"url": f"{url}/{LOCAL_CLOUD}", "dir_info": {}}
    if not url or "vcs_info" in origin:
        within = "/".join(filter(None, (origin.get("subdirectory"), LOCAL_CLOUD)))
        return {**origin, "subdirectory": within} if url else {}
    parts = urlsplit(url)
    folder, slash, file = parts.path.rpartition("/")
    # Both wheels of a release lie in the same folder, and their names differ in the distribution alone.
    wheel = file.replace(NAME.replace("-", "_"), LOCAL_CLOUD.replace("-", "_"))
    return {"url": parts._replace(path=f"{folder}{slash}{wheel}", query="", fragment="").geturl(), "archive_info": {}}


def requirement(origin: Mapping[str, Any], extra: str = "", name: str = NAME) -> str:
    """Return the source as pip takes it, without credentials. `origin`: as `direct_url` returns it."""
    from urllib.parse import unquote, urlsplit

    extras = f"[{extra}]" if extra else ""
    parts = urlsplit(str(origin.get("url", "")))
    if not parts.scheme:
        return f"{name}{extras}"
    if "dir_info" in origin:
        return f"{unquote(parts.path)}{extras}"
    user, at, host = parts.netloc.rpartition("@")
    # In other schemes a user name may be a token.
    who = f"{user.partition(':')[0]}{at}" if parts.scheme == "ssh" else ""
    url = parts._replace(netloc=f"{who}{host}", query="", fragment="").geturl()  # A query may be a signature.
    vcs = origin.get("vcs_info", {})
    prefix = f"{vcs['vcs']}+" if vcs else ""
    revision = f"@{vcs['commit_id']}" if vcs.get("commit_id") else ""
    marks = {"subdirectory": origin.get("subdirectory"), "sha256": sha256(origin)}
    fragment = "&".join(f"{key}={value}" for key, value in marks.items() if value)
    return f"{name}{extras} @ {prefix}{url}{revision}" + (f"#{fragment}" if fragment else "")


def sha256(origin: Mapping[str, Any]) -> str:
    """Return the archive's hash as pip or uv writes it, behind its address; empty where none is known."""
    from urllib.parse import parse_qs, urlsplit

    behind = parse_qs(urlsplit(str(origin.get("url", ""))).fragment)
    return str(origin.get("archive_info", {}).get("hashes", {}).get("sha256") or behind.get("sha256", [""])[0])


def remove_namesake() -> str:
    """Return the command that removes the index's `slipway` from this environment; empty where it is not there.

    Both have files of the same names, so removing one takes the other's along: both are removed, and this one is
    installed again.
    """
    try:
        names = os.listdir(PACKAGE.parent)  # noqa: PTH208 - at every start, where pathlib would take twice as long
    except OSError:
        return ""
    if not any(name.startswith("slipway-") and name.endswith((".dist-info", ".egg-info")) for name in names):
        return ""
    return f"{_pip('uninstall')} slipway {NAME}, then {_pip('install')} {shlex.quote(requirement(direct_url()))}"


def _project() -> Mapping[str, Any]:
    import tomllib

    try:
        return dict(tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"])
    except (OSError, ValueError, KeyError):
        return {}  # Installed, not a checkout: a pyproject.toml beside the package would be another project's.


def _install(source: str, *, newer: bool = False) -> str:
    environment = Path(sys.prefix)
    quoted = shlex.quote(source)
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx install --force {quoted}"
    if (environment / "uv-receipt.toml").is_file():
        return f"uv tool install {'--upgrade ' if newer else ''}{quoted}"
    if _by_uv() and environment.parent.name.startswith("archive-"):  # In uv's cache, made for one command by uvx.
        return f"uvx {'--refresh ' if newer else ''}--from {quoted} slipway"
    return f"{_pip('install')} {'--upgrade ' if newer else ''}{quoted}"


def _pip(verb: str) -> str:
    """Return pip's command. With uv an environment may have no pip, and the one in use must be named."""
    return f"uv pip {verb} --python {shlex.quote(sys.prefix)}" if _by_uv() else f"pip {verb}"


def _by_uv() -> bool:
    installed = _distribution()
    return installed is not None and (installed.read_text("INSTALLER") or "").strip() == "uv"


def direct_url() -> Mapping[str, Any]:
    """Return the `direct_url.json` of the installation (PEP 610), empty for a package of an index."""
    import json

    installed = _distribution()
    return dict(json.loads((installed and installed.read_text("direct_url.json")) or "{}"))


def _distribution() -> Distribution | None:
    """Return the metadata beside the package, and no other environment's."""
    from importlib.metadata import distributions

    return next(iter(distributions(name=NAME, path=[str(PACKAGE.parent)])), None)
