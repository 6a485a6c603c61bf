"""Code of a template before and after: its package, its requirements, and its edited files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import few, join, last_part
from slipway.model.labels import Launched
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.secret_values import HIDDEN, bare
from slipway.reviewing.change.usual import posted_pools, variables
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import ROWS
from slipway.reviewing.rules.templates.effects import flag
from slipway.reviewing.rules.templates.usage import TemplateChange, folders

_REQUIREMENTS = "requirements.txt"
_COMMIT = re.compile(r"@[0-9a-f]{40}\b")
_NAME = re.compile(r"[\w.-]+")
_MOST_LINES = 12
"""The edited places of a template's code that its card quotes."""


_SAVES = re.compile(r"checkpoint|ckpt|torch\.(save|load)", re.IGNORECASE)
# By the service, torchrun, the launcher or the system (vertex-rules 3.5).
_SET_BY_OTHERS = re.compile(
    r"(AIP|CLOUD_ML|SLIPWAY|GOOGLE|MASTER|LOCAL|CUDA|NVIDIA|PYTHON)_?\w*|CLUSTER_SPEC|TF_CONFIG|RANK|WORLD_SIZE|GROUP_RANK"
    r"|HOME|PATH|USER|HOSTNAME|TMPDIR"
)
_DIRECTIONS = ("gone", "moving", "git", "new", "loosened", "older", "other", "newer", "pinned")
"""The moves of a requirement, the gravest first: each has a row."""
_OTHERS = ("moving", "git", "loosened", "older", "other", "newer")
"""The moves to another version."""


def code(template: TemplateChange) -> Iterator[Consequence]:
    old, new, files = template.old, template.new, template.change.files
    bucket = template.becomes.catalog_bucket
    if new.package not in ("", old.package) and not new.package.startswith(f"gs://{bucket}/"):
        yield template.tells("code-foreign", part="code", package=new.package)
        return
    touched = sorted(files.touched_below(folders(new)))
    # An image that takes the package's place is reported, with what its launcher did.
    becomes_image = bool(old.package) and not new.package
    if not becomes_image and sorted(old.requirements) != sorted(new.requirements):
        field = next((file for file in touched if file.endswith(f"/{_REQUIREMENTS}")), _REQUIREMENTS)
        yield _installed(template, field)
    yield from _unmet(template)
    names = [join(f"`jobs/{root}`" for root in sorted(folders(side))) for side in (new, old)]
    edited = [file for file in touched if not file.endswith(f"/{_REQUIREMENTS}") and file not in files.same]
    # The name depends on its contents, whatever the catalog's bucket.
    packages = [last_part(side.package).removesuffix(".tar.gz") for side in (old, new)]
    other = all(packages) and packages[0] != packages[1]
    if all(names) and names[0] != names[1]:
        yield template.tells("code-folder", part="code", new=names[0], old=names[1])
    elif other and (edited or not (touched or old.requirements != new.requirements)):
        lines = [edit for file in edited for edit in files.lines.get(file, ())]
        saves = new.checkpoints and any(_SAVES.search(f"{edit.before} {edit.after}") for edit in lines)
        more = len(lines) - _MOST_LINES
        yield template.tells(
            "code-saves" if saves else "code-changed" if edited else "code-unseen",
            part="code",
            files=few(map("`{}`".format, edited)),
            edits=lines[:_MOST_LINES],
            details=[
                *(
                    f"`{file}` {'is gone' if file in files.removed else 'is to be read as a whole'}"
                    for file in edited
                    if not files.lines.get(file)
                ),
                *_unset(template, edited),
                *([f"and {more} more places in these files"] if more > 0 else []),
            ],
        )


