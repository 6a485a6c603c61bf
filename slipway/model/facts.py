"""Facts: the result of a deployment, as components publish it and a review compares it.

They are the catalog's own types, and the parts of a stack that no catalog has. As JSON they are keys and numbers
without prose, and keyed by name wherever there are several, so that an order alone is never a difference: where the
order has a meaning (a template's offers), each has its place as a number. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from slipway.base import codec
from slipway.base.codec import KEY_OF_ENTRY
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template

Fact = Mapping[str, Any]
CLUSTER, TEMPLATE = "slipway:index:Generation", "slipway:index:JobTemplate"
WORKSPACE, QUOTA, CATALOG = (f"slipway:index:{component}" for component in ("Workspace", "QuotaCheck", "Catalog"))
"""The types of the components that publish facts. Living stacks have them, so they never change."""
STACK = "stack"
"""The key of the stack's name in a catalog, and in other components where it is not the engine's."""
NAMED = "template"
"""The key of a template's own name, where its component has another one."""

# Texts for people, and values that every deployment changes without an effect on anybody.
_PROSE_OF_TEMPLATES, _PROSE_OF_OFFERS = ("summary", "codeWhy", "source"), ("why", "note")
_OF_EACH_DEPLOYMENT = ("slipway-commit", "slipway-commit-dirty")
_OFFERS, _IN = " offers", " in "


@dataclass(frozen=True)
class QuotaLine:
    """A quota metric in a region, drawn by pools or by offers."""

    key: Annotated[str, KEY_OF_ENTRY]
    state: str
    short: int
    #: The most that each draws, by cluster/pool or by template and offer.
    drawn: Mapping[str, int]
    ceiling: int
    #: -1 is unlimited, None unknown.
    limit: int | None = None

    @staticmethod
    def key_of(metric: str, region: str, *, of_offers: bool) -> str:
        """Return the key that tells it from others. Frozen: living stacks have it."""
        return f"{metric}{_OFFERS}" if of_offers else f"{metric}{_IN}{region}" if region else metric

    @property
    def metric(self) -> str:
        return self.key.partition(" ")[0]

    @property
    def region(self) -> str:
        """The region; empty for the stack's own."""
        return self.key.partition(_IN)[2]

    @property
    def of_offers(self) -> bool:
        return self.key.endswith(_OFFERS)


@dataclass(frozen=True)
class QuotaFacts:
    """The result of the quota check."""

    region: str
    mode: str
    strict: bool
    lines: Mapping[str, QuotaLine] = field(default_factory=dict)
    #: The limits that the stack asks for, by metric; None where it asks for none.
    requests: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Kept:
    """A cluster, an account or a bucket that is no longer declared and stays for now."""

    #: A cluster's id, or the name of the others.
    id: Annotated[str, KEY_OF_ENTRY]
    kind: str
    #: A cluster's name, or catalog, work or trainer.
    role: str
    #: The reason, as `slipway.deploying.generations.action` names it.
    retiring: str
    #: Display names by name.
    jobs: Mapping[str, str] = field(default_factory=dict)
    overdue: bool = False


