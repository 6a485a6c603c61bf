"""Write a small repository of one's own: a stack, a template, a test.

A file that is there is left as it is, so that it may be run again. --upgrade renews, by a merge with your edits, what
init wrote: all but stacks, templates and jobs, which are yours from the first day.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from slipway.base import installation
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.files import leftovers
from slipway.base.formatting import counted, join, quoted
from slipway.front.cli.terminal import answers, pins, screen, starter, starter_files
from slipway.front.cli.terminal.starter import Place, Record
from slipway.model.identity import Identity
from slipway.reviewing.forge_table import FORGES, GITHUB, GITLAB, of_file

_FROM_A_FORGE = {".git", ".gitignore", "LICENSE", "README.md"}
_DERIVED = {"CATALOG", "FOLDER", "PATHS", "INCLUDES", "FORGE", *starter_files.published(())}
_PIPELINE = ".gitlab-ci.yml"
_DEV = "stacks/Pulumi.dev.yaml"
_STACKS = {"PROJECT": ("--project", _DEV), "PRODUCTION": ("--prod", "stacks/Pulumi.prod.yaml")}
"""By the key of an answer, the flag and the stack whose project it is."""
_TO_BE_ADDED = {*(f".{name}/CODEOWNERS" for name in FORGES), _PIPELINE}
"""Files that a repository has once, so that their owners add our lines by hand."""


class _Copied(click.Choice[str]):
    """The templates that are copied; of another one it says how somebody copies it."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices:
            return super().convert(value, param, ctx)
        raise ConfigError(
            f"slipway init copies no template {quoted(value)}",
            why=f"it copies {join(self.choices)}",
            fix="copy its file and its folder yourself: docs/templates.md",
        )


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--project", metavar="ID", help="The Google Cloud project of the stack dev.")
@click.option("--region", metavar="REGION", help="Its region; us-central1 where nothing else is said.")
@click.option("--submitter", metavar="MEMBER", help="Who may submit: user:…, group:…, serviceAccount:….")
@click.option("--team", metavar="OWNER", help="Who must approve changes, in CODEOWNERS.")
@click.option("--prod", "production", metavar="ID", help="Adds the stack prod, in a project of its own.")
@click.option(
    "--template",
    "templates",
    multiple=True,
    type=_Copied(starter_files.TEMPLATES),
    help="Adds a template of slipway's beside hello: script runs any command, in dev.",
)
@click.option("--ci", type=click.Choice(list(FORGES)), help="Whose CI runs it; github where nothing is said.")
@click.option("--image", metavar="IMAGE", help="The image of GitLab's jobs, by its digest: NAME:TAG@sha256:….")
@click.option(
    "--workflows",
    metavar="OWNER/REPO@REF",
    help="Adds workflows of GitHub that call those of this repository; of GitLab, the project whose jobs are included.",
)
@click.option("--yes", is_flag=True, help="Ask nothing: what no flag says and has no default is an error.")
@click.option("--upgrade", is_flag=True, help="Renew what an earlier slipway wrote.")
def command(
    folder: Path, *, templates: tuple[str, ...], workflows: str | None, yes: bool, upgrade: bool, **given: str | None
) -> None:
    flags = {key.upper(): value for key, value in given.items() if value is not None}  # --ci is CI.
    if workflows is not None:
        flags |= answers.workflows(workflows)
    place = Place.of(folder)
    record = starter.read_record(folder)
    if upgrade and record is None:
        why = f"it has no {starter.RECORD}: slipway init did not write it"
        raise ConfigError(f"{folder} can't be upgraded", why=why, fix="name the folder that slipway init wrote")
    if record is None and folder.is_dir():
        there = {path.name for path in folder.iterdir()} - {path.name for path in leftovers(folder / starter.RECORD)}
        if others := sorted(there - _FROM_A_FORGE):
            why = f"it has {join([quoted(name) for name in others[:3]])}, and no {starter.RECORD} of slipway init"
            raise ConfigError(f"{folder} is not empty", why=why, fix="name a new folder")
    if record is not None and not (upgrade and "CI" in flags):
        _refuse_two_forges(place, record, {**record.values, **flags}.get("CI", GITHUB.name))
    _refuse_another_project(place, flags)
    if "IMAGE" in flags and {**(record.values if record else {}), **flags}.get("CI") != GITLAB.name:
        raise ConfigError("--image is of GitLab's jobs, and here are none", fix="leave it out, or add --ci gitlab")
    if upgrade and record is not None:
        _upgrade(place, record, flags, asking=not yes)
    else:
        _init(place, record or Record(installation.version(), {}, {}), flags, templates, asking=not yes)


