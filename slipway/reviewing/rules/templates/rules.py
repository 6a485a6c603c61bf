"""Rules for a job's posted values: the effect of each difference, its grade, how it ends, and what to do instead.

In the phrases, which follow "Jobs of `lora`", `{a}` and `{b}` are the values before and after, `{name}` and `{of}` are
the path's names, and `{last}` is its last part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from slipway.base.formatting import last_part
from slipway.model.findings.finding import Grade
from slipway.model.labels import TEAM
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.rules.templates import effects
from slipway.reviewing.rules.templates.effects import Differing, Says
from slipway.reviewing.rules.templates.leaves import Leaf

N, W, B = Grade.NOTE, Grade.WARNING, Grade.BLOCKING
SECONDS = re.compile(r"\d+(\.\d+)?s")
_POOL, _CODE = r"pools/(?P<role>[^/]+)/", r"(code|containerSpec|pythonPackageSpec)/"
Effect = Callable[[Differing], Says] | Says


@dataclass(frozen=True)
class Rule:
    """A rule. `what` is its part of a consequence's key. `changes`: the effect where both sides have a value, and where
    one `appears` or `goes` without an effect of its own."""

    path: re.Pattern[str]
    kind: str
    what: str
    changes: Effect
    appears: Says | None = None
    goes: Says | None = None

    def of(self, differing: Differing, a: str, b: str) -> Says:
        """Return the effect of a difference. `a` and `b`: the sides as a comment may have them; a resource's full name
        is shortened to its last part, where that differs."""
        if not isinstance(self.changes, Says):
            return self.changes(differing)
        sides = differing.before, differing.after
        says = (self.appears if sides[0] is None else self.goes if sides[1] is None else None) or self.changes
        whole = tuple(f"`{side}`" if side else "nothing" for side in (a, b))
        short = tuple(_short(leaf, side) for leaf, side in zip(sides, whole, strict=True))
        a, b = whole if short[0] == short[1] else short
        given = {"a": a, "b": b, "name": differing.name, "of": differing.of, "last": last_part(differing.name)}
        does, so, instead = (phrase.format(**given) for phrase in (says.does, says.so, says.instead))
        return Says(says.grade, does, so, instead)


def _short(leaf: Leaf | None, side: str) -> str:
    text = str(leaf)
    return shown(last_part(text)) if text.startswith("projects/") else side


def _rows(kind: str, what: str, *rows: tuple[str, Effect] | tuple[str, Effect, Says | None, Says]) -> Iterator[Rule]:
    for row in rows:
        yield Rule(re.compile(row[0], re.DOTALL), kind, what, *row[1:])


_UNREACHED = "what only that network reaches is out of reach, and code that needs it fails"
_KEY = "not known: whether Vertex AI may use it; else they fail at their start"
_DASHBOARD = Says(B, "open their dashboard to whoever may see them", "it shows what their processes do")
_POOR = "poor trials are paid to their end"
_ALL_TRIALS = Says(W, "make all their trials, with progress or without", "they are paid to the last")
_EARLY = "later trials are not made, though one of them might be better"
RULES: tuple[Rule, ...] = (
    *_rows("machines-changed", "machines", (f"{_POOL}machines", effects.machines)),
    *_rows("machines-changed", "pools", ("pools", Says(N, "run on pools {b} of their cluster instead of {a}"))),
    *_rows(
        "reservation-changed",
        "reservation",
        (
            f"{_POOL}reservation",
            Says(W, "take machines from reservation {b} instead of {a}", "the old one stays paid, used or not"),
            Says(W, "take machines from reservation {b}", "not known: whether it has room for them"),
            Says(B, "take no machines from reservation {a} any more", "it stays paid, and they cost extra", "keep it"),
        ),
    ),
    *_rows(
        "network-changed",
        "mounted file systems",
        (
            f"{_POOL}nfsMounts",
            Says(B, "mount {b} instead of {a}", "code that reads the old path fails", "mount both meanwhile"),
            Says(W, "mount {b}", "whoever writes there changes what they read"),
            Says(B, "don't mount {a} any more", "code that reads there fails", "keep it until no code reads there"),
        ),
    ),
    *_rows("image-changed", "image", (f"{_POOL}containerSpec/imageUri", effects.image)),
    *_rows("executor-image-changed", "executor image", (f"{_POOL}pythonPackageSpec/executorImageUri", effects.image)),
    *_rows("arguments-changed", "arguments", (f"{_POOL}{_CODE}args", effects.arguments)),
    *_rows("arguments-changed", "command", (f"{_POOL}{_CODE}command", effects.command)),
    *_rows("code-changed", "package", (f"{_POOL}{_CODE}packageUris", Says(W, "run the code of {b} instead of {a}"))),
    *_rows("arguments-changed", "module", (f"{_POOL}{_CODE}pythonModule", effects.module)),
    *_rows("secrets-changed", "secret", (f"{_POOL}{_CODE}env/(?P<name>.+)__SECRET", effects.secret)),
    *_rows("environment-changed", "environment variable", (f"{_POOL}{_CODE}env/(?P<name>.+)", effects.variable)),
    *_rows("account-changed", "service account", ("spec/serviceAccount", effects.account)),
    *_rows("timeout-changed", "timeout", ("spec/scheduling/timeout", effects.timeout)),
    *_rows(
        "scheduling-changed",
        "scheduling",
        ("spec/scheduling/(?P<name>disableRetries)", effects.retries),
        ("spec/scheduling/(?P<name>restartJobOnWorkerRestart)", effects.restarts),
        ("spec/scheduling/(?P<name>maxWaitDuration)", effects.wait),
        ("spec/scheduling/(?P<name>.+)", Says(W, "are scheduled by {b} instead of {a}", "not known: what follows")),
    ),
    *_rows(
        "network-changed",
        "network",
        (
            "spec/(?P<name>network)",
            Says(B, "run in network {b} instead of {a}", "what only the old one reaches is out of reach"),
            Says(W, "run in network {b}", "not known: whether what they download is within its reach; else they fail"),
            Says(B, "leave network {a}", _UNREACHED, "keep it while code needs what it reaches"),
        ),
        (
            "spec/(?P<name>reservedIpRanges|pscInterfaceConfig.*)",
            Says(W, "reach private networks through {b} instead of {a}"),
            Says(W, "reach private networks through {b}"),
            Says(B, "don't reach private networks through {a} any more", _UNREACHED),
        ),
    ),
    *_rows(
        "web-access-changed",
        "access to running jobs",
        (
            "spec/(?P<name>enableWebAccess)",
            effects.shell,
            None,
            Says(W, "don't open a shell any more while they run", "whoever looks into one by it reads logs instead"),
        ),
        (
            "spec/(?P<name>enableDashboardAccess)",
            _DASHBOARD,
            _DASHBOARD,
            Says(W, "don't open their dashboard any more", "whoever looks into one by it reads logs instead"),
        ),
    ),
    *_rows(
        "metrics-changed",
        "metrics",
        *(
            (
                f"spec/(?P<name>{name})",
                Says(N, f"log to {what} {{b}} instead of {{a}}", "earlier runs stay in {a}, apart from new ones"),
                Says(N, f"log to {what} {{b}}"),
                Says(N, f"don't log to {what} {{a}} any more", "new runs don't stand beside the earlier ones"),
            )
            for name, what in (("experiment", "experiment"), ("experimentRun", "run"), ("tensorboard", "TensorBoard"))
        ),
    ),
    *_rows(
        "encryption-changed",
        "encryption key",
        (
            "encryptionSpec.*",
            Says(W, "are encrypted with key {b} instead of {a}", _KEY, "let its service agent use {b} first"),
            Says(W, "are encrypted with key {b}", _KEY, "let its service agent use {b} first"),
            Says(B, "aren't encrypted with {a} any more, but with Google's own key", "nobody can withdraw that one"),
        ),
    ),
    *_rows(
        "study-changed",
        "study",
        ("(?P<name>studySpec/metrics(/(?P<of>[^/]+))?(/.+)?)", effects.goal),
        (
            "(?P<name>studySpec/parameters/(?P<of>[^/]+))",
            Says(W, "search `{of}` otherwise"),
            Says(W, "search `{of}` too", "code that does not know `--{of}` fails", "let the code read `--{of}`"),
            Says(W, "don't search `{of}` any more", "the code takes its own value, or fails without `--{of}`"),
        ),
        *(
            (
                f"(?P<name>studySpec/parameters/(?P<of>[^/]+)/{bound})",
                Says(W, f"search `{{of}}` {words} {{b}} instead of {{a}}", "no trial looks beyond that"),
                Says(W, f"search `{{of}}` {words} {{b}}"),
                Says(W, f"don't search `{{of}}` {words} {{a}} any more"),
            )
            for bound, words in ((".+/minValue", "from"), (".+/maxValue", "up to"), (".+", "with `{last}`"))
        ),
        ("(?P<name>maxTrialCount)", Says(W, "make {b} trials instead of {a}", "each takes its machines, and is paid")),
        (
            "(?P<name>parallelTrialCount)",
            Says(
                W,
                "run {b} trials at once instead of {a}",
                "trials at once don't learn from each other; it takes as many machines",
            ),
        ),
        *(
            (f"(?P<name>{path})", Says(W, f"{does} instead of {{a}}", so), Says(W, does, so), gone)
            for path, does, so, gone in (
                (
                    "maxFailedTrialCount",
                    "end after {b} failed trials",
                    "the study fails then, with fewer trials than asked for",
                    Says(W, "don't end after {a} failed trials any more", "trials that fail go on being paid"),
                ),
                ("studySpec/.+/maxNumTrialsNoProgress", "end after {b} trials without progress", _EARLY, _ALL_TRIALS),
                ("studySpec/.+/maxDurationNoProgress", "end when {b} brought no progress", _EARLY, _ALL_TRIALS),
                (
                    "studySpec/measurementSelectionType",
                    "judge a trial by its {b}",
                    "another trial may be the best one",
                    Says(W, "judge a trial as the service likes", "another trial may be the best one"),
                ),
                (
                    "studySpec/algorithm",
                    "search by {b}",
                    "grid and random search learn nothing from earlier trials",
                    Says(W, "search as the service likes instead of by {a}", "it learns from earlier trials"),
                ),
            )
        ),
        (
            "(?P<name>studySpec/.+StoppingSpec.*)",
            Says(W, "end trials that look poor by another rule", "not known: which trials that ends"),
            Says(W, "end trials early that look poor", "one that starts slowly may be lost", "leave `stopping` out"),
            Says(W, "run all trials to their end", _POOR, "keep `stopping`"),
        ),
        (
            "(?P<name>studySpec.*|max.*TrialCount.*)",
            Says(W, "search with `{last}` {b} instead of {a}"),
            Says(W, "search with `{last}` {b}"),
            Says(W, "search without `{last}`, which was {a}"),
        ),
    ),
    *_rows(
        "request-changed",
        "label",
        (
            f"labels/(?P<name>{TEAM})",
            Says(W, "count for team {b} instead of {a}", "they draw on its share and its budget"),
            Says(N, "count for team {b}, whoever submits them"),
            Says(
                W,
                "don't count for team {a} any more",
                "now it is the group that may submit them, or what `--team` says",
            ),
        ),
        (
            "labels/(?P<name>.+)",
            Says(N, "have label `{name}` {b} instead of {a}, in the bill as well"),
            Says(N, "have label `{name}` {b}, in the bill as well"),
            Says(N, "don't have label `{name}` any more, which was {a}", "the bill can't be taken apart by it"),
        ),
    ),
    *_rows(
        "request-changed",
        "request",
        ("(?P<name>trainingTaskDefinition)", Says(N, "run by {b} instead of {a}")),
        ("(?P<name>displayName)", Says(N, "are called {b} instead of {a}")),
        (
            "spec/(?P<name>baseOutputDirectory.*)",
            Says(
                B,
                "write their results to {b} instead of {a}",
                "whoever looks for them there finds none; earlier ones stay where they are",
            ),
        ),
        (
            "(?P<name>modelToUpload)",
            Says(W, "upload another model"),
            Says(W, "upload a model when they succeed", "without files in its folder a job fails at its end"),
            Says(
                W,
                "upload no model any more",
                "what they train stays in their output, and whoever serves it gets none",
                "keep `model`, or upload from the output by hand",
            ),
        ),
        (
            "(?P<name>(modelToUpload|modelId|parentModel).*)",
            Says(W, "upload a model with `{last}` {b} instead of {a}", "who serves it gets another"),
            Says(W, "upload a model with `{last}` {b}"),
            Says(W, "upload a model without `{last}`, which was {a}", "who serves it may not find it"),
        ),
        (
            f"{_POOL}(?P<name>place)",
            Says(W, "have a worker pool at place {b} instead of {a}", "its replicas know themselves by that"),
        ),
        (f"{_POOL}(?P<name>launcher)", Says(N, "are launched with {b} instead of {a}")),
    ),
    *_rows("request-changed", "role", ("role", Says(N, "have a worker pool {b} in the place of {a}"))),
)
"""Every path that this version posts."""
_AS_IT_STANDS = Says(N, "are asked for with `{name}` {b} instead of {a}", "no rule of Slipway's knows what follows")
OTHER = tuple(
    _rows("request-changed", "request", (f"{_POOL}(?P<name>.+)", _AS_IT_STANDS), ("(?P<name>.+)", _AS_IT_STANDS))
)
"""The rule for paths of another version, or of a custom program."""