@dataclass(frozen=True)
class TrainerFacts:
    """A trainer that templates choose by name."""

    name: Annotated[str, KEY_OF_ENTRY]
    account: str
    #: By member, the role that lets them act as the trainer.
    submitters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """The facts of a stack."""

    catalog: Catalog
    #: By member, the roles on the project by their purpose; their trainer is the workspace's.
    submitters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    code: bool = False
    #: The key of the buckets that the stack makes, empty for Google's own; None where it makes none.
    kms_key: str | None = None
    quota: QuotaFacts = field(default_factory=lambda: QuotaFacts("", "", strict=False))
    #: By level, the stack file's setting of each rule.
    policy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    kept: Mapping[str, Kept] = field(default_factory=dict)
    trainers: Mapping[str, TrainerFacts] = field(default_factory=dict)
    #: Names of buckets that somebody else made.
    adopted: frozenset[str] = frozenset()
    #: Members whose grants are no longer declared and stay, with the stacks that need them; none where not known.
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Names of templates that the stack lists and that can't be loaded, packed or compiled.
    unloaded: frozenset[str] = frozenset()

    @property
    def people(self) -> tuple[str, ...]:
        """The members who may submit something, as any trainer."""
        of_trainers = (member for trainer in self.trainers.values() for member in trainer.submitters)
        return tuple(dict.fromkeys((*self.submitters, *of_trainers)))

    @property
    def with_submitters(self) -> Catalog:
        """The catalog with who may submit as which account."""
        of_trainers = {trainer.account: tuple(trainer.submitters) for trainer in self.trainers.values()}
        return replace(self.catalog, submitters={self.catalog.trainer: tuple(self.submitters), **of_trainers})

    @cached_property
    def clusters(self) -> Mapping[str, Fact]:
        """The clusters that components declare, by id: the current ones, and the retiring."""
        current = {
            cluster.id: {"cluster": cluster.name, **codec.write(cluster)} for cluster in self.catalog.clusters.values()
        }
        return {**current, **{kept.id: _kept(kept) for kept in self.kept.values() if kept.kind == "cluster"}}

    @cached_property
    def templates(self) -> Mapping[str, Fact]:
        return {name: _template(template) for name, template in self.catalog.templates.items()}

    @property
    def workspace(self) -> Fact:
        catalog = self.catalog
        return {
            "catalog": catalog.catalog_bucket,
            "work": catalog.work_bucket,
            "trainer": catalog.trainer,
            "code": self.code,
            "submitters": {member: dict(roles) for member, roles in self.submitters.items()},
            "retiring": {kept.id: _kept(kept) for kept in self.kept.values() if kept.kind != "cluster"},
            **({} if self.kms_key is None else {"kmsKey": self.kms_key}),
            **codec.given(
                workElsewhere=catalog.work_elsewhere,
                trainers={name: codec.write(trainer) for name, trainer in self.trainers.items()},
                adopted=dict.fromkeys(sorted(self.adopted), True),
                shared={member: list(stacks) for member, stacks in self.shared.items()},
            ),
        }

    @property
    def quota_check(self) -> Fact:
        return codec.write(self.quota)

    @property
    def checks(self) -> Fact:
        """The facts that a deployment is held to, and that no catalog has."""
        return {"policy": self.policy, "mode": self.quota.mode, "strict": self.quota.strict}

    @property
    def published(self) -> Fact:
        """The facts of the catalog beside its clusters and templates, which are named."""
        catalog, written = self.catalog, codec.write(self.catalog)
        always = ("stack", "pulumiProject", "project", "region", "commit", "dirty", "confirmAbove")
        if_any = ("teams", "budget", "agents", "board", "shell", "urgent", "shares", "notify", "sessions", "program")
        others = ("dormant", "otherRegions", "formerRegions", "reservations")
        return {
            **{key: written[key] for key in always if key in written},
            "clusters": {name: cluster.id for name, cluster in catalog.clusters.items()},
            "retiring": {kept.id: kept.role for kept in self.kept.values() if kept.kind == "cluster"},
            "templates": {name: template.package or template.image for name, template in catalog.templates.items()},
            "policy": self.policy,
            **codec.given(**{key: written.get(key) for key in (*if_any, *others)}),
            **codec.given(unloaded=dict.fromkeys(sorted(self.unloaded), True)),
        }


def by_stack(components: Iterable[tuple[str, str, Fact]]) -> Mapping[str, Sequence[tuple[str, str, Fact]]]:
    """Return the components of each stack by its name, of which a program may have several: one for each catalog, which
    knows its clusters. A component that names no stack is of any, but for a workspace that is taken out."""
    known = [each for each in components if each[0] != WORKSPACE or each[2]]
    stacks = sorted({str(inputs.get(STACK)) for type_, _, inputs in known if type_ == CATALOG})
    return {
        stack: [(type_, name, inputs) for type_, name, inputs in known if inputs.get(STACK, stack) == stack]
        for stack in stacks
    }


