"""Code of a template before and after: its package, its requirements, and its edited files. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from slipway.authoring.packages.requirements import names_index
from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import few, join, last_part
from slipway.model.catalog.model import Template
from slipway.model.catalog.placeholders import OUTPUT, placeholder
from slipway.model.findings.finding import Grade
from slipway.model.labels import Launched
from slipway.reviewing.change.edits import NO_SIGN, Edit
from slipway.reviewing.change.faults import OPENS, PRINTS, SEEKS
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.secret_values import HIDDEN, bare
from slipway.reviewing.change.usual import posted_pools, variables
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import ROWS
from slipway.reviewing.rules.templates.effects import flag
from slipway.reviewing.rules.templates.images import PREBUILT
from slipway.reviewing.rules.templates.usage import TemplateChange, folders

_REQUIREMENTS = "requirements.txt"
_UNLESS = "unless that fits: not known whether the image's other packages go with it"
_COMMIT = re.compile(r"@[0-9a-f]{40}\b")
_NAME = re.compile(r"[\w.-]+")
_HASH = re.compile(r"(\s+--hash[ =]\S+)+")
_MOST_LINES = 12
"""The edited places of a template's code that its card quotes."""
# By the service, torchrun, the launcher or the system (vertex-rules 3.5).
_SET_BY_OTHERS = re.compile(
    r"(AIP|CLOUD_ML|SLIPWAY|GOOGLE|MASTER|LOCAL|CUDA|NVIDIA|PYTHON)_?\w*|CLUSTER_SPEC|TF_CONFIG|RANK|WORLD_SIZE|GROUP_RANK"
    r"|HOME|PATH|USER|HOSTNAME|TMPDIR"
)
_TESTS = re.compile(r"(/test_[^/]*|_test|/conftest)\.py$|\.md$")
_REQUIREMENT = "requirement-"
_DIRECTIONS = [row.removeprefix(_REQUIREMENT) for row in ROWS if row.startswith(_REQUIREMENT)]
"""The moves of a requirement, the gravest first, as their rows stand."""
_OTHERS = ("moving", "git", "url", "loosened", "extras", "unfinished", "major", "older", "other", "newer")
"""The moves to another version, of which not everything is known."""
_PACKAGES = json.loads(Path(__file__).with_name("packages.json").read_text("utf-8"))
"""Packages that go together, are built from source, or are in Google's images, by name."""
_OF_TAG = 1
"""The place of the sign of a reported metric's name, which says nothing where the template's metric has that name."""
_CALENDAR = 1000
"""The least first number of a version that is a year."""


def code(template: TemplateChange) -> Iterator[Consequence]:
    old, new, files = template.old, template.new, template.change.files
    bucket = template.becomes.catalog_bucket
    if new.package not in ("", old.package) and not new.package.startswith(f"gs://{bucket}/"):
        yield template.tells("code-foreign", part="code", package=new.package)
        return
    roots = tuple(f"jobs/{root}/" for root in folders(new))
    touched = sorted(file for file in files.touched if file.startswith(roots))
    # An image that takes the package's place is reported, with what its launcher did.
    becomes_image = bool(old.package) and not new.package
    field = next((file for file in touched if file.endswith(f"/{_REQUIREMENTS}")), _REQUIREMENTS)
    yield from _over(template)
    if not becomes_image and _by_package(old.requirements) != _by_package(new.requirements):
        yield _installed(template, field)
    if not becomes_image and indexes(old.requirements) != indexes(new.requirements):
        yield _elsewhere(template, field)
    names = [join(f"`jobs/{root}`" for root in sorted(folders(side) - {*(side.shared or ())})) for side in (new, old)]
    edited = [file for file in touched if not file.endswith(f"/{_REQUIREMENTS}") and file not in files.same]
    for metric, _ in new.study.metrics if new.study and edited else ():
        if template.reports_no(metric):
            yield template.tells("metric-unreported", part="metric", metric=metric, details=template.reports)
    yield from _unmet(template, edited)
    if not becomes_image:
        yield from _unpacked(template)
    yield from _apart(template)
    # The name depends on its contents, whatever the catalog's bucket.
    packages = [last_part(side.package).removesuffix(".tar.gz") for side in (old, new)]
    other = all(packages) and packages[0] != packages[1]
    if all(names) and names[0] != names[1]:
        yield template.tells("code-folder", part="code", new=names[0], old=names[1])
    elif other and (edited or not (touched or old.requirements != new.requirements)):
        lines = [edit for file in edited for edit in files.lines.get(file, ())]
        signs = sorted(sign for root in folders(new) for sign in files.signs.get(f"jobs/{root}", ()))
        named = all(template.names(metric) for metric, _ in new.study.metrics) if new.study else True
        signs = [sign for sign in signs if not (sign.place == _OF_TAG and named)]
        first, *others = signs or (NO_SIGN,)
        more = len(lines) - _MOST_LINES
        whole = [file for file in edited if not files.lines.get(file)]
        unreported = bool(new.study and first.place == 0 and not template.reports)
        row = "code-signed" if signs else "code-changed" if edited else "code-unseen"
        loses = (new.checkpoints or template.on_spot) and any(sign.loses for sign in signs)
        row = "code-begins-anew" if loses else row
        yield template.tells(
            "code-tests" if edited and all(map(_TESTS.search, edited)) else row,
            part="code",
            files=few(map("`{}`".format, edited)),
            so=first.so,
            instead=first.instead,
            grade=Grade.BLOCKING if unreported else None,
            edits=lines[:_MOST_LINES],
            details=[
                *(f"`{file}` goes: what imports it fails" for file in whole if file in files.removed),
                *(f"`{file}` is to be read as a whole" for file in whole if file not in files.removed),
                *map(str, others),
                *_values(template, edited),
                *([f"and {more} more places in these files"] if more > 0 else []),
            ],
        )


