"""Mistakes of a stack that types can't find: parts that must fit together, and names that are derived from others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from slipway.authoring.stack.bounds import BUCKET_NAME, NAME
from slipway.authoring.stack.cluster_checks import (
    check_adoption,
    check_cluster,
    check_dates,
    check_key,
    check_machine,
    machine_of,
)
from slipway.authoring.stack.config import OWN_KEYS
from slipway.authoring.stack.members import check_crowd
from slipway.authoring.stack.secrets import FORMS
from slipway.authoring.stack.yaml_file import Document, DocumentPart, FileMistake, KeyPath
from slipway.base.formatting import counted, meant, nearest, quoted
from slipway.model.cluster import PROJECT
from slipway.model.identity import Identity
from slipway.model.labels import label_value
from slipway.model.machines.table import regions
from slipway.model.rules.reservations import zone

_KEYS = re.compile(r"(?i)(^|[:_-])(access_?token|credentials?|private_?key|api_?key|client_?secret|password|secret)$")
LONGEST_STACK = 63
"""The characters of a stack's name, which is a label's value."""
_SIGN_IN = (
    "delete the line, revoke it if it was pushed, and sign in instead: `gcloud auth application-default login`, "
    "or workload identity federation in CI"
)


def check_rules(document: Document, stack: str, identity: Identity) -> tuple[FileMistake, ...]:
    """Return every mistake among the well-formed parts of a document."""
    root = DocumentPart(document)
    config = root["config"]
    if not re.fullmatch(NAME, stack) or len(stack) > LONGEST_STACK:
        root.wrong(
            f"the stack is named {quoted(stack)}, which can't be in a label or an id",
            "name it with lowercase letters, digits and dashes: Pulumi.<stack>.yaml",
        )
    _keys(config)
    region = config["gcp:region"].of(str)
    home = region if region in regions() else None
    for _, cluster in config["slipway:persistentResources"].items():
        check_cluster(cluster, home)
    check_adoption(config["slipway:persistentResources"])
    for _, reservation in config["slipway:reservations"].items():
        located = zone(reservation["path"].of(str) or "")
        if home is not None and located is not None and not located.startswith(f"{home}-"):
            what = f"{located} is not in the stack's region {home}, so no job can use it"
            reservation["path"].wrong(what, f"a reservation in {home}-…")
        machine_of(reservation)
        check_dates(reservation)
    for _, machine in config["slipway:machines"].items():
        check_machine(machine)
    quota = config["slipway:quota"]
    if quota["mode"].value == "request" and not quota["contactEmail"].value:
        quota["mode"].wrong("'request' needs a contact", "add `contactEmail`: whom Google asks about an increase")
    _no_repeats(config["slipway:templates"])
    _no_repeats(config["slipway:regions"])
    _no_repeats(config["slipway:workspace"]["submitters"])
    _no_repeats(config["slipway:workspace"]["urgent"])
    for member in config["slipway:workspace"]["urgent"].entries():
        if not (member.of(str) or "user:").startswith(("user:", "group:", "serviceAccount:")):
            member.wrong("names no person, and jobs bear people's names alone", "user:ada@acme.example, or a group")
    _workspace(config, identity, home)
    _trainers(config, identity)
    for _, trainer in config["slipway:trainers"].items():
        _no_repeats(trainer["submitters"])
    _teams(config)
    _sessions(config)
    with_submitters = (part for key in ("slipway:trainers", "slipway:teams") for _, part in config[key].items())
    check_crowd((config["slipway:workspace"], *with_submitters))
    return tuple(root.mistakes)


def _keys(config: DocumentPart) -> None:
    own = [own_key for own_key in OWN_KEYS if own_key.startswith("slipway:")]
    for key, part in config.items():
        if key.startswith("slipway:") and key not in own:
            part.wrong("unknown key", meant(key, own, f"one of {', '.join(own)}"))
        elif key == "slipway":
            part.wrong("unknown key", f"a key is written whole: one of {', '.join(own)}")
        # Other tools' keys are free, and one that is nearly ours would be left out without a word.
        elif not key.startswith(("slipway:", "gcp:")) and (near := nearest(key, own, 0.9)):
            part.wrong("unknown key", f"did you mean `{near}`?")
        elif f"slipway:{key}" in own:  # The engine would take it for ours, in a project of the name slipway.
            part.wrong("unknown key", f"did you mean `slipway:{key}`?")
        elif key.startswith("gcp:") and key.lower().endswith("customendpoint"):
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.removeprefix("gcp:"))
            part.wrong(
                "endpoints come from the environment, so that provider, program and CLI agree",
                f"leave it out and export GOOGLE_{words.upper()}",
            )
        elif key == "gcp:impersonateServiceAccountDelegates":
            what = "a chain of accounts is for the provider alone, and what a deployment reads would be another's view"
            part.wrong(what, "leave it out; let who deploys act as the account itself")
        elif key == "gcp:defaultLabels":
            what = "labels of the provider reach every cluster, and a change of them replaces it"
            part.wrong(what, "leave it out; give clusters their own `labels`")
        # The provider has keys of its own: one is a slip only where it is near one of ours (the first three) and that
        # one is missing.
        elif key.startswith("gcp:") and key not in OWN_KEYS:
            near = nearest(key, OWN_KEYS) or key
            if near in OWN_KEYS[:3] and config[near].value is None:
                part.wrong("unknown key", f"did you mean `{near}`?")


def _no_repeats(names: DocumentPart) -> None:
    seen: set[str | None] = {None}
    for part in names.entries():
        if (name := part.of(str)) and name in seen:
            part.wrong(f"{name} is listed twice", "keep one of them")
        seen.add(name)


def _workspace(config: DocumentPart, identity: Identity, home: str | None) -> None:
    """Check derived names, those of work buckets in other regions too; the types check given ones."""
    workspace, project = config["slipway:workspace"], config["gcp:project"].of(str) or ""
    names = [workspace[key].of(str) for key in ("catalogBucket", "workBucket")]
    usual = identity.buckets(project) if re.fullmatch(PROJECT, project) else ()
    work = names[1] or "".join(usual[1:])
    clusters = [cluster for _, cluster in config["slipway:persistentResources"].items()]
    others = (part["region"].of(str) for cluster in clusters for part in cluster["alternatives"].entries())
    regions = tuple(config["slipway:regions"].entries())
    for part in regions:
        if home is not None and part.value == home:
            part.wrong("is the stack's own region, where jobs run anyway", "leave it out, or name another")
    kms_key = workspace["encryption"]["kmsKey"]
    check_key(kms_key, home, "stack")
    named = dict.fromkeys((*others, *(part.of(str) for part in regions)))
    for region in filter(None, named) if BUCKET_NAME.wrong(work) is None else ():
        if kms_key.value is not None:
            what = f"is of one region, and results in {region} need a bucket and a key there"
            kms_key.wrong(what, f"leave {region} out; other machines in the stack's region may be an alternative")
    if names[0] is not None and names[0] == names[1]:
        workspace["workBucket"].wrong("is the catalog's bucket as well", "two buckets: no job may rewrite the catalog")


def _trainers(config: DocumentPart, identity: Identity) -> None:
    """Check derived account ids. No two trainers may have the same: they would share secrets and people."""
    seen: dict[str, str] = {}
    trainers = {name: part["account"] for name, part in config["slipway:trainers"].items() if re.fullmatch(NAME, name)}
    # The workspace's own has no name.
    for name, part in {"": config["slipway:workspace"]["trainer"], **trainers}.items():
        account = part.of(str)
        if account is None and part.value is not None:
            continue
        derived = identity.account(name or "trainer")
        if (earlier := seen.get(account or derived)) is not None:
            part.wrong(
                f"{quoted(account or derived)} is the account of {earlier} as well",
                "an account of its own: secrets and people belong to accounts",
            )
        seen.setdefault(account or derived, f"trainer {name}" if name else "the workspace")


def _teams(config: DocumentPart) -> None:
    """Check that a team's clusters and machines are the stack's, that it has people, and that budgets and shares are
    teams'."""
    clusters = [name for name, _ in config["slipway:persistentResources"].items()]
    teams, keys = dict(config["slipway:teams"].items()), [key for key, _ in config["slipway:machines"].items()]
    # A group among the other submitters is the team that it is called like.
    entries = (config["slipway:workspace"], *(trainer for _, trainer in config["slipway:trainers"].items()))
    members = (part.of(str) or "" for entry in entries for part in entry["submitters"].entries())
    named = [member.removeprefix("group:") for member in members if member.startswith("group:")]
    groups = [label_value(group.partition("@")[0]) for group in named]
    peopled = [team for name, team in teams.items() if name in groups or any(team["submitters"].entries())]
    used = {part.of(str) for team in peopled for part in team["clusters"].entries()}
    for name, team in teams.items():
        _no_repeats(team["submitters"])
        _no_repeats(team["clusters"])
        for part in team["clusters"].entries():
            cluster = part.of(str)
            if cluster is not None and cluster not in clusters:
                part.wrong(f"there is no cluster {quoted(cluster)}", _one_of(cluster, clusters))
            elif cluster is not None and cluster not in used:
                part.wrong(
                    f"nobody is in team {name}, so cluster {cluster} would take nobody's jobs",
                    f"list who is in the team, as `submitters: [group:{name}@acme.example]`, or leave the cluster out",
                )
        for key, machine in team["machines"].items():
            check_machine(machine)
            if key not in keys:
                declare = f"declare it for the other teams too: `machines: {{{key}: …}}`"
                machine.wrong(f"the stack's `machines` have no {quoted(key)}", meant(key, keys, declare))
        if team["budget"].value is not None and config["slipway:budget"]["teams"][name].value is not None:
            team["budget"].wrong("the stack's `budget` has a part for this team as well", "keep one of them")
    for of in ("teams", "users"):
        for name, budget in config["slipway:budget"][of].items():
            if not label_value(name):  # A job bears the name as a label.
                budget.wrong(f"no job counts for {quoted(name)}", "write it in letters from a to z")
    shares = [(cluster, part) for cluster, part in config["slipway:shares"].items()]
    for cluster, part in shares:
        if cluster not in clusters:
            part.wrong(f"there is no cluster {quoted(cluster)}", _one_of(cluster, clusters))
            continue
        most = _most_machines(config["slipway:persistentResources"][cluster])
        for _, share in part.items():
            if most is not None and (share.of(int) or 0) > most:
                share.wrong(f"{cluster} has {counted(most, 'machine')} at most", f"{most} or less")
    by_team = (config["slipway:budget"]["teams"], *(part for _, part in shares))
    for name, part in (each for parts in by_team for each in parts.items()) if teams else ():
        if name not in (*teams, *groups):
            fix = meant(name, (*teams, *groups), "declare it under `teams`")
            part.wrong(f"there is no team {quoted(name)}", fix)


