"""Names, labels, mounts, network, TensorBoard, experiments. # W8"""

from ..bodies import BOARD, CONTEXT, NETWORK, NFS, Example, custom, worker

EXAMPLES: tuple[tuple[str, Example], ...] = (
    (
        "display-name",
        Example({**custom(), "displayName": "x" * 129}, "129 characters", ({**custom(), "displayName": "Ä" * 128},)),
    ),
    (
        "labels",
        Example({**custom(), "labels": {"Team": "ml"}}, "'Team'", ({**custom(), "labels": {"team": "é-1_x"}},)),
    ),
    ("labels", Example({**custom(), "labels": {"team": "x" * 65}}, "at most 64", ({**custom(), "labels": {"t": ""}},))),
    (
        "labels",
        Example(
            {**custom(), "labels": {f"k{i}": "" for i in range(65)}},
            "65 labels",
            ({**custom(), "labels": {f"k{i}": "" for i in range(64)}},),
        ),
    ),
    (
        "network",
        Example(
            custom(network="projects/acme/global/networks/training"),
            "with the project's number",
            (custom(network=NETWORK),),
        ),
    ),
    (
        "nfs-mount",
        Example(
            custom(worker(nfsMounts=[{**NFS, "path": "share"}]), network=NETWORK),
            "NFS path 'share' must begin with /",
            (custom(worker(nfsMounts=[NFS]), network=NETWORK),),
        ),
    ),
    (
        "nfs-mount",
        Example(
            custom(worker(nfsMounts=[{**NFS, "mountPoint": "/mnt/nfs/data"}]), network=NETWORK),
            "must name a folder under /mnt/nfs/",
            (custom(worker(nfsMounts=[NFS, {**NFS, "mountPoint": "data2/deep"}]), network=NETWORK),),
        ),
    ),
    (
        "nfs-mount",
        Example(custom(worker(nfsMounts=[NFS, NFS]), network=NETWORK), "two NFS mounts at data", (custom(),)),
    ),
    (
        "nfs-network",
        Example(
            custom(worker(nfsMounts=[NFS])),
            "needs a network",
            (
                custom(worker(nfsMounts=[NFS]), network=NETWORK),
                custom(worker(nfsMounts=[NFS]), pscInterfaceConfig={"networkAttachment": "training"}),
            ),
        ),
    ),
    (
        "tensorboard-or-experiment",
        Example(
            custom(tensorboard=BOARD, experiment=CONTEXT),
            "exclude each other",
            (custom(tensorboard=BOARD), custom(experiment=CONTEXT)),
        ),
    ),
    (
        "tensorboard-identity",
        Example(custom(tensorboard=BOARD, serviceAccount=""), "needs a serviceAccount", (custom(tensorboard=BOARD),)),
    ),
    (
        "tensorboard-identity",
        Example(custom(experiment=CONTEXT, serviceAccount=""), "needs a serviceAccount", (custom(experiment=CONTEXT),)),
    ),
    (
        "tensorboard-name",
        Example(
            custom(tensorboard="projects/acme/locations/europe-west4/tensorboards/7"),
            "is in europe-west4, the job in us-central1",
            (custom(tensorboard=BOARD),),
        ),
    ),
    ("tensorboard-name", Example(custom(tensorboard="7"), "projects/PROJECT/locations", (custom(tensorboard=BOARD),))),
    (
        "experiment-name",
        Example(custom(experiment="digits"), "contexts/NAME", (custom(experiment=CONTEXT),)),
    ),
    (
        "experiment-name",
        Example(
            custom(experiment=CONTEXT, experimentRun=CONTEXT.replace("digits", "other-1")),
            "must begin with the experiment's name",
            (custom(experiment=CONTEXT, experimentRun=f"{CONTEXT}-1"),),
        ),
    ),
    ("experiment-name", Example(custom(experimentRun=f"{CONTEXT}-1"), "needs an experiment", (custom(),))),
    (
        "output",
        Example(custom(baseOutputDirectory={"outputUriPrefix": "/tmp/x"}), "not in Cloud Storage", (custom(),)),
    ),
)
