"""`vertex-local up|down|status|env|images|cache|scenario|kill|secret`: the local cloud from a person's shell."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import sys
import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import click
import psutil

from .. import settings
from ..cache_folder import root
from ..identities import PROJECT_ID, PROJECTS, ROLES
from ..images import upkeep
from ..program import COMMAND
from ..server import client, daemon, named_project
from ..server.client import CloudError
from ..server.cloud_file import Record, RecordError, state_folder
from ..standard_output import exit_after
from .cache import cache, room

_OF_PROJECT = click.option("--project", metavar="ID", help="A project by its id, which may be a real one's.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """The cloud on this laptop: Google's APIs on loopback, jobs as local processes."""


cli.add_command(cache)


@cli.command()
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="Change a setting, now and from now on.")
@_OF_PROJECT
def up(chosen: tuple[str, ...], project: str | None) -> None:
    """Start the local cloud in the background, unless it runs already, and name a project to it."""
    folder = state_folder()
    try:
        values = dict(pair for text in chosen for pair in settings.pairs(text).items())
        with _in_words():
            started = daemon.start(folder, values)
    except settings.SettingsError as error:
        _fail(f"error: {error}\nwhy: a setting has a name and a type\nfix: see {settings.__file__} for all of them", 2)
    word = "started" if started.fresh else "running"
    if started.note:
        click.echo(started.note, err=True)
    click.echo(f"local cloud {word}: {started.record.url} (process {started.record.pid}, state in {_shown(folder)})")
    for name, value in values.items():
        click.echo(f"setting {name} = {value}, from now on")
    if project:
        with _in_words():
            made = named_project.name(started.record, {"project": project})
        click.echo(f"project {made.id}, number {made.number}: env --as {', '.join(made.principals)}")


@cli.command()
def down() -> None:
    """Stop the local cloud and the jobs it runs. Its state stays."""
    with _in_words():
        ran, jobs = daemon.stop(state_folder())
    ended = f", {jobs} job process{'es' if jobs != 1 else ''} ended" if jobs else ""
    click.echo(("local cloud stopped" if ran else "local cloud is not running") + ended)


@cli.command()
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def status(output: str) -> None:
    """Say where the local cloud is and what it does. Exit code 1 when it is not running."""
    record = _running()
    with _in_words():
        status_document = client.call(record, "GET", "/vertex-local/status")
    since = datetime.fromtimestamp(psutil.Process(record.pid).create_time()).astimezone()
    rows = {
        "url": record.url,
        "pid": record.pid,
        "since": since.isoformat(timespec="seconds"),
        **status_document["summary"],
        "cache": room(upkeep.entries(root(os.environ))),
    }
    if status_document["trouble"]:
        rows["trouble"] = status_document["trouble"]
    if output == "json":
        click.echo(json.dumps(rows))
        return
    width = max(map(len, rows)) + 2
    for name, value in rows.items():
        click.echo(f"{name:<{width}}{value}")


@cli.command()
@click.option(
    "--as", "who", default="deployer", show_default=True, metavar="|".join((*ROLES, "EMAIL")), help="Who the shell is."
)
@_OF_PROJECT
def env(who: str, project: str | None) -> None:
    """Print what a shell needs, for `eval "$(…)"`: addresses, a token and the file of a key."""
    from .. import environment

    record = _running()
    with _in_words():
        named = named_project.find(record, project or PROJECT_ID)
    if who not in named.principals:
        known = ", ".join(named.principals)
        _fail(f"error: {who} is nobody in project {named.id}\nwhy: it has {known}\nfix: name one of them with --as", 2)
    with _in_words():
        variables = environment.of_shell(record, state_folder(), named, who)
    for name, value in variables.items():
        click.echo(f"export {name}={shlex.quote(value)}")


@cli.group()
def images() -> None:
    """The cached images of a cluster's machines."""


@images.command()
@click.argument("cluster")
def clear(cluster: str) -> None:
    """Empty the image cache of CLUSTER (its id), so that its next job starts cold."""
    from .. import images as cached

    folder = state_folder()
    with _in_words():
        places = [
            path for path in (folder, *sorted(folder.glob(f"{PROJECTS}/*"))) if (path / "pools" / cluster).is_dir()
        ]
        cleared = [cached.clear(place, cluster) for place in places or [folder]]
    for line in cleared:
        click.echo(line)