def _init(place: Place, begun: Record, flags: Mapping[str, str], templates: tuple[str, ...], *, asking: bool) -> None:
    known = {**begun.values, **flags}
    texts = _texts(place, known, production="PRODUCTION" in known) | starter_files.of_templates(templates)
    missing = {name: text for name, text in texts.items() if not place.has(name) and not place.leads_out(name)}
    known |= answers.answers(starter_files.keys(missing), known, asking=asking)
    if "PRODUCTION" in flags and flags["PRODUCTION"] == known.get("PROJECT"):
        what = f"--prod {flags['PRODUCTION']} is the project of dev"
        raise ConfigError(what, why="production has one of its own", fix="name another one, or leave out --prod")
    known["STACKS"] = json.dumps(starter_files.stacks([*place.names("stacks"), *missing]))
    values = _values(place, known, templates)
    there = [text for name, text in texts.items() if name in begun.files and name not in missing]
    before = {**values, **_values(place, begun.values)}
    stale = [text for text in there if starter_files.filled(text, values) != starter_files.filled(text, before)]
    if stale:  # All files stay at one version, and the record with them.
        stays = {key: value for key, value in begun.values.items() if key not in ("CI", "STACKS")}
        values = _values(place, {**known, **stays}, templates)
    written = {name: starter_files.filled(text, values) for name, text in missing.items()}
    written |= _pins([name for name in pins.LOCKS if not place.has(name)])
    kept = [
        name for name in texts.keys() - missing.keys() if name not in begun.files and not starter_files.is_own(name)
    ]
    starter.write_record(place, _recorded(begun, values, {**begun.files, **written}))
    for name, text in written.items():
        starter.write(place, name, text)
    for name in sorted(written):
        screen.out(f"  {place.shown(name)}")
    if _PIPELINE in written:
        _tell_image(values)
    _tell_kept(kept, place, values)
    if stale:
        screen.note(f"left as they are: {counted(len(stale), 'file')}; the same command with --upgrade moves them")
    if unnamed := [name for name in templates if starter_files.file_of(name) in written and _DEV not in written]:
        screen.note(f"  add to slipway:templates of {place.shown(_DEV)}:  {join(unnamed)}")
        if starter_files.SCRIPT in unnamed:
            screen.note(f"  and to its slipway:workspace:  {starter_files.OWN_CODE}")
    change_folder = "" if place.folder == Path() else f"cd {shlex.quote(str(place.folder))} && "
    screen.hint(f"  {change_folder}make test")


def _upgrade(place: Place, record: Record, flags: Mapping[str, str], *, asking: bool) -> None:
    """Merge this slipway's files with a team's edits of those that another slipway wrote."""
    known = {**record.values, **flags}
    texts = _texts(place, known, production=False)
    renewed = {name: text for name, text in texts.items() if not starter_files.is_own(name)}
    known |= answers.answers(starter_files.keys(renewed), known, asking=asking)
    values = _values(place, known)
    news = {name: starter_files.filled(text, values) for name, text in renewed.items()} | _pins(list(pins.LOCKS))
    labels = ("yours", f"slipway {record.slipway}", f"slipway {installation.version()}")
    names = {**record.files, **news}
    out = [name for name in names if place.leads_out(name)]
    steps = [_step(place, name, record.files.get(name), news.get(name), labels) for name in names if name not in out]
    changed = [step for step in steps if step.text != step.mine]
    for step in steps:
        _show(step)
    base = {step.name: news[step.name] for step in steps if step.known and step.name in news}
    base |= {name: record.files[name] for name in out if name in record.files}
    # Files in conflict come last: while there is one, the next run is refused.
    for step in sorted(changed, key=lambda step: step.odd):
        starter.write(place, step.name, step.text)
    starter.write_record(place, _recorded(record, values, base))
    if out:
        screen.note(f"left as they are, as their links lead to no file here: {_shown(place, out)}")
    if _PIPELINE in news:
        _tell_image(values)
    if deleted := [step.name for step in steps if step.text is None and step.name in news]:
        screen.note(f"left out, as you deleted it: {_shown(place, deleted)}")
    _tell_kept([step.name for step in steps if not step.known], place, values)
    if odd := [place.shown(step.name) for step in steps if step.odd]:
        why = "you and the release changed the same lines; both are in the file"
        raise SlipwayError(f"{join(odd)} must be mended by hand", why=why, fix="choose between <<<<<<< and >>>>>>>")
    if not changed:
        screen.note(f"all is as slipway {installation.version()} has it")


