"""Rules for a job's posted values: the effect of each difference, and its grade.

In the words, which follow "Jobs of `lora`", `{a}` and `{b}` are the values before and after, `{name}` and `{of}` are
the path's names, and `{last}` is its last part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from slipway.base.formatting import last_part, span
from slipway.model.findings.finding import Grade
from slipway.model.labels import TEAM
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.rules.templates import effects
from slipway.reviewing.rules.templates.effects import Differing, Leaf, Said

N, W, B = Grade.NOTE, Grade.WARNING, Grade.BLOCKING
_SECONDS = re.compile(r"\d+(\.\d+)?s")
_POOL, _CODE = r"pools/(?P<role>[^/]+)/", r"(code|containerSpec|pythonPackageSpec)/"


Told = Callable[[Differing], Said] | Said


@dataclass(frozen=True)
class Rule:
    """A rule. `what` is its part of a finding's key. `told`: the words where both sides have a value, and where one is
    `added` or `gone` without words of its own."""

    path: re.Pattern[str]
    kind: str
    what: str
    told: Told
    added: Said | None = None
    gone: Said | None = None

    def of(self, one: Differing, a: str, b: str) -> Said:
        """Return the words for a difference. `a` and `b`: the sides as a comment may have them; a resource's full name
        is shortened to its last part, where that differs."""
        if not isinstance(self.told, Said):
            return self.told(one)
        said = (self.added if one.before is None else self.gone if one.after is None else None) or self.told
        short = tuple(_short(leaf, side) for leaf, side in ((one.before, a), (one.after, b)))
        a, b = (a, b) if short[0] == short[1] else short
        given = {"a": a, "b": b, "name": one.name, "of": one.of, "last": last_part(one.name)}
        return Said(said.grade, said.words.format(**given), said.more.format(**given))


def _short(leaf: Leaf | None, side: str) -> str:
    text = str(leaf)
    if _SECONDS.fullmatch(text):
        return span(float(text[:-1]))
    return shown(last_part(text)) if text.startswith("projects/") else side


def _rows(kind: str, what: str, *rows: tuple[str, Told] | tuple[str, Said, Said, Said]) -> Iterator[Rule]:
    for row in rows:
        yield Rule(re.compile(row[0]), kind, what, *row[1:])


_TO_THE_END = "make all their trials, with progress or without"
RULES: tuple[Rule, ...] = (
    *_rows("machines-changed", "machines", (f"{_POOL}machines", effects.machines)),
    *_rows("machines-changed", "pools", ("pools", Said(N, "run on pools {b} of their cluster instead of {a}"))),
    *_rows(
        "reservation-changed",
        "reservation",
        (
            f"{_POOL}reservation",
            Said(W, "take machines from reservation {b} instead of {a}"),
            Said(W, "take machines from reservation {b}"),
            Said(B, "take no machines from reservation {a} any more", "it stays paid, and they cost extra"),
        ),
    ),
    *_rows(
        "network-changed",
        "mounted file systems",
        (
            f"{_POOL}nfsMounts",
            Said(B, "mount {b} instead of {a}", "code that reads the old path fails"),
            Said(W, "mount {b}", "whoever writes there changes what they read"),
            Said(B, "don't mount {a} any more", "code that reads there fails"),
        ),
    ),
    *_rows("image-changed", "image", (f"{_POOL}containerSpec/imageUri", effects.image)),
    *_rows("executor-image-changed", "executor image", (f"{_POOL}pythonPackageSpec/executorImageUri", effects.image)),
    *_rows("arguments-changed", "arguments", (f"{_POOL}{_CODE}args", effects.arguments)),
    *_rows("arguments-changed", "command", (f"{_POOL}{_CODE}command", effects.command)),
    *_rows("code-changed", "package", (f"{_POOL}{_CODE}packageUris", Said(W, "run the code of {b} instead of {a}"))),
    *_rows("arguments-changed", "module", (f"{_POOL}{_CODE}pythonModule", effects.module)),
    *_rows("secrets-changed", "secret", (f"{_POOL}{_CODE}env/(?P<name>.+)__SECRET", effects.secret)),
    *_rows("environment-changed", "environment variable", (f"{_POOL}{_CODE}env/(?P<name>.+)", effects.variable)),
    *_rows("account-changed", "service account", ("spec/serviceAccount", effects.account)),
    *_rows("timeout-changed", "timeout", ("spec/scheduling/timeout", effects.timeout)),
    *_rows(
        "scheduling-changed",
        "scheduling",
        (
            "spec/scheduling/(?P<name>disableRetries)",
            Said(W, "aren't tried again after an error of the service"),
            Said(W, "aren't tried again after an error of the service"),
            Said(N, "are tried again after an error of the service"),
        ),
        (
            "spec/scheduling/(?P<name>restartJobOnWorkerRestart)",
            Said(W, "start again on all machines when one of them does"),
            Said(W, "start again on all machines when one of them does"),
            Said(W, "don't start again on all machines when one of them does"),
        ),
        ("spec/scheduling/(?P<name>maxWaitDuration)", Said(W, "wait up to {b} for their machines instead of {a}")),
        ("spec/scheduling/(?P<name>.+)", Said(W, "are scheduled by {b} instead of {a}")),
    ),
    *_rows(
        "network-changed",
        "network",
        (
            "spec/(?P<name>network)",
            Said(B, "run in network {b} instead of {a}", "what only the old one reaches is out of reach"),
            Said(W, "run in network {b}", "nobody looked whether what they download is within its reach"),
            Said(B, "leave network {a}", "what only that reaches is out of reach"),
        ),
        (
            "spec/(?P<name>reservedIpRanges|pscInterfaceConfig.*)",
            Said(W, "reach private networks through {b} instead of {a}"),
            Said(W, "reach private networks through {b}"),
            Said(B, "don't reach private networks through {a} any more"),
        ),
    ),
    *_rows(
        "web-access-changed",
        "access to running jobs",
        (
            "spec/(?P<name>enableWebAccess)",
            Said(B, "open a shell to whoever may see them", "it runs commands with all that their account may do"),
            Said(B, "open a shell to whoever may see them", "it runs commands with all that their account may do"),
            Said(W, "don't open a shell any more while they run"),
        ),
        (
            "spec/(?P<name>enableDashboardAccess)",
            Said(B, "open their dashboard to whoever may see them"),
            Said(B, "open their dashboard to whoever may see them"),
            Said(W, "don't open their dashboard any more"),
        ),
    ),
    *_rows(
        "metrics-changed",
        "metrics",
        *(
            (
                f"spec/(?P<name>{name})",
                Said(N, f"log to {what} {{b}} instead of {{a}}"),
                Said(N, f"log to {what} {{b}}"),
                Said(N, f"don't log to {what} {{a}} any more"),
            )
            for name, what in (("experiment", "experiment"), ("experimentRun", "run"), ("tensorboard", "TensorBoard"))
        ),
    ),
    *_rows(
        "encryption-changed",
        "encryption key",
        (
            "encryptionSpec.*",
            Said(W, "are encrypted with key {b} instead of {a}", "nobody looked whether Vertex AI may use it"),
            Said(W, "are encrypted with key {b}", "nobody looked whether Vertex AI may use it"),
            Said(B, "aren't encrypted with {a} any more, but with Google's own key"),
        ),
    ),
    *_rows(
        "study-changed",
        "study",
        ("(?P<name>studySpec/metrics/(?P<of>[^/]+)/.+)", effects.goal),
        *(
            (
                f"(?P<name>studySpec/parameters/(?P<of>[^/]+)/{bound})",
                Said(W, f"search `{{of}}` {words} {{b}} instead of {{a}}"),
                Said(W, f"search `{{of}}` {words} {{b}}"),
                Said(W, f"don't search `{{of}}` {words} {{a}} any more"),
            )
            for bound, words in ((".+/minValue", "from"), (".+/maxValue", "up to"), (".+", "with `{last}`"))
        ),
        ("(?P<name>maxTrialCount)", Said(W, "make {b} trials instead of {a}")),
        ("(?P<name>parallelTrialCount)", Said(W, "run {b} trials at once instead of {a}")),
        *(
            (f"(?P<name>{path})", Said(W, f"{words} {{b}} instead of {{a}}"), Said(W, f"{words} {{b}}"), Said(W, gone))
            for path, words, gone in (
                ("maxFailedTrialCount", "end after failed trials:", "don't end after {a} failed trials any more"),
                ("studySpec/.+/maxNumTrialsNoProgress", "end after trials without progress:", _TO_THE_END),
                ("studySpec/.+/maxDurationNoProgress", "end when there was no progress for", _TO_THE_END),
                ("studySpec/measurementSelectionType", "judge a trial by its", "judge a trial as the service likes"),
                ("studySpec/algorithm", "search by", "search as the service likes instead of by {a}"),
            )
        ),
        (
            "(?P<name>studySpec/.+StoppingSpec.*)",
            Said(W, "end trials that look poor by another rule"),
            Said(W, "end trials early that look poor"),
            Said(W, "run all trials to their end"),
        ),
        (
            "(?P<name>studySpec.*|max.*TrialCount.*)",
            Said(W, "search with `{last}` {b} instead of {a}"),
            Said(W, "search with `{last}` {b}"),
            Said(W, "search without `{last}`, which was {a}"),
        ),
    ),
    *_rows(
        "request-changed",
        "label",
        (
            f"labels/(?P<name>{TEAM})",
            Said(W, "count for team {b} instead of {a}"),
            Said(N, "count for team {b}, whoever submits them"),
            Said(
                W,
                "don't count for team {a} any more",
                "now it is the group that may submit them, or what `--team` says",
            ),
        ),
        (
            "labels/(?P<name>.+)",
            Said(N, "have label `{name}` {b} instead of {a}, in the bill as well"),
            Said(N, "have label `{name}` {b}, in the bill as well"),
            Said(N, "don't have label `{name}` any more, which was {a}"),
        ),
    ),
    *_rows(
        "request-changed",
        "request",
        ("(?P<name>trainingTaskDefinition)", Said(N, "run by {b} instead of {a}")),
        ("(?P<name>displayName)", Said(N, "are called {b} instead of {a}")),
        (
            "spec/(?P<name>baseOutputDirectory.*)",
            Said(B, "write their results to {b} instead of {a}", "whoever looks for them there finds none"),
        ),
        (
            "(?P<name>(modelToUpload|modelId|parentModel).*)",
            Said(W, "upload a model with `{last}` {b} instead of {a}", "who serves it gets another"),
            Said(W, "upload a model with `{last}` {b}"),
            Said(W, "upload a model without `{last}`, which was {a}", "who serves it may not find it"),
        ),
        (
            f"{_POOL}(?P<name>place)",
            Said(W, "have a worker pool at place {b} instead of {a}", "its replicas know themselves by that"),
        ),
        (f"{_POOL}(?P<name>launcher)", Said(N, "are launched with {b} instead of {a}")),
    ),
    *_rows("request-changed", "role", ("role", Said(N, "have a worker pool {b} in the place of {a}"))),
)
"""Every path that this version posts."""
_AS_IT_STANDS = Said(N, "are asked for with `{name}` {b} instead of {a}")
OTHER = tuple(
    _rows("request-changed", "request", (f"{_POOL}(?P<name>.+)", _AS_IT_STANDS), ("(?P<name>.+)", _AS_IT_STANDS))
)
"""The rule for paths of another version, or of a custom program."""
