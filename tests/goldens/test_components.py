"""The names of `slipway.components` and the fields of their `Args`, which programs write. Fields are added, none goes:
one that is to change is deleted here first. # N1 # N34"""

from dataclasses import fields

import components

FIELDS = {
    "AcceleratorArgs": "type count",
    "AlternativeArgs": "region pools",
    "AgentsArgs": "per_day machines",
    "BudgetArgs": "stack teams users enforce",
    "CatalogArgs": "workspace templates quota policy",
    "DiskArgs": "type size_gb",
    "DnsPeeringArgs": "domain target_project target_network",
    "JobTemplateArgs": "template clusters workspace",
    "MachineArgs": "machine accelerator disk",
    "PersistentResourceArgs": "pools display_name network reserved_ip_ranges kms_key psc_interface "
    "custom_service_account labels replacement generation retire_within create_within "
    "alternatives begins ends idle_limit id workspace project region",
    "PoolArgs": "machine accelerator disk replicas",
    "PscInterfaceArgs": "network_attachment dns_peering_configs",
    "QuotaCheckArgs": "clusters templates mode contact_email justification strict workspace",
    "ReplicasArgs": "min max initial",
    "ReservationArgs": "path machine accelerator machines",
    "SessionsArgs": "max pools",
    "TeamArgs": "submitters clusters budget machines",
    "TrainerArgs": "account submitters",
    "WorkspaceArgs": "submitters catalog_bucket work_bucket kms_key trainer code shell urgent confirm_above board "
    "notify trainers teams machines reservations budget sessions project region",
}
COMPONENTS = {"Catalog", "JobTemplate", "PersistentResource", "QuotaCheck", "Workspace"}
ENUMERATIONS = {"DiskType", "QuotaMode", "Replacement"}


def test_no_name_and_no_field_is_gone() -> None:
    assert set(components.__all__) == COMPONENTS | ENUMERATIONS | FIELDS.keys()
    for name, before in FIELDS.items():
        now = [field.name for field in fields(getattr(components, name))]
        assert not set(before.split()) - set(now), name
        assert all(field.kw_only for field in fields(getattr(components, name))), "their order is no promise"