def _most_machines(cluster: DocumentPart) -> int | None:
    """Return the machines that a cluster may have, by the most of its alternatives; None where that is not known."""
    pools = (cluster, *cluster["alternatives"].entries())
    each = [[_most_replicas(pool) for _, pool in of["pools"].items()] for of in pools]
    sums = [sum(filter(None, counts)) if all(counts) else None for counts in each if counts]
    return None if None in sums else max(filter(None, sums), default=None)


def _most_replicas(pool: DocumentPart) -> int | None:
    return pool["replicas"].of(int) or pool["replicas"]["max"].of(int)


def _one_of(cluster: str, clusters: list[str]) -> str:
    return meant(cluster, clusters, f"one of {', '.join(clusters)}" if clusters else "declare that cluster")


def _sessions(config: DocumentPart) -> None:
    """Check that sessions are limited to pools of the stack."""
    clusters = config["slipway:persistentResources"].items()
    pools = [f"{name}/{pool}" for name, cluster in clusters for pool, _ in cluster["pools"].items()]
    for part in config["slipway:sessions"]["pools"].entries():
        if (named := part.of(str)) is not None and named not in pools:
            other = f"one of {', '.join(pools)}" if pools else "declare a cluster that has it"
            part.wrong(f"there is no pool {quoted(named)}", meant(named, pools, other))


def check_secrets(document: Document) -> tuple[FileMistake, ...]:
    """Return the keys that name a secret and the values that look like one. The value itself is never repeated."""
    mistakes = _secrets(document.values, ())
    return tuple(document.mistake(path, f"{what} in a stack file", _SIGN_IN) for path, what in mistakes)


def _secrets(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    key = path[-1] if path else ""
    if isinstance(key, str) and _KEYS.search(key):
        yield path, "credentials"
    elif isinstance(value, dict):
        for name, child in value.items():
            yield from (((*path, name), what) for pattern, what in FORMS if pattern.search(str(name)))
            yield from _secrets(child, (*path, name))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _secrets(child, (*path, index))
    elif isinstance(value, str):
        yield from ((path, what) for pattern, what in FORMS if pattern.search(value))
