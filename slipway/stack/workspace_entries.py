"""The keys of a stack file for what jobs need beside machines: buckets, the accounts they run as, and who submits."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from slipway.stack import bounds
from slipway.stack.entries import Entry


class WorkspaceEntry(Entry):
    """Buckets, the trainer's service account, and who may submit."""

    submitters: list[Annotated[str, bounds.MEMBER]] = Field(
        default=[], description="IAM members that may submit jobs.", examples=["[group:ml-engineers@acme.example]"]
    )
    catalog_bucket: Annotated[str, bounds.BUCKET_NAME] | None = Field(
        default=None, description="<project>-<stack>-catalog when left out."
    )
    work_bucket: Annotated[str, bounds.BUCKET_NAME] | None = Field(
        default=None, description="<project>-<stack>-work when left out."
    )
    trainer: Annotated[str, bounds.TRAINER] | None = Field(
        default=None,
        description="Account id that jobs run as, made in the stack's project; slipway-<stack>-trainer when left out.",
        examples=["slipway-trainer"],
    )
    code: bool = Field(
        default=False,
        description="Whether `submit --code` may run a working tree on templates that allow it.",
        examples=["true"],
    )
    confirm_above: Annotated[float, bounds.COST] | None = Field(
        default=None,
        description="USD an hour above which `submit` asks before it sends jobs beside pools and reservations; --yes "
        "answers. Never when left out.",
        examples=[4],
    )


class TrainerEntry(Entry):
    """Another account that jobs run as, for templates that name it: with secrets, data and people of its own."""

    account: Annotated[str, bounds.TRAINER] | None = Field(
        default=None,
        description="Account id, made in the stack's project; slipway-<stack>-<name> when left out.",
        examples=["slipway-evals"],
    )
    submitters: list[Annotated[str, bounds.MEMBER]] = Field(
        default=[],
        description="IAM members that may submit its templates, and so may run any code as it; nobody when left out.",
        examples=["[group:evals@acme.example]"],
    )
