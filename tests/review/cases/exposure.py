"""Openings: to the internet, to whole organizations, to identities with more rights, often by one field."""

from tests.review.case import Case, stops
from tests.review.engine import DATASET, SQL, does, edits, grants
from tests.slipway.reviewing.builders import step

CASES = (
    Case(
        "A data set lets everybody with a Google account read it, in a list of its own",
        names=(stops("public-access", "measured"),),
        may=("resource-changed",),
        steps=does(
            edits(
                DATASET,
                "measured",
                {"datasetId": "measured", "accesses": [{"role": "OWNER", "userByEmail": "ada@acme.example"}]},
                accesses=[
                    {"role": "OWNER", "userByEmail": "ada@acme.example"},
                    {"role": "READER", "specialGroup": "allAuthenticatedUsers"},
                ],
            )
        ),
        accident="a data set open to the world",
    ),
    Case(
        "A service that anybody may call",
        names=(stops("public-access", "allUsers"),),
        steps=does(
            grants(
                "create",
                "gcp:cloudrunv2/serviceIamMember:ServiceIamMember",
                "allUsers",
                "roles/run.invoker",
                name="judge",
            )
        ),
        accident="an internal service that anybody could call",
    ),
    Case(
        "What is written into a bucket is public from then on",
        names=(stops("public-access", ""),),
        steps=does(
            step(
                "create",
                "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl",
                "results",
                new={"bucket": "acme-results", "role": "READER", "entity": "allUsers"},
            )
        ),
        accident="objects made public one by one",
    ),
    Case(
        "A bucket's list of rights by its old name: publicRead",
        names=(stops("public-access", ""),),
        steps=does(
            step(
                "create",
                "gcp:storage/bucketACL:BucketACL",
                "results",
                new={"bucket": "acme-results", "predefinedAcl": "publicRead"},
            )
        ),
        accident="a canned list of rights",
    ),
    Case(
        "A database that the whole internet may talk to",
        names=(stops("public-access", "runs"),),
        may=("resource-changed",),
        steps=does(
            edits(
                SQL,
                "runs",
                {"name": "runs", "settings": {"ipConfiguration": {"authorizedNetworks": [{"value": "10.0.0.0/8"}]}}},
                settings={"ipConfiguration": {"authorizedNetworks": [{"value": "0.0.0.0/0"}]}},
            )
        ),
        accident="a database on the open internet",
    ),
    Case(
        "A firewall for all of IPv6",
        names=(stops("public-access", "ssh"),),
        steps=does(
            step(
                "create",
                "gcp:compute/firewall:Firewall",
                "ssh",
                new={"network": "train", "sourceRanges": ["::/0"], "allows": [{"protocol": "tcp", "ports": ["22"]}]},
            )
        ),
        accident="a firewall open to the world",
    ),
)
