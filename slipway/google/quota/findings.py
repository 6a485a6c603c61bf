"""Findings of a quota verdict: pools and offers that do not fit now or later, and unknown limits.

`mended_by`, a fact of theirs: sets of metrics, of which any one mends the finding once more of all in it is granted.
`way_out`, of unknown limits: how they can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slipway.base.formatting import few, join
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import RUNNING_STATES
from slipway.google.live import Increase, QuotaLimit, Unknown
from slipway.google.quota.increases import quota_of, requested
from slipway.google.quota.metrics import Need, label, rank
from slipway.google.quota.report import UNKNOWN, OfferDraw, OfferVerdict, QuotaRow
from slipway.google.quota.usage import Grounds, usage
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import NAME_LABEL

UNAVAILABLE = KINDS["offer-unavailable"]


def shortages(grounds: Grounds, lines: Iterable[QuotaRow]) -> Iterator[Finding]:
    """Find the quota that this deployment draws and does not get."""
    for line in lines:
        if line.short and line.limit is not None:
            created = sum(line.created.values())
            yield KINDS["quota-short-now"].of(
                Subject("quota", line.metric),
                f"quota {line.metric} in {line.region} is short by {line.short:,}: creating "
                f"{', '.join(sorted(line.created))} needs {created:,}, limit {line.limit:,}, "
                f"used {line.limit + line.short - created:,}",
                _fix(grounds, line, line.limit + line.short),
                mended_by=(frozenset({line.metric}),),
            )


def _fix(grounds: Grounds, line: QuotaRow, enough: int) -> str:
    """Return the ways out of a shortage: what the stack itself can give up, and a request for more."""
    live = grounds.live
    clusters = () if isinstance(live.clusters, Unknown) else live.clusters
    ours = live.catalog.clusters.values() if isinstance(live.catalog, PublishedCatalog) else ()
    replaced = sorted(
        cluster.id
        for cluster in clusters
        # Other stacks may use the same name for theirs.
        if cluster.id in ours and cluster.labels.get(NAME_LABEL) in line.created and cluster.state in RUNNING_STATES
    )
    fixes = []
    if replaced:
        fixes.append(f"revert the edit (the new generation needs its machines beside those of {join(replaced)})")
    # Waiting alone frees nothing: an old generation goes with a deployment, and this one is refused.
    leaving = tuple(cluster for cluster in clusters if cluster.id in grounds.old and cluster.id not in replaced)
    freed = usage(leaving, (), old=grounds.old).old.get(line.metric, 0)
    if freed >= line.short:
        names = join(sorted(cluster.id for cluster in leaving))
        fixes.append(f"deploy without this edit first, which deletes {names} once no job needs that")
    fixes.append("lower `replicas`")
    if line.increase is Increase.FIXED:
        return f"{', or '.join(fixes)}: {line.increase}"
    id_ = quota_of(live, line.metric)
    ask = f"ask for a limit of {enough:,}" + (f" (quota id {id_})" if id_ else "")
    hope = requested(live, line.metric, enough) or line.increase
    return ", or ".join([*fixes, f"{ask}: {hope}" if hope else ask])


def unreachable_maxima(lines: Iterable[QuotaRow]) -> Iterator[Finding]:
    for line in lines:
        if line.at_most and not line.short:
            others = f" ({line.others:,} are used by others)" if line.others else ""
            yield KINDS["quota-short-at-most"].of(
                Subject("quota", line.metric),
                f"quota {line.metric} in {line.region}: {few(line.drawn)} would draw {line.ceiling:,} at the maximum, "
                f"{line.most.room:,} can be had{others}: {line.at_most}",
                mended_by=(frozenset({line.metric}),),
            )


def unknown_limits(grounds: Grounds) -> Iterator[Finding]:
    """Find the reasons why it is unknown whether the present draw fits."""
    yield from _unknown(grounds, grounds.shares)
    for what, part in (("clusters", grounds.live.clusters), ("jobs", grounds.live.jobs)):
        if isinstance(part, Unknown) and not grounds.live.skipped:
            yield UNKNOWN.of(Subject("quota", what), f"cannot tell what quota the {what} use: {part}")


def unknown_offers(grounds: Grounds) -> Iterator[Finding]:
    """Find the reasons why it is unknown whether offers have quota."""
    return _unknown(grounds, (need.metric for _, needs in grounds.draws for need in needs))


def _unknown(grounds: Grounds, metrics: Iterable[str]) -> Iterator[Finding]:
    for metric in metrics:
        limit = grounds.limit(metric)
        if isinstance(limit, str) and not grounds.unchecked(metric):
            sentence = f"cannot tell whether quota in {grounds.region} suffices: {limit}"
            unread = grounds.live.limits
            fix = unread.fix if isinstance(unread, Unknown) and not grounds.live.skipped else ""
            yield UNKNOWN.of(Subject("quota", grounds.region), sentence, way_out=fix)


def unchecked_draws(grounds: Grounds) -> Iterator[Finding]:
    """Find draws that are not checked, or not counted."""
    for metric in filter(grounds.unchecked, grounds.shares):
        sentence = f"{label(metric)} are not checked: the service lists no quota {metric}"
        yield UNKNOWN.of(Subject("quota", metric), sentence)
    for cluster in grounds.current:
        for pool in cluster.spec.pools:
            if pool.machine.disk.type == "hyperdisk-balanced":
                name = f"{cluster.spec.name}/{pool.name}"
                sentence = f"pool {name}: disks are not checked: no quota of hyperdisks is known"
                yield UNKNOWN.of(Subject("pool", name), sentence)
    for sentence in grounds.usage.uncounted if grounds.usage else ():
        yield UNKNOWN.of(Subject("quota"), sentence)


def stranded_templates(grounds: Grounds, offers: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[Finding]:
    for template, by_label in offers.items():
        if any(verdict.available or verdict.dormant or verdict.unread for verdict in by_label.values()):
            continue
        reasons = "; ".join(f"{label}: {verdict.why}" for label, verdict in by_label.items())
        yield KINDS["no-offer-left"].of(
            Subject("template", template),
            f"template {template} can't run by any of its capacity types: {reasons}",
            # For each offer the metrics that it lacks: any one offer would do.
            mended_by=tuple(
                frozenset(need.metric for need in needs if grounds.lacking(need))
                for draw, needs in grounds.draws
                if draw.template == template and by_label[draw.label].lacks_quota
            ),
        )


def draws_by_metric(grounds: Grounds) -> list[tuple[str, list[tuple[OfferDraw, Need]]]]:
    """Return the draws of offers by metric, the largest of each first."""
    drawn: dict[str, list[tuple[OfferDraw, Need]]] = {}
    for draw, needs in grounds.draws:
        for need in needs:
            drawn.setdefault(need.metric, []).append((draw, need))
    return [(metric, sorted(drawn[metric], key=lambda pair: -pair[1].amount)) for metric in sorted(drawn, key=rank)]


def unavailable_offers(grounds: Grounds, verdicts: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[Finding]:
    """Find offers that lack quota, by metric, and those that are ruled out by anything but the template itself."""
    for metric, draws in draws_by_metric(grounds):
        limit = grounds.limit(metric)
        # By capacity type and template.
        lacking: dict[str, dict[str, list[int]]] = {}
        for draw, need in draws:
            if verdicts[draw.template][draw.label].lacks_quota and grounds.lacking(need):
                by_template = lacking.setdefault(draw.label.partition(" ")[0], {})
                by_template.setdefault(draw.template, []).append(need.amount)
        if lacking and isinstance(limit, QuotaLimit):
            hope = requested(grounds.live, metric, draws[0][1].amount) or limit.increase
            shortages = "; ".join(
                f"{type_} of {join(f'{template} (needs {_amounts(drawn)})' for template, drawn in by_template.items())}"
                for type_, by_template in lacking.items()
            )
            sentence = f"quota {metric} in {grounds.region}, limit {limit.limit:,}, is too little for {shortages}"
            yield UNAVAILABLE.of(
                Subject("quota", metric), f"{sentence} · {hope}" if hope else sentence, mended_by=(frozenset({metric}),)
            )
    by_reason: dict[str, dict[str, list[str]]] = {}
    for template, by_label in verdicts.items():
        for offer, verdict in by_label.items():
            if not (verdict.available or verdict.intended or verdict.lacks_quota or verdict.dormant):
                by_reason.setdefault(verdict.why, {}).setdefault(template, []).append(offer)
    for why, templates in by_reason.items():
        offers = join(f"{template} with {few(labels)}" for template, labels in templates.items())
        yield UNAVAILABLE.of(Subject("offers"), f"unavailable: {offers}: {why}", mended_by=())


def _amounts(drawn: list[int]) -> str:
    """Return `8`, or from the least to the most: `12–208`."""
    return f"{drawn[0]:,}" if drawn[0] == drawn[-1] else f"{drawn[-1]:,}–{drawn[0]:,}"