def _unmet(template: TemplateChange, edited: list[str]) -> Iterator[Consequence]:
    """Find what edited code asks for and does not get: an argument that a worker pool is started without, or with and
    the code lost it; a variable; a package."""
    found: dict[tuple[str, str, str], list[str]] = {}
    every = template.change.files.asks
    before = {role: {*map(flag, given)} for role, _, given in _started(template.old)}
    for role, module, arguments in _started(template.new):
        given, part = {*map(flag, arguments)}, f"arguments of {role}"
        # Another file that starts by itself has arguments of its own.
        files = (file for file in {module, *edited} if file == module or "__main__" not in every.get(file, ()))
        for ask in (ask for file in files for ask in every.get(file, ())):
            if ask.startswith("--") and "=" not in ask and not {*ask.split("/")} & given:
                found.setdefault(("arguments-unmet", part, role), []).append(ask)
            elif ask[0] == "!" and ask[1:] in given:
                found.setdefault(("arguments-unknown", part, role), []).append(ask[1:])
        code = template.change.files.code.get(module)
        for name in sorted(given - before.get(role, given)) if code and code.flags else ():
            if name.startswith("--") and not template.reads([name]):
                found.setdefault(("arguments-strange", part, role), []).append(name)
    asks = [ask for file in edited for ask in every.get(file, ())]
    unset = [ask[:-1] for ask in asks if ask[-1] == "=" and not _is_set(template, ask[:-1])]
    secret = [name.removesuffix("__SECRET") for name, _ in variables(template.new.offers) if name.endswith("__SECRET")]
    every_argument = (given.partition("=") for *_, arguments in _started(template.new) for given in arguments)
    places = {name for name, _, place in every_argument if place.startswith(("gs://", placeholder(OUTPUT)))}
    # A folder that is packed no more is told by itself.
    there = " ".join((*folders(template.new), *folders(template.old), *map(package, template.new.requirements)))
    found |= {
        ("variables-unset", "environment", ""): unset,
        ("code-prints-secrets", "log", ""): secret if PRINTS in asks else [],
        ("code-opens-bucket", "output", ""): [name for name in _after(OPENS, asks) if name in places],
        ("code-seeks", "files", ""): [*_after(SEEKS, asks)],
        ("imports-unmet", "imports", ""): [name for name in _after("import ", asks) if package(name) not in there],
    }
    for (row, part, role), names in found.items():
        if names:
            yield template.tells(row, part=part, role=role, names=join(f"`{name}`" for name in dict.fromkeys(names)))


def _after(word: str, asks: Iterable[str]) -> Iterator[str]:
    return (ask.removeprefix(word) for ask in asks if ask.startswith(word))


def _unpacked(template: TemplateChange) -> Iterator[Consequence]:
    """Find imports, in whatever code, of folders that are not packed with it any more."""
    kept, installed = folders(template.new), " ".join(map(package, template.new.requirements))
    lost = (name for name in folders(template.old) - kept if package(name) not in installed)
    read = {file: code for file, code in template.change.files.code.items() if file.split("/")[1] in kept}
    for name in sorted(lost):
        importing = [file for file in read if name in read[file].imports and not _TESTS.search(file)]
        if details := [f"`{file}` imports it" for file in importing]:
            yield template.tells("imports-unpacked", part=f"package {name}", name=name, details=details)


