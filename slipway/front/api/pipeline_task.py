"""The work of a task that `slipway.kfp.submit_op` made: submit once, wait, and hand on what the job made.

It runs as `python3 -m slipway.kfp PIPELINE EXECUTOR_INPUT`, both as Vertex AI fills them in.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from slipway.base.clock import poll
from slipway.base.errors import AnswerUnknown, AuthError, SlipwayError
from slipway.front.api.job import Job, job, jobs
from slipway.front.api.submit import submit
from slipway.google.failures import Denied
from slipway.model.job_state import JobState
from slipway.model.labels import PIPELINE_RUN, label_value
from slipway.using.context import context_of
from slipway.using.submission.request import derived_request_id

Json = Mapping[str, Any]
TASK_LABEL = "pipeline-task"
_log = logging.getLogger("slipway")
_TIME = re.compile(r"-\d{14}$")
"""The time that Vertex AI's SDK writes behind a pipeline's name, for the name of a run."""
_LOOKED_FOR_S = 5.0


@dataclass(frozen=True)
class PipelineTask:
    """A task of a pipeline's run."""

    #: The full name of the pipeline's job.
    pipeline: str
    #: The values of inputs, and where outputs go, as kfp tells every container.
    executor: Json

    @property
    def run(self) -> str:
        return self.pipeline.rpartition("/")[2]

    @property
    def request_id(self) -> str:
        """The id of the submission: no two tasks write to the same place, and one that is started again does."""
        return f"task-{derived_request_id(self.executor['outputs']['outputFile'])}"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the submission."""
        inputs = self.executor["inputs"]
        uris = {name: item["artifacts"][0]["uri"] for name, item in inputs.get("artifacts", {}).items()}
        given = inputs["parameterValues"]
        own, ours = given.get("labels") or {}, {PIPELINE_RUN: label_value(self.run), TASK_LABEL: self.request_id}
        labels = {**own, **ours} if isinstance(own, dict) else own  # `submit` says what is wrong with others.
        return {**uris, **given, "labels": labels, "request_id": self.request_id}

    def submitted(self) -> Job:
        try:
            return submit(**self.arguments)
        except AnswerUnknown as problem:  # Nobody is there to do as it says: the same again finds what was sent.
            _log.info("%s", problem)
            return submit(**self.arguments)

    def stop(self) -> None:
        """Cancel the job of a cancelled pipeline; else it goes on, for the task's next start. Raises SlipwayError."""
        from slipway.using.jobs.claim import mark_in
        from slipway.using.submission.cancelling import cancel_job, withheld_request
        from slipway.using.submission.lookup import sent_from_here
        from slipway.using.submission.submitter import journal_of

        catalog = self.arguments.get("catalog")
        if job(self.pipeline, catalog=catalog).state not in (JobState.CANCELLING, JobState.CANCELLED):
            _log.info("this task is stopped, and its pipeline is not cancelled: the job goes on")
            return
        context = context_of(catalog)
        mark = mark_in(context.catalog.work_bucket, self.request_id)
        later = withheld_request(context, mark, self.request_id, _log.info, what="this task")
        for _ in poll(time.sleep, 0.5, within=_LOOKED_FOR_S):
            listed = [each._job for each in jobs(labels={TASK_LABEL: self.request_id}, catalog=catalog)]
            # A list may lag behind what this process was told.
            known = [*listed, *later, *sent_from_here(context, journal_of(context), self.request_id)]
            for each in {each.name: each for each in known if not each.ended}.values():
                cancel_job(context.vertex, each, context.now)
                _log.info("%s is cancelled, as its pipeline is", each.called)
            if known:
                return
        _log.info("no job of this task is listed: one that is being made ends before its code")

    def hand_on(self, ended: Job) -> None:
        """Write the outputs. Raises OSError."""
        outputs = self.executor["outputs"]
        artifacts = {name: dict(item["artifacts"][0]) for name, item in outputs["artifacts"].items()}
        artifacts["folder"] |= {"uri": ended.output, "metadata": {"job": ended.name}}
        artifacts["metrics"] |= {"metadata": dict(ended.metrics)}
        document = {
            "parameterValues": {"job": ended.name, "output": ended.output},
            "artifacts": {name: {"artifacts": [artifact]} for name, artifact in artifacts.items()},
        }
        file = Path(outputs["outputFile"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document), encoding="utf-8")


class Terminated(SystemExit):
    """The end of a task that was asked to stop: an import that it interrupts is left before the job is looked for."""


def _terminated(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated(128 + signal.SIGTERM)


def run() -> None:
    """Do the work of the task that this process's arguments tell, and exit as the command does."""
    pipeline, executor = sys.argv[1:]
    task = PipelineTask(pipeline, json.loads(executor, parse_float=_number))
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    os.environ.setdefault("SLIPWAY_USER", _TIME.sub("", task.run))

    signal.signal(signal.SIGTERM, _terminated)
    try:
        task.hand_on(task.submitted().wait())
    except Terminated:
        try:
            task.stop()
        except SlipwayError as problem:
            _log.info("whether the pipeline is cancelled is not known, and the job goes on: %s", problem)
        raise
    except SlipwayError as error:
        if isinstance(error, Denied) and error.role:
            fix = (
                "add the account that the pipeline runs as to slipway:workspace.submitters of the job's stack, and "
                "deploy it; of a template's pipeline it is its stack's trainer, or the one that the template names"
            )
            error = AuthError(error.what, why=error.why, fix=fix)
        print(error.render(), file=sys.stderr)
        sys.exit(error.exit_code)


def _number(text: str) -> float:
    """Read a number; a whole one is an int, though a pipeline may write it with a point."""
    value = float(text)
    return int(value) if value.is_integer() else value
