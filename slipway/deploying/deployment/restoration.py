"""Deletions outside of Pulumi that leave its state unchanged, found by comparing the state with live state.

Without `--refresh` Pulumi compares a program with its state alone: a deleted catalog, package, bucket or account is
"unchanged", and submissions fail. A deployment then raises a number in the catalog, so that Pulumi writes the catalog
again, and a hook uploads missing packages before. Buckets and accounts need a refresh of the state. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from slipway.base.formatting import join
from slipway.deploying.deployment.shared_grants import Right, right_of
from slipway.deploying.deployment.takeover import publication
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live, Unknown
from slipway.google.permissions import Bound
from slipway.model.catalog.model import NAME
from slipway.model.origin import Origin, Program
from slipway.model.state import State, StateGrant, StateResource


@dataclass(frozen=True)
class Restoration:
    """Restorations of a deployment in the catalog's bucket, and those that need a refresh of Pulumi's state."""

    bucket: str = ""
    #: The published catalog no longer exists.
    is_missing: bool = False
    #: The published catalog is another one than the state has.
    is_changed: bool = False
    #: The commit and the age of that other catalog; empty if it is no whole catalog, which no deployment publishes.
    published: str = ""
    #: A deployment that did not come to its end has published the catalog.
    is_interim: bool = False
    #: The reason why the packages could not be read.
    unread: str = ""
    #: The names of packages that the state has and the bucket has not.
    packages: tuple[str, ...] = ()
    #: Buckets, by name, and accounts, by address, that the state has and that no longer exist.
    buckets: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    #: Grants that the state has and that no longer exist.
    grants: tuple[StateGrant, ...] = ()
    #: `Catalog.restored` of this deployment.
    times: int | None = None

    @property
    def deleted(self) -> str:
        """Return the buckets and accounts that no longer exist, as text."""
        return describe(self.buckets, self.accounts)

    def warnings(self, origin: Origin) -> Iterator[str]:
        # A stack file's project refreshes the state before each deployment.
        if isinstance(origin, Program):
            yield from self._refresh_needed(origin)
        yield from self._catalog_restored()
        yield from self._packages_restored()

    def _catalog_restored(self) -> Iterator[str]:
        if self.is_missing and not self.deleted:
            yield (
                f"gs://{self.bucket}/{NAME} was deleted outside of Pulumi, so users can't submit: this deployment "
                "restores the catalog"
            )
        if self.is_changed and not self.is_interim:
            yield (
                f"gs://{self.bucket}/{NAME} is not the catalog that the last deployment published: this deployment "
                f"replaces the catalog{self._another_backend()}"
            )

    def _another_backend(self) -> str:
        """Return what a whole catalog tells of its deployment; empty for other text."""
        if not self.published:
            return ""
        return (
            f"\n  why: a deployment that this state does not have published it{self.published}: another backend may "
            "have a newer state of the stack, or an `up` ended before Pulumi saved its state\n"
            "  fix: if the stack was moved to another backend, stop, set PULUMI_BACKEND_URL to that backend, and "
            "deploy from there"
        )

    def _packages_restored(self) -> Iterator[str]:
        if self.unread:
            yield f"can't check whether the packages still exist: {self.unread}"
        if self.packages and not self.buckets:
            listed = ", ".join(self.packages)
            yield (
                f"packages in gs://{self.bucket} were deleted outside of Pulumi, so jobs can't start: this deployment "
                f"restores {listed}"
            )

    def _refresh_needed(self, origin: Origin) -> Iterator[str]:
        deleted = describe(self.buckets, self.accounts, self.grants)
        if deleted:
            yield (
                f"deleted outside of Pulumi, and still in its state: {deleted}\n"
                "  why: without a refresh Pulumi takes them as unchanged, and users can't submit\n"
                f"  fix: a refresh creates them again, in this run if it has one, and otherwise in: "
                f"{origin.command('up', '--refresh')}"
            )


def describe(buckets: Iterable[str], accounts: Iterable[str], grants: Iterable[StateGrant] = ()) -> str:
    """Return resources as text; empty if there are none."""
    names = [f"bucket gs://{name}" for name in buckets]
    names += [f"account {name}" for name in accounts]
    names += map(_describe_grant, grants)
    return join(names)


def _describe_grant(grant: StateGrant) -> str:
    resource = grant.on or "the project"
    return f"{grant.role} of {grant.member} on {resource}"


def restoration(
    known: State | Unknown,
    live: Live,
    wanted: Collection[str],
    packages: Collection[str],
    asked: Collection[Right] = (),
) -> Restoration:
    """Compare the state with live state. `wanted`: the names of the declared buckets, and the addresses of the declared
    accounts. `packages`: the names of the packages that this deployment publishes. `asked`: the declared rights."""
    if isinstance(known, Unknown):
        return Restoration()
    bucket = known.catalog_bucket
    before = known.restored.get(bucket)
    nothing = Restoration(bucket, times=before)
    if not bucket or live.packages is None:
        return nothing
    found = Restoration(
        bucket,
        is_missing=live.catalog is None,
        is_changed=_is_changed(live.catalog, known.digests.get(bucket)),
        packages=_missing(_in_state(known, packages), live.packages),
        buckets=_missing(_names(known.buckets) & {*wanted}, live.buckets),
        accounts=_missing(_names(known.accounts) & {*wanted}, live.service_accounts),
        times=before,
    )
    if found != nothing:
        times = before or 0
        found = replace(found, times=times + 1)
    grants = tuple(_revoked(known, live, asked))
    if found.is_changed:
        found = replace(found, published=_publication(live.catalog))
    return replace(found, grants=grants, is_interim=_is_interim(live), unread=_why_unread(live.packages))


def _publication(catalog: PublishedCatalog | Unknown | None) -> str:
    """Return the commit and the age of a whole catalog; empty for another one."""
    if not isinstance(catalog, PublishedCatalog) or catalog.whole is None:
        return ""
    return publication(catalog)


def _is_interim(live: Live) -> bool:
    """Return whether a deployment that did not come to its end has published the catalog."""
    catalog = live.deployed
    return catalog is not None and catalog.under_way is not None


def _why_unread(packages: object) -> str:
    """Return why the packages could not be read; empty if they were."""
    return str(packages) if isinstance(packages, Unknown) else ""


def _missing(in_state: frozenset[str], live: Collection[str] | Unknown) -> tuple[str, ...]:
    """Return the names that the state has and live state has not; none if that is unknown."""
    if isinstance(live, Unknown):
        return ()
    return tuple(sorted(in_state.difference(live)))


def _in_state(known: State, packages: Iterable[str]) -> frozenset[str]:
    """Return the packages that Pulumi's state has: it creates others itself."""
    return frozenset(name for name in packages if f"gs://{known.catalog_bucket}/{name}" in known.packages)