@cli.command()
@click.argument("what", metavar="FILE|clear|show")
def scenario(what: str) -> None:
    """Put a scenario in force: how many machines there are, which Spot jobs lose theirs, and what GPUs show."""
    record = _running()
    with _in_words():
        if what == "show":
            loaded = client.call(record, "GET", "/vertex-local/scenario")
        elif what == "clear":
            loaded = client.call(record, "DELETE", "/vertex-local/scenario")
        else:
            loaded = client.call(record, "POST", "/vertex-local/scenario", _scenario(Path(what)))
    if what == "show" and loaded["scenario"]:
        click.echo(json.dumps(loaded, indent=2))
    elif loaded["scenario"]:
        click.echo(f"scenario in force since {loaded['since']}")
    else:
        click.echo("no scenario: machines are unlimited, and nobody takes them away")


@cli.command()
@click.argument("job")
@click.argument("replica")
def kill(job: str, replica: str) -> None:
    """End REPLICA (as in workerpool1-0) of JOB (id, name or display name) as when its machine dies."""
    with _in_words():
        client.call(_running(), "POST", "/vertex-local/kill", {"job": job, "replica": replica})
    click.echo(f"killed {replica} of {job}")


@cli.command()
@click.argument("name")
@click.option("--reader", "readers", multiple=True, metavar="EMAIL", help="A service account that may read it.")
@_OF_PROJECT
def secret(name: str, readers: tuple[str, ...], project: str | None) -> None:
    """Keep a new version of the secret NAME; the value comes from standard input, or is asked for."""
    record = _running()
    value = click.prompt("value", hide_input=True) if sys.stdin.isatty() else sys.stdin.read()
    secrets = f"/v1/projects/{project or PROJECT_ID}/secrets"
    with _in_words():
        secrets_there = client.call(record, "GET", f"{secrets}?pageSize=25000").get("secrets", [])
        if not any(entry["name"].endswith(f"/{name}") for entry in secrets_there):
            client.call(record, "POST", f"{secrets}?secretId={quote(name)}", {"replication": {"automatic": {}}})
        data = base64.b64encode(value.rstrip("\r\n").encode()).decode()
        made = client.call(record, "POST", f"{secrets}/{quote(name)}:addVersion", {"payload": {"data": data}})
        if readers:
            members = [f"serviceAccount:{email}" for email in readers]
            bindings = [{"role": "roles/secretmanager.secretAccessor", "members": members}]
            client.call(record, "POST", f"{secrets}/{quote(name)}:setIamPolicy", {"policy": {"bindings": bindings}})
    click.echo(f"kept {made['name']}")


def _scenario(path: Path) -> dict[str, Any]:
    """Return the scenario of a file, with the recordings that it names, which lie beside it."""
    document = _toml(path)
    gpus = document.get("gpus")
    for gpu in gpus if isinstance(gpus, list) else ():
        if isinstance(gpu, dict) and isinstance(gpu.get("file"), str):
            file = path.parent / gpu.pop("file")
            try:
                gpu["csv"] = file.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                _fail(f"error: {file}: {error}\nwhy: {path} names it as a recording\nfix: correct its `file`", 2)
    return document


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        _fail(f"error: {path}: {error}\nwhy: a scenario is a TOML file\nfix: name one, or type clear or show", 2)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    """Print an error that a person can correct, and end with exit code 1."""
    try:
        yield
    except (CloudError, RecordError) as error:
        _fail(str(error))
    except OSError as error:
        why = f"the state folder {state_folder()} can't be used"
        _fail(f"error: {error}\nwhy: {why}\nfix: make room or make it writable, or set VERTEX_LOCAL_STATE")


def _running() -> Record:
    with _in_words():
        record = daemon.running(state_folder())
    if record is None:
        there = f"{COMMAND} up, or cd to the repository whose cloud runs"
        key = Path(os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", ""))
        shells = next((folder for folder in key.parents if (folder / "cloud.json").is_file()), None)
        if shells and shells.resolve() != state_folder().resolve():
            there = f"export VERTEX_LOCAL_STATE={shlex.quote(str(shells))}, which has the cloud that this shell knows"
        _fail(f"error: the local cloud is not running\nwhy: none has its state in {state_folder()}\nfix: {there}")
    return record


def _shown(folder: Path) -> str:
    return str(folder.relative_to(Path.cwd())) if folder.is_relative_to(Path.cwd()) else str(folder)


def _fail(text: str, code: int = 1) -> NoReturn:
    click.echo("\n  ".join(text.splitlines()), err=True)
    sys.exit(code)


def main() -> NoReturn:
    exit_after(lambda: cli(prog_name=COMMAND))


if __name__ == "__main__":
    main()
