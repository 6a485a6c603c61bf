"""Answers for a new repository: from flags, from defaults, or from a person."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, quoted
from slipway.front.cli.terminal import screen, starter_files

_IMAGE = re.compile(r"[\w.-]+(:\d+)?(/[\w.-]+)*(:[\w.-]+)?@sha256:[0-9a-f]{64}", re.ASCII)
_OWNER = r"(@[\w.-]+(/[\w.-]+)?|[^\s@]+@[^\s@]+\.[^\s@]+)"
_WORKFLOWS = re.compile(r"([\w.-]+/[\w.-]+)@([\w.-]+(?:/[\w.-]+)*)", re.ASCII)


@dataclass(frozen=True)
class _Question:
    flag: str
    words: str
    example: str
    usual: str = ""


_QUESTIONS = {
    "PROJECT": _Question("--project", "Google Cloud project", "acme-ml-dev"),
    "REGION": _Question("--region", "Region", "us-central1", "us-central1"),
    "SUBMITTER": _Question("--submitter", "Who may submit, such as group:ml@acme.example", "group:ml@acme.example"),
    "TEAM": _Question("--team", "Who approves changes, such as @acme/ml-platform", "@acme/ml-platform"),
    "IMAGE": _Question("--image", "Image of GitLab's jobs, by its digest", "NAME:TAG@sha256:…"),
    "PRODUCTION": _Question("--prod", "Google Cloud project of production", "acme-ml-prod"),
}


def answers(wanted: Iterable[str], given: Mapping[str, str], *, asking: bool) -> dict[str, str]:
    """Return the value of each key. Raises ConfigError for a wrong one, and where nobody is asked."""
    usual = {"PROJECT": os.environ.get("GOOGLE_CLOUD_PROJECT", "")}
    asking = asking and sys.stdin is not None and sys.stdin.isatty()
    values = {}
    for key, question in _QUESTIONS.items():
        if key in given:
            if wrong := _wrong(key, given[key]):
                raise ConfigError(f"{question.flag} {quoted(given[key])} {wrong[0]}", fix=wrong[1])
            values[key] = given[key]
    todo = [key for key in _QUESTIONS if key in wanted and key not in values]
    for key in todo:
        default = usual.get(key) or _QUESTIONS[key].usual
        if asking:
            values[key] = click.prompt(
                _QUESTIONS[key].words, default or None, value_proc=partial(_proven, key), err=True
            )
        elif default and not _wrong(key, default):
            values[key] = default
    if missing := [_QUESTIONS[key] for key in todo if key not in values]:
        fix = " ".join(f"{question.flag} {question.example}" for question in missing)
        what = f"{join([question.flag for question in missing])} {'is' if len(missing) == 1 else 'are'} missing"
        raise ConfigError(what, why="nobody is asked here", fix=f"add {fix}")
    return values


def workflows(text: str) -> dict[str, str]:
    """Return the placeholders of OWNER/REPO@REF, and warn of a version that may move. Raises ConfigError."""
    match = _WORKFLOWS.fullmatch(text)
    if match is None or match[2] in ("COMMIT", "REF"):  # As the pages write it.
        fix = "--workflows OWNER/REPO@REF, a tag or a commit of the repository that has slipway's workflows"
        raise ConfigError(f"--workflows {quoted(text)} is no version of a repository", fix=fix)
    if re.fullmatch(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,39}", match[2]):
        raise ConfigError(
            f"--workflows {quoted(text)} has the first digits of a commit",
            why="a workflow is called by a whole commit, a tag or a branch",
            fix=f"name the whole commit: gh api repos/{match[1]}/commits/{match[2]} --jq .sha",
        )
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}|v?\d+\.\d+.*", match[2]):  # No whole commit, and no tag as v1.2.0.
        screen.warn(f"--workflows: who moves {match[2]} deploys in your repository; a commit does not move")
    return {"OWNED": match[1], "REF": match[2]}


def digest() -> str:
    """Return where the digest of the usual image stands."""
    return f"the Digest that `docker buildx imagetools inspect {starter_files.image()}` prints"


def _proven(key: str, value: str) -> str:
    if wrong := _wrong(key, value):
        raise click.UsageError(f"{quoted(value)} {wrong[0]}: {wrong[1]}")
    return value.strip()


def _wrong(key: str, value: str) -> tuple[str, str] | None:
    from slipway.authoring.stack.members import PATTERN
    from slipway.model.cluster import PROJECT
    from slipway.model.machines.table import regions

    if key in ("PROJECT", "PRODUCTION") and not re.fullmatch(PROJECT, value):
        return "is not a project id", "6–30 lowercase letters, digits, dashes: acme-ml-prod"
    if key == "REGION" and value not in regions():
        return "is not a region with custom training", nearest(value, regions()) or "us-central1"
    if key == "SUBMITTER" and not re.fullmatch(PATTERN, value):
        return "is nobody who may submit", "user:…, group:… or serviceAccount:… with a whole address"
    if key == "IMAGE" and not _IMAGE.fullmatch(value):
        return "is pinned by no digest", f"--image {starter_files.image()}@sha256:…, {digest()}"
    if key == "TEAM" and not re.fullmatch(_OWNER, value):
        return "owns no code", "@acme/ml-platform, @somebody or an e-mail address"
    return None
