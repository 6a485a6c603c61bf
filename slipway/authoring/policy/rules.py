"""The rules that a policy may require of a stack. The stack file's types have already checked a rule's setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from slipway.authoring.policy.rule import ADVISORY, MANDATORY, Breach, DeclaredStack, Rule, in_offers
from slipway.base.errors import PolicyError
from slipway.base.formatting import exact_span, join
from slipway.model.capacity import SPOT
from slipway.model.catalog.clusters import Pool
from slipway.model.cluster import IN_PLACE
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.prices import Price, dollars
from slipway.model.rules.rule import mapping, seconds
from slipway.model.season import moment_in_words

_EVERYBODY = ("allUsers", "allAuthenticatedUsers")
# The roles that Workspace grants, and no others (P5).
ROLES = ("aiplatform.user", "cloudquotas.viewer", "monitoring.viewer", "logging.viewer")


def crowd(member: str) -> str:
    """Describe a member that stands for everybody somewhere; else empty."""
    prefix, _, rest = member.partition(":")
    if prefix == "domain":
        return f"everybody with an account in {rest}"
    if prefix == "principalSet" and rest.endswith("/*"):
        return f"everybody and everything that the identity pool {rest.split('/')[-2]} lets in"
    return ""


def _among(allowed: Sequence[str]) -> str:
    return f"allowed are {join(allowed) or 'none'}"


def _regions(subject: DeclaredStack, allowed: Sequence[str]) -> Iterator[Breach]:
    if subject.catalog.region not in allowed:
        yield f"region {subject.catalog.region}", _among(allowed)
    for which, option in subject.options:
        if option.region and option.region not in allowed:
            yield f"cluster {option.name}{which}", f"{option.region}, {_among(allowed)}"
    for region in subject.catalog.work_elsewhere or ():
        if region not in (*allowed, *(option.region for _, option in subject.options)):
            yield "jobs on machines of their own", f"may run in {region}, {_among(allowed)}"


def _machines(subject: DeclaredStack, allowed: Sequence[str]) -> Iterator[Breach]:
    def fits(type_: str) -> bool:
        return any(fnmatchcase(type_, pattern) for pattern in allowed)

    for which, option in subject.options:
        for pool in option.pools:
            if not fits(pool.machine.type):
                yield f"pool {option.name}/{pool.name}{which}", f"{pool.machine.type}, {_among(allowed)}"
    yield from in_offers(
        (template, offer, f"{worker.machine.type}, {_among(allowed)}")
        for template, offer, request in subject.requests
        for worker in request.workers
        if not (offer.cluster or offer.dormant) and not fits(worker.machine.type)
    )


def _idle_cost(subject: DeclaredStack, most: float) -> Iterator[Breach]:
    return _too_dear(_costs(subject, lambda pool: pool.min), most, "{} at its smallest")


def _most_cost(subject: DeclaredStack, most: float) -> Iterator[Breach]:
    return _too_dear(_costs(subject, lambda pool: pool.max), most, "up to {}")


def _costs(subject: DeclaredStack, machines: Callable[[Pool], int]) -> Iterator[tuple[Price, str]]:
    """Yield the costs of all clusters that exist at once, with the date of their beginning as text. Each cluster counts
    as its dearest configuration, which is said; adopted ones are paid for by their owners."""
    for begins, clusters in subject.catalog.at_once:
        cost = own = Price()
        for cluster in (cluster for cluster in clusters if not cluster.adopted):
            options = [[pool.price_per_hour * machines(pool) for pool in option.pools] for option in cluster.options]
            own += sum(options[0], Price())
            cost += max((sum(option, Price()) for option in options), key=lambda price: price.known)
        dearest = " with its dearest alternatives" if cost.known > own.known else ""
        yield cost, f"{f' from {moment_in_words(begins)} on' if begins else ''}{dearest}"


def _too_dear(costs: Iterable[tuple[Price, str]], most: float, words: str) -> Iterator[Breach]:
    price, when = max(costs, key=lambda cost: cost[0].known)
    if price.known > Decimal(str(most)):
        told = f"{words.format(dollars(price))}{when}"
        yield "the stack", f"{told}, at most ${most:,.2f}/h is allowed"


def _protection(subject: DeclaredStack) -> Iterator[Breach]:
    for cluster in subject.clusters:
        if cluster.replacement == IN_PLACE:
            yield f"cluster {cluster.name}", "in-place deletes it before its successor is there; use rollover"


def _headroom(subject: DeclaredStack, percent: float) -> Iterator[Breach]:
    for line in subject.facts.quota.lines.values():
        if line.limit is None or line.limit < 0 or line.of_offers:
            continue
        if line.ceiling * (100 + percent) > line.limit * 100:
            yield f"quota {line.key}", f"pools take {line.ceiling:,} of {line.limit:,} at most; keep {percent:g} % free"


def _labels(subject: DeclaredStack, required: Sequence[str]) -> Iterator[Breach]:
    """Yield clusters that lack required labels, except adopted ones, whose labels are their owner's."""
    for cluster in subject.clusters:
        missing = [label for label in required if not cluster.labels.get(label)]
        if missing and not cluster.adopted:
            yield f"cluster {cluster.name}", f"label {join(missing)} is missing"