@dataclass(frozen=True)
class _Step:
    name: str
    #: The text before; None where there is no file.
    mine: str | None
    #: The text after; None where there will be no file.
    text: str | None
    #: Whether init wrote it, or does now.
    known: bool = True
    #: Whether it has conflicts.
    odd: bool = False


def _step(place: Place, name: str, base: str | None, new: str | None, labels: tuple[str, str, str]) -> _Step:
    mine = place.read(name)
    if base is None:  # New in this release: an existing file is somebody else's.
        return _Step(name, mine, new if mine is None else mine, known=mine is None or mine == new)
    if mine is None:
        return _Step(name, None, None)
    if new is None:
        return _Step(name, mine, None if mine == base else mine)
    locked = name in pins.LOCKS  # Merged as one line for each package, whose hashes are no edits.
    text, odd = starter.merged(name, _bare(name, mine), base, _bare(name, new), labels)
    return _Step(name, mine, pins.with_hashes(text, new, mine) if locked else text, odd=odd)


def _bare(name: str, text: str) -> str:
    return pins.bare(text) if name in pins.LOCKS else text


def _show(step: _Step) -> None:
    before, after = (_bare(step.name, text or "") for text in (step.mine, step.text))
    names = f"a/{step.name}" if before else "/dev/null", f"b/{step.name}" if after else "/dev/null"
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""):
        screen.out(line)


def _texts(place: Place, known: Mapping[str, str], *, production: bool) -> dict[str, str]:
    """Return the files with their placeholders. Raises ConfigError for a folder whose forge is unknown."""
    forge = FORGES[known.get("CI", GITHUB.name)]
    texts = starter_files.files(workflows="OWNED" in known, production=production, forge=forge)
    if place.within == ".":
        return texts
    if not re.fullmatch(r"[\w./ -]+", place.within):
        what, fix = f"the folder {quoted(place.within)}", "rename it: letters, digits, spaces, dots, dashes alone"
        raise ConfigError(f"{what} can't stand in CODEOWNERS and workflows", fix=fix)
    return starter_files.beside_others(texts, known.get("NAME") or _name(place))


def _name(place: Place) -> str:
    """Return the project's name: its folder's, with the folders above it in the repository. A dash is doubled there, so
    that `a-b/c` and `a/b-c` have different names."""
    name = place.folder.resolve().name if place.within == "." else place.within
    name = name.replace("-", "--") if "/" in name else name
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name)[-100:] or "training"


def _values(place: Place, known: Mapping[str, str], templates: tuple[str, ...] = ()) -> dict[str, str]:
    stacks = json.loads(known.get("STACKS") or ('["dev", "prod"]' if "PRODUCTION" in known else '["dev"]'))
    folder = place.within
    paths = "*" if folder == "." else f"/{folder}/".replace(" ", "\\ ")
    name = known.get("NAME") or _name(place)
    includes = starter_files.includes(known, stacks, folder, "slipway" if folder == "." else f"slipway-{name}")
    forge = known.get("CI", GITHUB.name)
    derived = {"STACKS": json.dumps(stacks), "FOLDER": folder, "PATHS": paths, "INCLUDES": includes, "FORGE": forge}
    derived["CATALOG"], _ = Identity(name, "dev").buckets(known.get("PROJECT", "PROJECT"))
    return {**known, "NAME": name, **derived, **starter_files.published(templates)}