def _unmet(template: TemplateChange) -> Iterator[Consequence]:
    """Find worker pools that are started without an argument that their edited module requires."""
    lacks: dict[str, dict[str, None]] = {}
    for offer in template.new.offers:
        for role, pool in zip(offer.roles, posted_pools(offer), strict=False):
            started = Launched.read((pool.get("pythonPackageSpec") or {}).get("args") or ())
            file = f"jobs/{started.module.replace('.', '/')}.py" if started else ""
            given = [flag(argument) for argument in started.arguments] if started else []
            for ask in template.change.files.asks.get(file, ()):
                if ask.startswith("--") and not {*ask.split("/")} & {*given}:
                    lacks.setdefault(role, {})[ask] = None
    for role, flags in lacks.items():
        missing = join(f"`{name}`" for name in flags)
        yield template.tells("arguments-unmet", part=f"arguments of {role}", role=role, flags=missing)


def _unset(template: TemplateChange, edited: Iterable[str]) -> Iterator[str]:
    """Yield variables that the edited code reads and no template sets, with the value that counts."""
    known = {name for name, _ in variables(template.new.offers)}
    for ask in (ask for file in edited for ask in template.change.files.asks.get(file, ()) if "=" in ask):
        name, _, value = ask.partition("=")
        if not (name in known or _SET_BY_OTHERS.fullmatch(name)):
            yield f"nothing sets `{name}`: `{value}` counts"


def _installed(template: TemplateChange, field: str) -> Consequence:
    before, after = (_by_package(side.requirements) for side in (template.old, template.new))
    moves = {
        name: _direction(before.get(name, ""), after.get(name, ""))
        for name in dict.fromkeys((*after, *before))
        if before.get(name) != after.get(name)
    }
    worst = min(moves.values(), key=_DIRECTIONS.index)
    alike = [name for name, direction in moves.items() if direction == worst]
    lines = [few(f"`{_shown(side[name])}`" for name in alike if name in side) for side in (before, after)]
    return template.tells(
        f"requirement-{worst}",
        part="requirements",
        before=lines[0],
        after=lines[1],
        field=field,
        edits=[
            Edit(f"{direction} in {_REQUIREMENTS}", _shown(before.get(name, "")), _shown(after.get(name, "")))
            for name, direction in moves.items()
        ],
        details=[
            *(
                ["not known: whether checkpoints of before load"]
                if template.new.checkpoints and worst in _OTHERS
                else []
            ),
            *(
                f"`{_shown(after[name])}`: {ROWS[f'requirement-{direction}']['so']}"
                for name, direction in moves.items()
                if direction != worst and name in after
            ),
        ],
    )


def _direction(before: str, after: str) -> str:
    """Return how a requirement moves, as specifiers compare; `other` for what they can't tell."""
    if after and "git+" in after:
        return "git" if _COMMIT.search(after) else "moving"
    if not (before and after):
        return "new" if after else "gone"
    # Needed only where requirements differ: importing it costs time.
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import Version

    try:
        old, new = Requirement(before), Requirement(after)
    except InvalidRequirement:
        return "other"
    was, now = (
        [spec.version for spec in line.specifier if spec.operator == "==" and not spec.version.endswith(".*")]
        for line in (old, new)
    )
    if old.url or new.url or (old.extras, str(old.marker)) != (new.extras, str(new.marker)):
        return "other"
    if was and now:
        versions = Version(was[0]), Version(now[0])
        return "newer" if versions[0] < versions[1] else "older" if versions[1] < versions[0] else "other"
    if was:
        return "loosened"
    return "pinned" if now and old.specifier.contains(now[0], prereleases=True) else "other"


def _by_package(requirements: Iterable[str]) -> Mapping[str, str]:
    """Return the lines of each package, which may have several by their markers, as one."""
    lines: dict[str, list[str]] = {}
    for line in requirements:
        match = _NAME.match(line.strip())
        lines.setdefault(package(match[0]) if match else line, []).append(line)
    return {name: ", ".join(sorted(some)) for name, some in lines.items()}


def _shown(requirement: str) -> str:
    if looks_secret(requirement):
        return f"{requirement.partition(' @ ')[0]} @ … (hidden)" if " @ " in requirement else HIDDEN
    return bare(requirement, longest=100)


def secret_requirements(template: TemplateChange) -> Iterator[Consequence]:
    for line in template.new.requirements:
        if looks_secret(line) and line not in template.old.requirements:
            yield template.tells("plain-secret-required", part="requirements", line=_shown(line))