def _digests(subject: DeclaredStack) -> Iterator[Breach]:
    yield from in_offers(
        (template, offer, f"image {image} is not pinned by digest; write NAME@sha256:…")
        for template, offer, request in subject.requests
        for worker in request.workers
        if (image := str(worker.code.get("imageUri") or worker.code.get("executorImageUri") or ""))
        and "@sha256:" not in image
    )


def _own_account(subject: DeclaredStack) -> Iterator[Breach]:
    trainer = subject.catalog.trainer
    yield from in_offers(
        (
            template,
            offer,
            f"runs as {trainer}, the stack's account; give the template a trainer or service_account of its own",
        )
        for template, offer, request in subject.requests
        if request.spec.get("serviceAccount", trainer) == trainer
    )


def _cmek(subject: DeclaredStack) -> Iterator[Breach]:
    if subject.facts.kms_key == "":
        yield "the stack's buckets", f"no encryption.kmsKey under {subject.catalog.origin.key('slipway:workspace')}"
    yield from (
        (f"cluster {cluster.name}", "no encryption.kmsKey") for cluster in subject.clusters if not cluster.kms_key
    )
    yield from in_offers(
        (template, offer, "no key of your own: that of its cluster, or of slipway:workspace on machines of its own")
        for template, offer, _ in subject.requests
        if not mapping(offer.request.get("encryptionSpec")).get("kmsKeyName")
    )


def _nothing_public(subject: DeclaredStack) -> Iterator[Breach]:
    for member in subject.facts.people:
        if member in _EVERYBODY or crowd(member):
            yield f"submitter {member}", "it stands for a crowd; name people or a group"


def _roles(subject: DeclaredStack) -> Iterator[Breach]:
    for member, roles in subject.facts.submitters.items():
        above = [role for role in roles.values() if role.removeprefix("roles/") not in ROLES]
        if above:
            yield f"submitter {member}", f"{join(above)} is more than submitting needs"


def _checkpoints(subject: DeclaredStack) -> Iterator[Breach]:
    for template in subject.catalog.templates.values():
        if not template.checkpoints and any(offer.capacity_type == SPOT for offer in template.offers):
            yield f"template {template.name}", "is offered on Spot machines and does not say checkpoints=True"


def _timeout(subject: DeclaredStack, hours: float) -> Iterator[Breach]:
    mends = {PIPELINE_JOB.name: "a pipeline can't have a timeout: allow as much, or leave the template out"}
    ran = (
        (template, offer, seconds(request.scheduling.get("timeout")) or 7 * 24 * 3600.0)
        for template, offer, request in subject.requests
    )
    most = f"at most {exact_span(hours * 3600)} are allowed"
    yield from in_offers(
        (template, offer, f"may run {exact_span(longest_s)}, {most}; {mends.get(offer.kind, 'set timeout_s')}")
        for template, offer, longest_s in ran
        if longest_s > hours * 3600
    )