def _recorded(record: Record, values: Mapping[str, str], files: Mapping[str, str]) -> Record:
    kept = {key: value for key, value in values.items() if key not in _DERIVED}
    bases = {
        name: _bare(name, text)
        for name, text in files.items()
        if not starter_files.is_own(name) and of_file(name) in (None, FORGES[values["FORGE"]])
    }
    return Record(installation.version(), kept, bases)


def _pins(names: list[str]) -> dict[str, str]:
    """Return files of pins, and tell where they have no hashes, or a local path."""
    if not names:
        return {}
    origin, without = pins.source_with_hash()
    written = {name: pins.pins(origin, pins.LOCKS[name], without) for name in names}
    texts = {name: text for name, (text, _) in written.items()}
    without = next((why for _, why in written.values() if why), "")
    if re.search(r"^/|file://", next(iter(texts.values())), re.MULTILINE):
        screen.note(f"warning: {join(names)}: a path of this machine; install Slipway from the address of a release")
    elif without:
        bare = [name for name, (_, why) in written.items() if why]
        screen.note(f"warning: {join(bare)}: no hashes, as {without}")
    return texts


def _refuse_two_forges(place: Place, record: Record, forge: str) -> None:
    """Refuse a forge beside the files of another one: the next upgrade would remove them unasked."""
    others = [name for name in record.files if of_file(name) not in (None, FORGES[forge]) and place.has(name)]
    if others:
        had = next(name for name in FORGES if name != forge)
        moves = f"slipway init {shlex.quote(str(place.folder))} --upgrade --ci"
        raise ConfigError(
            f"{_shown(place, others)} would be left beside the files of {forge}",
            why=f"slipway init wrote them for {had}, and keeps one forge's files",
            fix=f"{moves} {forge} moves there and removes what you did not edit of them; {moves} {had} stays",
        )


def _refuse_another_project(place: Place, flags: Mapping[str, str]) -> None:
    """Refuse a project that a stack here does not have: the stack would stay, and CI be set up for the other."""
    for key in flags.keys() & _STACKS.keys():
        flag, name = _STACKS[key]
        has = re.search(r"""^ +gcp:project: *["']?([\w:.-]+)""", place.read(name) or "", re.MULTILINE)
        if has and has[1] != flags[key]:
            raise ConfigError(
                f"{place.shown(name)} has another project than {flag} {flags[key]}",
                why=f"it has {has[1]}, and init leaves a stack that is there as it is",
                fix=f"edit gcp:project there first, or say {flag} {has[1]}",
            )


def _tell_image(values: Mapping[str, str]) -> None:
    """Warn where the image of GitLab's jobs may move, or is not the one that this release was tried with."""
    usual, pinned = starter_files.image(), values.get("IMAGE")
    if pinned is None:
        screen.note(f"warning: {_PIPELINE}: whoever moves the tag of {usual} runs in your jobs")
        screen.note(f"  fix: the same command with --upgrade --image {usual}@sha256:…, {answers.digest()}")
    elif pinned.partition("@")[0] != usual:
        screen.note(f"{_PIPELINE}: its jobs' image is {pinned}; this release's is {usual}: --image takes another")


def _shown(place: Place, names: Iterable[str]) -> str:
    return join(sorted(place.shown(name) for name in names))


def _tell_kept(names: list[str], place: Place, values: Mapping[str, str]) -> None:
    if names:
        screen.note(f"left as they are: {_shown(place, names)}")
    for name in sorted(_TO_BE_ADDED & {*names}):
        text = starter_files.filled(_texts(place, values, production=False)[name], values)
        has = {line.strip() for line in (place.read(name) or "").splitlines()}
        for line in text.splitlines():
            if not line.startswith("#") and line.strip() not in has:
                screen.note(f"  add to {place.shown(name)}:  {line}")
