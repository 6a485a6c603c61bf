"""Labels and a note of a person's own, by which jobs are told apart later. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from slipway.base.errors import ConfigError, Fix, together
from slipway.base.formatting import counted, join, quoted, unfit
from slipway.model.catalog.template import Offer, Template
from slipway.model.labels import NAME_LABEL, RESERVED, TEAM, label_value, own_labels
from slipway.model.rules.job import label_problems
from slipway.model.secret import NOTIFY, SECRET

MOST = 16
"""A job may have 64: its template up to 32, and Slipway the rest."""
LONGEST_NOTE = 500


_NOTE: Fix = ("lowercase letters, digits, _ and -; words as they are go into ", {"note": "TEXT"})


class _LabelProblem(NamedTuple):
    why: str
    fix: Fix


def checked_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels unchanged. Raises one ConfigError with all mistakes."""
    problems = [problem for key, value in labels.items() for problem in _problems(key, value)]
    if len(labels) > MOST:
        problems.append(_LabelProblem(f"{len(labels)} labels, and {MOST} is the most", _NOTE))
    if problems:
        raise ConfigError(
            f"{counted(len(problems), 'label')} wrong",
            why="\n".join(problem.why for problem in problems),
            fix=together(problem.fix for problem in problems),
        )
    return labels


def with_name(labels: Mapping[str, str], name: str | None) -> Mapping[str, str]:
    """Return the labels, checked, with a name that is chosen for the job, if any. Raises ConfigError."""
    checked = checked_labels(labels)
    return checked if name is None else {**checked, NAME_LABEL: checked_name(name)}


def checked_name(name: str) -> str:
    """Return the name unchanged. Raises ConfigError for one that no label can have, or that is a job's number."""
    if label_value(name) == name and name and not name.isdigit():
        return name
    fitting = label_value(name)
    raise ConfigError(
        f"no job can be called {quoted(name)}",
        why="the name becomes a label: lowercase letters, digits, - and _, at most 63, and not digits alone",
        fix=({"job_name": fitting if fitting and not fitting.isdigit() else "lr-01"}, ", for example"),
    )


def checked_note(note: str) -> str:
    """Return the note in one line. Raises ConfigError."""
    line = " ".join(note.split())
    wrong = unfit(line) or ("is empty" if not line else "")
    if not wrong and len(line) > LONGEST_NOTE:
        wrong = f"has {len(line):,} characters, and {LONGEST_NOTE} is the most"
    if wrong:
        raise ConfigError(f"the note {wrong}", fix="one line, for people to read")
    return line


def require_free(template: Template, offers: Iterable[Offer], labels: Mapping[str, str]) -> None:
    """Raise ConfigError for labels that the template sets itself, as bills go by them."""
    theirs: dict[str, str] = {}
    for offer in offers:
        theirs |= own_labels(offer.labels)
    if taken := [key for key in labels if key in theirs]:
        raise ConfigError(
            f"{template.name} sets {join(f'{key}={theirs[key]}' for key in taken)} itself",
            why="labels of a template were reviewed, and bills go by them",
            fix="give it another key",
        )


def _problems(key: str, value: str) -> Iterator[_LabelProblem]:
    if key == TEAM:
        yield _LabelProblem(f"label {TEAM}: Slipway sets it to the team that the job counts for", ({"team": value},))
    elif key.startswith(RESERVED):
        yield _LabelProblem(
            f"label {key}: keys that begin with {join(RESERVED, 'or')} are reserved", "choose another key"
        )
    elif not value:
        yield _LabelProblem(f"label {key} is empty", "give it a value, or leave it out")
    else:
        yield from (_LabelProblem(problem, _NOTE) for problem in label_problems(key, value))


def checked_notify(secret: str) -> str:
    """Return the name of the secret that has the address to tell. Raises ConfigError, which does not repeat it."""
    if SECRET.fullmatch(secret):
        return secret
    raise ConfigError(
        "notify is not a secret's name",
        why="whoever has the address of a chat room may write there, and a command is shown in lists of processes, and "
        "kept by shells: so it is taken from Secret Manager, by its name",
        fix=({"notify": "SECRET"}, f"; or, where you wait for the job yourself: export {NOTIFY}=https://…"),
    )