def read(components: Iterable[tuple[str, str, Fact]], published: Catalog | None = None) -> Facts | None:
    """Read published components: type, logical name and inputs of each. None where they are not all there: the
    catalog's names the others, and is told beside them, so that a preview may end between two.
    `published`, if given, replaces their clusters and templates. Raises codec.MalformedError."""
    try:
        of_type: dict[str, dict[str, Fact]] = {}
        for type_, name, inputs in sorted(components, key=lambda component: component[:2]):
            of_type.setdefault(type_, {})[name] = inputs
        declared, workspace, quota = (
            next(iter(of_type.get(component, {}).values()), None) for component in (CATALOG, WORKSPACE, QUOTA)
        )
        if declared is None or workspace is None:
            return None
        # The events of a refused preview still have what it would delete, and the catalog's component does not name it.
        listed = {*declared["clusters"].values(), *declared["retiring"]}
        clusters = [inputs for inputs in of_type.get(CLUSTER, {}).values() if inputs["id"] in listed]
        named = {fact.get(NAMED, name): fact for name, fact in of_type.get(TEMPLATE, {}).items()}
        templates = {name: fact for name, fact in named.items() if name in declared["templates"]}
        there = {inputs["id"] for inputs in clusters}
        if published is None and not (listed <= there and declared["templates"].keys() <= templates.keys()):
            return None
        retiring = {inputs["id"]: inputs for inputs in clusters if "retiring" in inputs}
        retiring |= workspace.get("retiring", {})
        return Facts(
            catalog=published or _catalog(declared, workspace, clusters, templates),
            submitters=_by_two_keys(workspace.get("submitters", {}), "submitters"),
            code=bool(workspace.get("code")),
            kms_key=workspace.get("kmsKey"),
            quota=codec.read(QuotaFacts, quota) if quota else QuotaFacts("", "", strict=False),
            policy=_by_two_keys(declared.get("policy", {}), "policy"),
            kept={id_: codec.read(Kept, {"kind": "cluster", **entry}, id_) for id_, entry in retiring.items()},
            trainers={
                name: codec.read(TrainerFacts, trainer, name) for name, trainer in workspace.get("trainers", {}).items()
            },
            adopted=frozenset(workspace.get("adopted", {})),
            shared={member: tuple(stacks) for member, stacks in workspace.get("shared", {}).items()},
            unloaded=frozenset(declared.get("unloaded", {})),
        )
    except codec.MalformedError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as problem:  # A component may publish anything.
        raise codec.MalformedError(f"{type(problem).__name__}: {problem}") from problem


def _by_two_keys(body: Any, key: str) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(body, Mapping) or not all(isinstance(entry, Mapping) for entry in body.values()):
        raise codec.malformed(body, "a mapping of mappings", key)
    return body


def _catalog(declared: Fact, workspace: Fact, clusters: Iterable[Fact], templates: Mapping[str, Fact]) -> Catalog:
    body = {
        **declared,
        "storage": {key: workspace.get(key) for key in ("work", "catalog", "workElsewhere")},
        "trainer": workspace.get("trainer"),
        "trainers": {name: trainer.get("account") for name, trainer in workspace.get("trainers", {}).items()},
        "clusters": {inputs["cluster"]: inputs for inputs in clusters if "retiring" not in inputs},
        "retiring": list(declared.get("retiring", {})),
        "templates": {name: _read_template(template) for name, template in templates.items()},
    }
    return codec.read(Catalog, body)


def offers_by_label(template: Template, usual_kind: str = "") -> Mapping[str, Offer]:
    """Return a template's offers by their distinguishing labels, in order of preference. `usual_kind`: of the template
    that this one is compared with, where that is another."""
    return {offer.label(usual_kind or template.kind, with_cluster=True): offer for offer in template.offers}


def _kept(kept: Kept) -> Fact:
    body = {**codec.write(kept), "id": kept.id}
    return body | ({"cluster": kept.role} if kept.kind == "cluster" else {})


def _template(template: Template) -> Fact:
    body = _without(codec.write(template), *_PROSE_OF_TEMPLATES)
    labels = offers_by_label(template)
    body["parameters"] = {
        parameter.name: _without(codec.write(parameter), "name", "help") for parameter in template.parameters
    }
    body["offers"] = {
        label: {"place": place, **_offer(offer)} for place, (label, offer) in enumerate(labels.items(), 1)
    }
    return body


def _offer(offer: Offer) -> Fact:
    body = _without(codec.write(offer), *_PROSE_OF_OFFERS)
    labels = _without(offer.request.get("labels", {}), *_OF_EACH_DEPLOYMENT)
    return {**body, "request": {**offer.request, **codec.given(labels=labels)}}


def _read_template(body: Fact) -> Fact:
    offers = sorted(body.get("offers", {}).values(), key=lambda offer: float(offer.get("place", 0)))
    parameters = [{"name": name, **parameter} for name, parameter in body.get("parameters", {}).items()]
    return {**_without(body, NAMED, STACK), "parameters": parameters, "offers": offers}


def _without(body: Fact, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}
