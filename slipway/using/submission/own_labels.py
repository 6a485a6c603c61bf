"""Labels and a note of a person's own, by which jobs are told apart later. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, join, unfit
from slipway.model.catalog.model import Offer, Template
from slipway.model.labels import RESERVED, TEAM, own_labels
from slipway.model.rules.job import label_problems
from slipway.model.secret import NOTIFY, SECRET

MOST = 16
"""A job may have 64: its template up to 32, and Slipway the rest."""
LONGEST_NOTE = 500


def checked_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels unchanged. Raises one ConfigError with all mistakes."""
    problems = [problem for key, value in labels.items() for problem in _problems(key, value)]
    if len(labels) > MOST:
        problems.append(f"{len(labels)} labels, and {MOST} is the most")
    if problems:
        raise ConfigError(
            f"{counted(len(problems), 'label')} wrong",
            why="\n".join(problems),
            fix=("lowercase letters, digits, _ and -; words as they are go into ", {"note": "TEXT"}),
        )
    return labels


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


def _problems(key: str, value: str) -> Iterable[str]:
    if key == TEAM:
        yield f"label {TEAM}: it decides for whom a job counts, which --team says"
    elif key.startswith(RESERVED):
        yield f"label {key}: it begins as those that are set for you"
    elif not value:
        yield f"label {key} is empty"
    else:
        yield from label_problems(key, value)


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