def _no_code(subject: DeclaredStack) -> Iterator[Breach]:
    if subject.facts.code:
        yield (
            f"{subject.catalog.origin.key('slipway:workspace.code')} is true",
            "people may run what nobody has reviewed; leave it out",
        )


RULES = (
    Rule("regions", "Clusters and jobs are in these regions.", _regions, "regions", "[us-central1, europe-west4]"),
    Rule("machines", "Pools and jobs have these machines (* and ? as in file names).", _machines, "names", '["n1-*"]'),
    Rule("idleCost", "At its smallest the stack costs at most so many USD an hour.", _idle_cost, "amount", 120),
    Rule("mostCost", "At its largest the stack costs at most so many USD an hour.", _most_cost, "amount", 500),
    Rule("protection", "No cluster is deleted before its successor is there.", _protection),
    Rule("quotaHeadroom", "At their maximum, pools leave so many per cent of that free.", _headroom, "amount", 20),
    Rule("labels", "Each cluster has these labels.", _labels, "names", "[team, cost-center]"),
    Rule("imagesByDigest", "Container and executor images are pinned by digest.", _digests),
    Rule("ownServiceAccount", "Each template runs as an account of its own, not as everybody's trainer.", _own_account),
    Rule("cmek", "Buckets, clusters and jobs are encrypted with a key of your own.", _cmek),
    Rule("nothingPublic", "Nobody submits who is not named: no `domain:`, nothing public.", _nothing_public),
    Rule("submitterRoles", "Submitters have the roles that submitting needs, and no others.", _roles),
    Rule("spotCheckpoints", "What is offered on Spot machines goes on from checkpoints.", _checkpoints),
    Rule("longestTimeout", "A job is ended after at most so many hours.", _timeout, "hours", 48),
    Rule("reviewedCodeOnly", "`submit --code` is not allowed.", _no_code),
)
BY_KEY: dict[str, Rule] = {rule.key: rule for rule in RULES}


_OF_LEVEL = {MANDATORY: KINDS["policy-violated"], ADVISORY: KINDS["policy-advice"]}


def violations(facts: Facts) -> tuple[Finding, ...]:
    """Return every breach of the rules that the facts name in `policy`, the mandatory ones first. A finding's subject
    is named after the rule's key.

    A rule unknown to this version can't be shown to hold: it counts as broken.
    """
    stack = DeclaredStack(facts)
    return tuple(
        # Frozen: approvals recognise a breach by its words up to a colon, as of `user:ada@acme.example`.
        kind.of(Subject("policy", key, what.partition(":")[0]), f"{what}: {how}", field=f"slipway:policy.{level}.{key}")
        for level, kind in _OF_LEVEL.items()
        for key, setting in facts.policy.get(level, {}).items()
        for what, how in _breaches(key, stack, setting)
    )


def sentence(finding: Finding) -> str:
    """Return the sentence with the broken rule: `cluster h100: label team is missing [advisory policy labels]`."""
    level = MANDATORY if finding.grade is Grade.BLOCKING else ADVISORY
    return f"{finding.sentence} [{level} policy {finding.subject.name}]"


def refuse(findings: tuple[Finding, ...]) -> None:
    """Raise PolicyError when a mandatory rule is broken."""
    broken = [f"{finding.sentence} [{finding.subject.name}]" for finding in findings if finding.grade is Grade.BLOCKING]
    if broken:
        raise PolicyError(
            f"the stack breaks {len(broken)} of its own mandatory rules, so nothing was changed",
            why="\n".join(broken),
            fix="change what breaks the rule, or the rule, which is reviewed too",
        )


def _breaches(key: str, stack: DeclaredStack, setting: Any) -> Iterable[Breach]:
    """Yield a rule's breaches. A program under review may give a rule anything."""
    rule = BY_KEY.get(key)
    if rule is None:
        return ((f"unknown rule {key}", "this version of slipway can't check it"),)
    try:
        if rule.takes == "switch":
            return tuple(rule.check(stack)) if setting else ()
        return tuple(rule.check(stack, setting))
    except (ArithmeticError, AttributeError, TypeError, ValueError) as problem:
        return ((f"setting {setting!r} of {rule.key}", f"this version of slipway can't check it ({problem})"),)