def _started(template: Template) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each role, the file of the module that it starts, and the arguments that this is given."""
    searched = [f"--{name}" for name in template.study.parameters] if template.study else []
    for offer in template.offers:
        for role, pool in zip(offer.roles, posted_pools(offer), strict=False):
            if started := Launched.of(pool.get("pythonPackageSpec") or {}):
                file = f"jobs/{started.module.replace('.', '/')}.py"
                yield role, file, (*started.arguments, *searched)


def _is_set(template: TemplateChange, name: str) -> bool:
    known = {known.removesuffix("__SECRET") for known, _ in variables(template.new.offers)}
    return name in known or bool(_SET_BY_OTHERS.fullmatch(name))


def _values(template: TemplateChange, edited: list[str]) -> Iterator[str]:
    """Yield what the edited code gives a value of its own that counts."""
    given = {flag(argument) for *_, arguments in _started(template.new) for argument in arguments}
    for ask in (ask for file in edited for ask in template.change.files.asks.get(file, ()) if "=" in ask[:-1]):
        name, _, value = ask.partition("=")
        if not ({*name.split("/")} & given or _is_set(template, name)):
            yield f"nothing sets `{name}`: `{value}` counts"


def _installed(template: TemplateChange, field: str) -> Consequence:
    sides = before, after = [_by_package(side.requirements) for side in (template.old, template.new)]
    image = _image(template.new)
    brings = _PACKAGES["images"].get(image["framework"] if image else "", ())
    moves = {
        name: _direction(before.get(name, ""), after.get(name, ""), name, of_image=name in brings)
        for name in dict.fromkeys((*after, *before))
        if before.get(name) != after.get(name)
    }
    worst = min(moves.values(), key=_DIRECTIONS.index)
    alike = [name for name, direction in moves.items() if direction == worst]
    lines = [few(f"`{_shown(side[name])}`" for name in alike if name in side) for side in sides]
    return template.tells(
        f"{_REQUIREMENT}{worst}",
        part="requirements",
        before=lines[0] or "none",
        after=lines[1],
        field=field,
        edits=[
            Edit(f"{move.partition('-')[0]} in {_REQUIREMENTS}", *(_shown(side.get(name, "")) for side in sides))
            for name, move in moves.items()
        ],
        details=[
            *("not known: whether earlier checkpoints can be read",) * (template.new.checkpoints and worst in _OTHERS),
            *(
                f"`{_shown(after[name])}`: {ROWS[f'{_REQUIREMENT}{direction}']['so']}"
                for name, direction in moves.items()
                if direction != worst and name in after
            ),
            *(_beside(moves, after, image) if worst != "unread" else ()),
        ],
    )


def _image(template: Template) -> re.Match[str] | None:
    """Return the parts of the name of Google's image that its code runs in."""
    specs = (pool.get("pythonPackageSpec") or {} for offer in template.offers for pool in posted_pools(offer))
    return next((found for spec in specs if (found := PREBUILT.search(str(spec.get("executorImageUri"))))), None)


def _over(template: TemplateChange) -> Iterator[Consequence]:
    """Find a framework that is installed at each start, as the image has another version of it than is pinned."""
    sides = [(_image(side), _by_package(side.requirements)) for side in (template.old, template.new)]
    for name in _PACKAGES["images"].get(sides[1][0]["framework"] if sides[1][0] else "", ())[:1]:
        both = [(image and image["version"].replace("-", "."), lines.get(name, "")) for image, lines in sides]
        has, line = both[1]
        pinned = line.partition("==")[2].partition(" ")[0]
        if both[0] != both[1] and has and pinned and not f"{pinned}.".startswith(f"{has}."):
            size = "gigabytes" if name in _PACKAGES["large"] else "it"
            yield template.tells("requirement-over-image", part="image and pin", line=_shown(line), has=has, size=size)


def indexes(requirements: Iterable[str]) -> tuple[str, ...]:
    """Return the indexes that a job's packages are taken from, as pip reads the lines that name them."""
    named = [line.partition(" ")[::2] for line in requirements if names_index(line)]
    first = [index for option, index in named if option == "--index-url"][-1:] or ["https://pypi.org/simple/"]
    return (*first, *(index for option, index in named if option != "--index-url"))


