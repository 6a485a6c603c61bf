"""Workspace: where templates are published and jobs write, who runs them, and who may submit."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pulumi
from pulumi_gcp import projects, serviceaccount, storage

from slipway.deployment.trainer import email
from slipway.live import Live, Unknown
from slipway.stack import WorkspaceSettings

_MEMBER_OF_PROJECT: Mapping[str, str] = {
    "submit": "roles/aiplatform.user",
    "quota": "roles/cloudquotas.viewer",
    "metrics": "roles/monitoring.viewer",
    "logs": "roles/logging.viewer",
}
_PACKAGE_AGE_DAYS = 730
_CLAIM_AGE_DAYS = 30
_OLD_CATALOGS = 50


class Workspace(pulumi.ComponentResource):
    """Two buckets, the trainer's service account, and for each submitter exactly the roles that the verbs need (P5).

    `catalog`: the deployer writes, the trainer and submitters read, versioned. `work`: jobs write. So no job can
    rewrite what others run. Does not own clusters, nor the identities that preview and deploy.

    Destroying it keeps `work`, which holds people's results; the catalog can be published again and goes.
    """

    catalog: storage.Bucket
    work: storage.Bucket
    trainer: serviceaccount.Account

    def __init__(
        self,
        name: str,
        *,
        project: str,
        region: str,
        settings: WorkspaceSettings,
        live: Live,
        trainer_roles: Collection[str] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Buckets and the service account that `live` has are adopted, not created.

        `trainer_roles` are those on the project that some template's jobs need.
        """
        self.trainer_email = email(settings.trainer, project)
        facts = {
            "catalog": f"gs://{settings.catalog_bucket}",
            "work": f"gs://{settings.work_bucket}",
            "trainer": self.trainer_email,
            "submitters": list(settings.submitters),
        }
        super().__init__("slipway:components:Workspace", name, facts, opts)
        self._project, self._region = project, region
        self._existing = _known(live.buckets)
        self.catalog = self._bucket(
            "catalog",
            settings.catalog_bucket,
            keep=False,
            versioned=True,
            rules=[
                _delete(age=_PACKAGE_AGE_DAYS, matches_prefixes=["packages/"]),
                _delete(num_newer_versions=_OLD_CATALOGS, with_state="ARCHIVED"),
            ],
        )
        self.work = self._bucket(
            "work",
            settings.work_bucket,
            keep=True,
            versioned=False,
            rules=[_delete(age=_CLAIM_AGE_DAYS, matches_prefixes=["claims/"])],
        )
        adopted = self.trainer_email in _known(live.service_accounts)
        self.trainer = serviceaccount.Account(
            "trainer",
            account_id=settings.trainer,
            project=project,
            display_name=f"Slipway trainer ({pulumi.get_stack()})",
            opts=pulumi.ResourceOptions(
                parent=self,
                import_=f"projects/{project}/serviceAccounts/{self.trainer_email}" if adopted else None,
                ignore_changes=["displayName", "description"],
            ),
        )
        self._grant_trainer(trainer_roles)
        for member in settings.submitters:
            self._grant_submitter(member)
        self.register_outputs({"catalog": self.catalog.name, "work": self.work.name, "trainer": self.trainer.email})

    def _bucket(
        self,
        role: str,
        bucket: str,
        *,
        keep: bool,
        versioned: bool,
        rules: list[storage.BucketLifecycleRuleArgs],
    ) -> storage.Bucket:
        return storage.Bucket(
            role,
            name=bucket,
            project=self._project,
            location=self._region.upper(),
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            versioning=storage.BucketVersioningArgs(enabled=versioned),
            lifecycle_rules=rules,
            force_destroy=not keep,
            opts=pulumi.ResourceOptions(
                parent=self, import_=bucket if bucket in self._existing else None, retain_on_delete=keep
            ),
        )

    def _grant_trainer(self, roles: Collection[str]) -> None:
        member = self.trainer.member
        for role in roles:
            projects.IAMMember(
                f"trainer-{role.removeprefix('roles/')}",
                project=self._project,
                role=role,
                member=member,
                opts=pulumi.ResourceOptions(parent=self),
            )
        for name, bucket, role in (
            ("trainer-reads-catalog", self.catalog, "roles/storage.objectViewer"),
            ("trainer-writes-work", self.work, "roles/storage.objectUser"),
        ):
            self._on_bucket(name, bucket, role, member)

    def _grant_submitter(self, member: str) -> None:
        child = pulumi.ResourceOptions(parent=self)
        for purpose, role in _MEMBER_OF_PROJECT.items():
            projects.IAMMember(f"{purpose}-{member}", project=self._project, role=role, member=member, opts=child)
        serviceaccount.IAMMember(
            f"act-as-trainer-{member}",
            service_account_id=self.trainer.name,
            role="roles/iam.serviceAccountUser",
            member=member,
            opts=child,
        )
        for name, bucket, role in (
            ("reads-catalog", self.catalog, "roles/storage.objectViewer"),
            ("reads-work", self.work, "roles/storage.objectViewer"),
            ("creates-work", self.work, "roles/storage.objectCreator"),
        ):
            self._on_bucket(f"{name}-{member}", bucket, role, member)

    def _on_bucket(self, name: str, bucket: storage.Bucket, role: str, member: pulumi.Input[str]) -> None:
        storage.BucketIAMMember(
            name, bucket=bucket.name, role=role, member=member, opts=pulumi.ResourceOptions(parent=self)
        )


def _known(existing: frozenset[str] | Unknown) -> frozenset[str]:
    if isinstance(existing, Unknown):
        raise ValueError(f"what exists must be known before anything is declared: {existing.why}")
    return existing


def _delete(
    *,
    age: int | None = None,
    matches_prefixes: list[str] | None = None,
    num_newer_versions: int | None = None,
    with_state: str | None = None,
) -> storage.BucketLifecycleRuleArgs:
    return storage.BucketLifecycleRuleArgs(
        action=storage.BucketLifecycleRuleActionArgs(type="Delete"),
        condition=storage.BucketLifecycleRuleConditionArgs(
            age=age,
            matches_prefixes=matches_prefixes,
            num_newer_versions=num_newer_versions,
            with_state=with_state,
        ),
    )
