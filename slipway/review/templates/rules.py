"""Rules for what is posted for a job: what follows from each value that differs, and how grave that is.

In the words, which follow "Jobs of `lora`", `{a}` and `{b}` are the values before and after, `{name}` and `{of}` are
what the path names, and `{last}` is its last part.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from slipway.findings.finding import Grade
from slipway.review.templates import effects
from slipway.review.templates.effects import Differing, Said

N, W, B = Grade.NOTE, Grade.WARNING, Grade.BLOCKING
_POOL, _CODE = r"pools/(?P<role>[^/]+)/", r"(code|containerSpec|pythonPackageSpec)/"


@dataclass(frozen=True)
class Rule:
    """`what` is its part of a finding's key. `changed`, `added` and `gone` by what is there on each side; `told` where
    that takes more than words."""

    path: re.Pattern[str]
    kind: str
    what: str
    changed: Said
    added: Said
    gone: Said
    told: Callable[[Differing], Said] | None = None

    def of(self, one: Differing, a: str, b: str) -> Said:
        """`a` and `b`: the sides as a comment may have them."""
        if self.told:
            return self.told(one)
        said = self.added if one.before is None else self.gone if one.after is None else self.changed
        given = {"a": a, "b": b, "name": one.name, "of": one.of, "last": one.name.rpartition("/")[2]}
        return Said(said.grade, said.words.format(**given), said.more.format(**given))


def _row(
    path: str,
    kind: str,
    what: str,
    told: Callable[[Differing], Said] | Said,
    added: Said | None = None,
    gone: Said | None = None,
) -> Rule:
    """Without `added` or `gone` those are told as what changes."""
    if not isinstance(told, Said):
        return Rule(re.compile(path), kind, what, Said(N, ""), Said(N, ""), Said(N, ""), told)
    return Rule(re.compile(path), kind, what, told, added or told, gone or told)


RULES: tuple[Rule, ...] = (
    _row(f"{_POOL}machines", "machines-changed", "machines", effects.machines),
    _row("pools", "machines-changed", "pools", Said(N, "run on pools {b} of their cluster instead of {a}")),
    _row(
        f"{_POOL}reservation",
        "reservation-changed",
        "reservation",
        Said(W, "take machines from reservation {b} instead of {a}", "what that holds stays paid"),
        Said(W, "take machines from reservation {b}"),
        Said(B, "take no machines from reservation {a} any more", "it stays paid, and they cost extra"),
    ),
    _row(
        f"{_POOL}nfsMounts",
        "network-changed",
        "mounted file systems",
        Said(B, "mount {b} instead of {a}", "code that reads the old path fails"),
        Said(W, "mount {b}", "whoever writes there changes what they read"),
        Said(B, "don't mount {a} any more", "code that reads there fails"),
    ),
    _row(f"{_POOL}containerSpec/imageUri", "image-changed", "image", effects.image),
    _row(f"{_POOL}pythonPackageSpec/executorImageUri", "executor-image-changed", "executor image", effects.image),
    _row(f"{_POOL}{_CODE}args", "arguments-changed", "arguments", effects.arguments),
    _row(f"{_POOL}{_CODE}command", "arguments-changed", "command", effects.command),
    _row(f"{_POOL}{_CODE}packageUris", "code-changed", "package", Said(W, "run the code of {b} instead of {a}")),
    _row(f"{_POOL}{_CODE}pythonModule", "arguments-changed", "module", effects.module),
    _row(f"{_POOL}{_CODE}env/(?P<name>.+)__SECRET", "secrets-changed", "secret", effects.secret),
    _row(f"{_POOL}{_CODE}env/(?P<name>.+)", "environment-changed", "environment variable", effects.variable),
    _row("spec/serviceAccount", "account-changed", "service account", effects.account),
    _row("spec/scheduling/timeout", "timeout-changed", "timeout", effects.timeout),
    _row(
        "spec/scheduling/(?P<name>disableRetries)",
        "scheduling-changed",
        "scheduling",
        Said(W, "aren't tried again after an error of the service"),
        gone=Said(N, "are tried again after an error of the service"),
    ),
    _row(
        "spec/scheduling/(?P<name>restartJobOnWorkerRestart)",
        "scheduling-changed",
        "scheduling",
        Said(W, "start again on all machines when one of them does"),
        gone=Said(W, "don't start again on all machines when one of them does"),
    ),
    _row(
        "spec/scheduling/(?P<name>maxWaitDuration)",
        "scheduling-changed",
        "scheduling",
        Said(W, "wait up to {b} for their machines instead of {a}"),
    ),
    _row(
        "spec/scheduling/(?P<name>.+)",
        "scheduling-changed",
        "scheduling",
        Said(W, "are scheduled by {b} instead of {a}"),
    ),
    _row(
        "spec/(?P<name>network)",
        "network-changed",
        "network",
        Said(B, "run in network {b} instead of {a}", "what only the old one reaches is out of reach"),
        Said(W, "run in network {b}", "nobody looked whether what they download is within its reach"),
        Said(B, "leave network {a}", "what only that reaches is out of reach"),
    ),
    _row(
        "spec/(?P<name>reservedIpRanges|pscInterfaceConfig.*)",
        "network-changed",
        "network",
        Said(W, "reach private networks through {b} instead of {a}"),
        Said(W, "reach private networks through {b}"),
        Said(B, "don't reach private networks through {a} any more"),
    ),
    _row(
        "spec/(?P<name>enableWebAccess)",
        "web-access-changed",
        "access to running jobs",
        Said(B, "open a shell to whoever may see them", "it runs commands with all that their account may do"),
        gone=Said(W, "don't open a shell any more while they run"),
    ),
    _row(
        "spec/(?P<name>enableDashboardAccess)",
        "web-access-changed",
        "access to running jobs",
        Said(B, "open their dashboard to whoever may see them"),
        gone=Said(W, "don't open their dashboard any more"),
    ),
    _row(
        "spec/(?P<name>experiment|experimentRun|tensorboard)",
        "metrics-changed",
        "metrics",
        Said(N, "log to {b} instead of {a}"),
        Said(N, "log to {b}"),
        Said(N, "don't log to {a} any more"),
    ),
    _row(
        "encryptionSpec.*",
        "encryption-changed",
        "encryption key",
        Said(W, "are encrypted with key {b} instead of {a}", "nobody looked whether Vertex AI may use it"),
        Said(W, "are encrypted with key {b}", "nobody looked whether Vertex AI may use it"),
        Said(B, "aren't encrypted with {a} any more, but with Google's own key"),
    ),
    _row("(?P<name>studySpec/metrics/(?P<of>[^/]+)/.+)", "study-changed", "study", effects.goal),
    _row(
        "(?P<name>studySpec/parameters/(?P<of>[^/]+)/.+)",
        "study-changed",
        "study",
        Said(W, "search `{of}` with `{last}` {b} instead of {a}"),
        Said(W, "search `{of}` with `{last}` {b}"),
        Said(W, "don't search `{of}` with `{last}` {a} any more"),
    ),
    _row("(?P<name>maxTrialCount)", "study-changed", "study", Said(W, "make {b} trials instead of {a}")),
    _row("(?P<name>parallelTrialCount)", "study-changed", "study", Said(W, "run {b} trials at once instead of {a}")),
    _row(
        "(?P<name>studySpec.*|max.*TrialCount.*)",
        "study-changed",
        "study",
        Said(W, "search with `{last}` {b} instead of {a}"),
        Said(W, "search with `{last}` {b}"),
        Said(W, "search without `{last}`, which was {a}"),
    ),
    _row("labels/(?P<name>.+)", "request-changed", "request", Said(N, "have label `{name}` {b} instead of {a}")),
    _row("(?P<name>displayName)", "request-changed", "request", Said(N, "are called {b} instead of {a}")),
    _row(
        "spec/(?P<name>baseOutputDirectory.*)",
        "request-changed",
        "request",
        Said(B, "write their results to {b} instead of {a}", "whoever looks for them there finds none"),
    ),
    _row(
        "(?P<name>(modelToUpload|modelId|parentModel).*)",
        "request-changed",
        "request",
        Said(W, "upload a model with `{last}` {b} instead of {a}", "who serves it may not find it"),
        Said(W, "upload a model with `{last}` {b}"),
        Said(W, "upload a model without `{last}`, which was {a}", "who serves it may not find it"),
    ),
    _row(
        f"{_POOL}(?P<name>launcher)",
        "request-changed",
        "request",
        Said(N, "are launched with {b} instead of {a}"),
    ),
    _row("role", "request-changed", "role", Said(N, "call worker pool {a} {b}")),
)
"""Every path that this version posts."""
OTHER = (
    _row(
        f"{_POOL}(?P<name>.+)", "request-changed", "request", Said(N, "are asked for with `{name}` {b} instead of {a}")
    ),
    _row("(?P<name>.+)", "request-changed", "request", Said(N, "are asked for with `{name}` {b} instead of {a}")),
)
"""What another version, or a program of somebody's own, posts besides."""
