"""The files that `slipway init` writes, with placeholders for a repository's own values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from slipway.base import installation
from slipway.base.errors import ConfigError
from slipway.reviewing.forge_table import GITHUB, GITLAB, ForgeRow, of_file

_WORKFLOWS = ".github/workflows/"
_OWN = ("stacks/", "templates/", "jobs/")
_DOTTED = {"gitignore": ".gitignore"}
_PRODUCTION = "stacks/Pulumi.prod.yaml"
_AGENTS, _SKILL = "AGENTS.md", ".claude/skills/slipway/SKILL.md"
_SKILL_HEAD = """---
name: slipway
description: Submit, follow, mend and compare training jobs with the slipway command, and change these stacks.
---

"""
"""Lines that tools read of a skill before they load it; the rest is the page for agents."""
SCRIPT = "script"
OWN_CODE = "code: true # people run commands of their own: slipway submit script --code ."
"""The line below `slipway:workspace` that this template needs to run a folder's own code."""
TEMPLATES = (SCRIPT, "tune-digits")
"""Templates of this repository that a new one may begin with."""
_MACHINE, _SWAPPED = re.compile(r"(?<=n1-standard-)[48]\b"), {"4": "8", "8": "4"}
"""The starter's pools have half of the machines of these templates."""


def files(*, workflows: bool, production: bool, forge: ForgeRow = GITHUB) -> dict[str, str]:
    """Return the text of each file by its name, with placeholders, without pins. `workflows`: whether another
    repository's are used: GitHub's workflows are called, GitLab's jobs included."""
    folder = installation.PACKAGE / "front" / "starter"
    texts = {}
    for path in sorted(folder.rglob("*.in")):
        name = path.relative_to(folder).as_posix().removesuffix(".in")
        name = _DOTTED.get(name, f".{name}" if of_file(f".{name}") else name)
        if of_file(name) not in (None, forge):
            continue
        if (workflows or not name.startswith(_WORKFLOWS)) and (production or name != _PRODUCTION):
            texts[name] = path.read_text(encoding="utf-8")
    texts[_SKILL] = _SKILL_HEAD + texts[_AGENTS]
    for name in () if workflows else forge.jobs:
        texts[f".{forge.name}/{name}"] = (folder / forge.name / name).read_text(encoding="utf-8")
    return texts


def of_templates(names: Iterable[str]) -> dict[str, str]:
    """Return the files of templates of this repository, by their names: the template and its code, for the machines of
    the starter's stacks. Raises ConfigError for a template that this copy lacks."""
    root = installation.PACKAGE.parent if installation.in_checkout() else installation.PACKAGE / "examples"
    texts = {}
    for name in names:
        if not (root / file_of(name)).is_file():
            raise ConfigError(
                f"this slipway has no template {name}", fix="leave out --template, or take a release's slipway"
            )
        folder = root / "jobs" / name.replace("-", "_")
        code = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".txt"))
        for path in (root / file_of(name), *code):
            text = _MACHINE.sub(lambda size: _SWAPPED[size[0]], path.read_text(encoding="utf-8"))
            texts[path.relative_to(root).as_posix()] = text
    return texts


def stacks(names: Iterable[str]) -> list[str]:
    """Return the stacks of files in the order of their deployment: dev first, prod last."""
    found = {match[1] for name in names if (match := re.fullmatch(r"stacks/Pulumi\.([\w.-]+)\.yaml", name, re.ASCII))}
    return sorted(found, key=lambda name: (name == "prod", name != "dev", name))


def file_of(template: str) -> str:
    return f"templates/{template.replace('-', '_')}.py"


def published(templates: Iterable[str]) -> dict[str, str]:
    """Return the templates' lines for the stack files: an unreviewed command may be run in dev alone."""
    more = sorted({*templates})
    allowed = f"\n    {OWN_CODE}" if SCRIPT in more else ""
    return {
        "TEMPLATES": ", ".join(("hello", *more)),
        "REVIEWED": ", ".join(("hello", *(name for name in more if name != SCRIPT))),
        "CODE": allowed,
    }


def beside_others(texts: Mapping[str, str], project: str) -> dict[str, str]:
    """Return texts whose workflows bear the name of the project, as others lie in the same folder."""
    beside = {}
    for name, text in texts.items():
        forge = of_file(name)
        if forge and not forge.jobs:
            name, text = (part.replace("slipway-", f"slipway-{project}-") for part in (name, text))
        elif forge:  # Jobs that are included take the name as an input.
            name = name.replace(f".{forge.name}/slipway", f".{forge.name}/slipway-{project}")
        beside[name] = text
    return beside


def keys(texts: Mapping[str, str]) -> set[str]:
    """Return the placeholders of texts."""
    return {key for text in texts.values() for key in re.findall(r"@([A-Z]+)@", text)}


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], text)


def is_own(name: str) -> bool:
    """Tell whether a file is the team's from its first day: its deployments and runs, which no release changes."""
    return name.startswith(_OWN)


def image() -> str:
    """Return the image of GitLab's jobs where no other one is given. A release knows no digest: it is pinned by tag."""
    path = installation.PACKAGE / "front" / "starter" / GITLAB.name / GITLAB.jobs[0]
    return str(re.findall(r"default: (\S+:\S+)", path.read_text(encoding="utf-8"))[0])


def includes(known: Mapping[str, str], stacks: Sequence[str], folder: str, name: str) -> str:
    """Return the includes of a GitLab pipeline: the jobs of all stacks, and for each stack those that deploy it, after
    those of the stack before it. `name`: the prefix of all jobs' names."""

    def included(file: str, inputs: str) -> str:
        at = f"  - local: /.gitlab/{file.replace('slipway', name, 1)}"
        if "OWNED" in known:
            path = f"/slipway/front/starter/gitlab/{file}"
            at = f"  - project: {known['OWNED']}\n    ref: {known['REF']}\n    file: {path}"
        return f'{at}\n    inputs: {{ {inputs}, name: "{name}" }}'

    of_all, of_stack = GITLAB.jobs
    pinned = f', image: "{known["IMAGE"]}"' if "IMAGE" in known else ""
    parts = [included(of_all, f'stacks: {json.dumps(stacks)}, folder: "{folder}"{pinned}')]
    for before, stack in zip([None, *stacks], stacks, strict=False):
        after = f', after: ["{name}-up-{before}"]' if before else ""
        parts.append(included(of_stack, f"stack: {stack}{after}"))
    return "\n".join(parts)
