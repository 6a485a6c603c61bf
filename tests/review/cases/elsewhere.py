"""Clusters that may come from another region than their stack's, or have come from there. # N2"""

from tests.review.case import BUSY, LARGE, QUIET, Case, World, h100, hurts, silent, stack, stops, tells, template
from tests.review.cases.clusters import ANEW, H100

LISTED = "      alternatives: [{ region: us-east4 }]\n"
LIST = h100("alternatives: [{ region: us-east4 }]")
ALLOW = stack("regions: [us-central1]", "regions: [us-central1, us-east4, us-west1]")

CASES = (
    Case(
        "A busy pool's maximum is raised, and H100 may come from a region that the stack's policy does not allow",
        (stack(H100, "replicas: { min: 2, max: 6 }"), LIST),
        (
            stops("policy-violated", "", "h100 (alternative 1)", "us-east4", "mandatory.regions`"),
            hurts(
                "cluster-may-become",
                "h100",
                "us-east4",
                "results stay in a bucket there",
                "what is read from us-central1 is billed by the gigabyte",
            ),
        ),
        may=("preview-failed", *ANEW),
        world=BUSY,
    ),
    Case(
        "H100 that came from another region are to be at home again, while a job runs on them",
        (stack(LISTED, ""),),
        (
            hurts("cluster-new-generation", "cluster h100", "us-east4", "us-central1"),
            hurts("capacity-found-anew", "h100"),
            hurts("generations-overlap", "h100", "$202.31/h, until"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
            tells("jobs-finish-on-old", "acme-work-us-east4", "tune-27b-x1"),
            tells("image-cache-empty", "h100"),
        ),
        world=World(jobs=(LARGE,), made_as={"h100": 1}),
        given=(LIST, ALLOW),
    ),
    silent(
        "Nothing changes while the machines are in another region",
        QUIET,
        world=World(jobs=(LARGE,), made_as={"h100": 1}, limits={"nvidia_h100_gpus": 24}),
        given=(LIST, ALLOW),
    ),
    Case(
        "Another region is named for machines that nobody has had to fetch there",
        (stack("region: us-east4", "region: us-west1"),),
        (
            tells("cluster-may-become", "h100", "us-west1"),
            tells("bucket-created", "acme-work-us-west1", "jobs in us-west1"),
            hurts("bucket-left", "acme-work-us-east4", "results of jobs in us-east4"),
        ),
        world=BUSY,
        given=(LIST, ALLOW),
    ),
    Case(
        "H100 that came from another region are gone: they are made again as asked for first",
        (template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),),
        (
            hurts(
                "cluster-created | cluster-falls-back | cluster-new-generation",
                "h100",
                "somebody deleted it",
            ),
        ),
        may=("capacity-found-anew", "cluster-may-become"),
        world=World(made_as={"h100": 1}, gone=("h100",)),
        given=(LIST, ALLOW),
    ),
)