def _names(resources: Iterable[StateResource]) -> frozenset[str]:
    return frozenset(resource.name for resource in resources)


def _is_changed(catalog: PublishedCatalog | Unknown | None, digest: str | None) -> bool:
    return isinstance(catalog, PublishedCatalog) and digest is not None and catalog.digest != digest


def _revoked(known: State, live: Live, asked: Collection[Right]) -> Iterator[StateGrant]:
    """Yield the declared grants that the state has and the policies have not. A policy of a deleted resource is not
    read."""
    for grant in known.grants:
        bound = live.granted.get(grant.on)
        if bound is None or not _is_declared(grant, known.catalog_bucket, asked):
            continue
        if right_of(grant) not in _rights(grant.on, bound):
            yield grant


def _is_declared(grant: StateGrant, catalog_bucket: str, asked: Collection[Right]) -> bool:
    """Return whether a grant is one of the declared rights, which are without those on the catalog's bucket."""
    right = right_of(grant)
    if right in asked:
        return True
    if grant.on != f"gs://{catalog_bucket}":
        return False
    _, member, _ = right
    members = frozenset(declared_member for _, declared_member, _ in asked)
    return member in members


def _rights(on: str, bound: Iterable[Bound]) -> frozenset[Right]:
    return frozenset((each.role, each.member.lower(), on) for each in bound if not each.condition)