def _elsewhere(template: TemplateChange, field: str) -> Consequence:
    before, after = (indexes(side.requirements) for side in (template.old, template.new))
    every = "; of a name that several have the highest version is taken, whoever made it" if after[1:] else ""
    values = [few(f"`{bare(index, longest=100)}`" for index in side) for side in (before, after)]
    edits = [Edit(f"index in {_REQUIREMENTS}", *(value.replace("`", "") for value in values))]
    return template.tells(
        "requirements-index", part="index", before=values[0], after=values[1], every=every, field=field, edits=edits
    )


def _beside(moves: Mapping[str, str], after: Mapping[str, str], image: re.Match[str] | None) -> Iterator[str]:
    """Yield what a package that comes or moves meets: the image, and packages that are made for it."""
    for name in (name for name in moves if name in after):
        line = f"`{_shown(after[name])}`"
        if name in _PACKAGES["built"]:
            yield f"{line} is built at each start where there is no wheel: up to an hour, paid, if there is a compiler"
        if name in _PACKAGES["large"] and image and image["device"] == "cpu":
            yield f"{line} brings gigabytes for GPUs, at each start, and these machines have none"
        elif image and name in _PACKAGES["images"].get(image["framework"], ()):
            yield f"{line} replaces the image's own at each start, {_UNLESS}"
        for other, beside in _PACKAGES["beside"].items():
            pairs = beside if other == name else [other] if name in beside else []
            for each in (each for each in pairs if each in after and each not in moves):
                stays = f"`{_shown(after[each])}` stays"
                yield f"{stays}: not known whether it goes with {line}; else they fail while they install"


def _apart(template: TemplateChange) -> Iterator[Consequence]:
    """Find packages of one version that are pinned at two."""
    lines = _by_package(template.new.requirements)
    pins = [lines[name] for name in _PACKAGES["alike"] if "==" in lines.get(name, "")]
    if len({line.partition("==")[2] for line in pins}) > 1 and template.old.requirements != template.new.requirements:
        yield template.tells("requirements-apart", part="versions", lines=join(f"`{_shown(line)}`" for line in pins))


def _direction(before: str, after: str, name: str, *, of_image: bool) -> str:
    """Return how a requirement moves, as specifiers compare; `other` for what they can't tell."""
    if after and "git+" in after:
        return "git" if _COMMIT.search(after) else "moving"
    if "://" in after:
        return "url"
    if not after:
        return "gone-of-image" if of_image else "gone"
    # Needed only where requirements differ: importing it costs time.
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import Version

    try:
        new = Requirement(after)
    except InvalidRequirement:
        # Lines of a package that differ by their markers are joined.
        return "other" if ", " in after else "unread"
    try:
        old = Requirement(before or after)
    except InvalidRequirement:
        return "other"
    was, now = (
        [Version(spec.version) for spec in line.specifier if spec.operator == "==" and not spec.version.endswith(".*")]
        for line in (old, new)
    )
    if now and now[0].local and before != after:
        return "local"
    if not before:
        return "new"
    if str(old.marker) != str(new.marker):
        return "marker" if new.marker else "other"
    if old.extras != new.extras or old.url:
        return "extras" if new.extras - old.extras else "other"
    if was and now:
        if now[0].is_prerelease:
            return "unfinished"
        moved = "newer" if was[0] < now[0] else "older" if now[0] < was[0] else "other"
        moved = "major" if was[0].major < now[0].major < _CALENDAR else moved
        return f"{moved}-saves" if name in _PACKAGES["saves"] and was[0].release[:2] != now[0].release[:2] else moved
    if was:
        return "loosened"
    return "pinned" if now and old.specifier.contains(now[0], prereleases=True) else "other"


def _by_package(requirements: Iterable[str]) -> Mapping[str, str]:
    """Return the lines of each package, which may have several by their markers, as one."""
    lines: dict[str, list[str]] = {}
    for line in (line for line in requirements if not names_index(line)):
        match = _NAME.match(line.strip())
        lines.setdefault(package(match[0]) if match else line, []).append(line)
    return {name: ", ".join(sorted(some)) for name, some in lines.items()}


def _shown(requirement: str) -> str:
    requirement = _HASH.sub(" --hash=…", requirement, count=1)
    if looks_secret(requirement):
        return f"{requirement.partition(' @ ')[0]} @ … (hidden)" if " @ " in requirement else HIDDEN
    return bare(requirement, longest=100)


def secret_requirements(template: TemplateChange) -> Iterator[Consequence]:
    for line in template.new.requirements:
        if looks_secret(line) and line not in template.old.requirements:
            yield template.tells("plain-secret-required", part="requirements", line=_shown(line))
