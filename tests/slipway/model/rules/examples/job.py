"""Names, labels, mounts, network, TensorBoard, experiments. # W8"""

from ..bodies import BOARD, CONTEXT, NETWORK, NFS, custom, example, worker

EXAMPLES = (
    example(
        "display-name", {**custom(), "displayName": "x" * 129}, "129 characters", {**custom(), "displayName": "Ä" * 128}
    ),
    example("labels", {**custom(), "labels": {"Team": "ml"}}, "'Team'", {**custom(), "labels": {"team": "é-1_x"}}),
    example("labels", {**custom(), "labels": {"team": "x" * 65}}, "at most 64", {**custom(), "labels": {"t": ""}}),
    example(
        "labels",
        {**custom(), "labels": {f"k{i}": "" for i in range(65)}},
        "65 labels",
        {**custom(), "labels": {f"k{i}": "" for i in range(64)}},
    ),
    example(
        "network",
        custom(network="projects/acme/global/networks/training"),
        "with the project's number",
        custom(network=NETWORK),
    ),
    example(
        "nfs-mount",
        custom(worker(nfsMounts=[{**NFS, "server": "files.corp.example"}]), network=NETWORK),
        "must be an IP address",
        custom(worker(nfsMounts=[{**NFS, "server": "10.0.0.9"}]), network=NETWORK),
    ),
    example(
        "nfs-mount",
        custom(worker(nfsMounts=[{**NFS, "path": "share"}]), network=NETWORK),
        "NFS path 'share' must begin with /",
        custom(worker(nfsMounts=[NFS]), network=NETWORK),
    ),
    example(
        "nfs-mount",
        custom(worker(nfsMounts=[{**NFS, "mountPoint": "/mnt/nfs/data"}]), network=NETWORK),
        "must name a folder under /mnt/nfs/",
        custom(worker(nfsMounts=[NFS, {**NFS, "mountPoint": "data2/deep"}]), network=NETWORK),
    ),
    example("nfs-mount", custom(worker(nfsMounts=[NFS, NFS]), network=NETWORK), "two NFS mounts at data", custom()),
    example(
        "nfs-network",
        custom(worker(nfsMounts=[NFS])),
        "needs a network",
        custom(worker(nfsMounts=[NFS]), network=NETWORK),
        custom(worker(nfsMounts=[NFS]), pscInterfaceConfig={"networkAttachment": "training"}),
    ),
    example(
        "tensorboard",
        custom(tensorboard=BOARD, experiment=CONTEXT),
        "exclude each other",
        custom(tensorboard=BOARD),
        custom(experiment=CONTEXT),
    ),
    example(
        "tensorboard",
        custom(tensorboard=BOARD, serviceAccount=""),
        "needs a serviceAccount",
        custom(tensorboard=BOARD),
    ),
    example(
        "tensorboard",
        custom(experiment=CONTEXT, serviceAccount=""),
        "needs a serviceAccount",
        custom(experiment=CONTEXT),
    ),
    example(
        "tensorboard",
        custom(tensorboard="projects/acme/locations/europe-west4/tensorboards/7"),
        "is in europe-west4, the job in us-central1",
        custom(tensorboard=BOARD),
    ),
    example("tensorboard", custom(tensorboard="7"), "projects/PROJECT/locations", custom(tensorboard=BOARD)),
    example("experiment-name", custom(experiment="digits"), "contexts/NAME", custom(experiment=CONTEXT)),
    example(
        "experiment-name",
        custom(experiment=CONTEXT, experimentRun=CONTEXT.replace("digits", "other-1")),
        "must begin with the experiment's name",
        custom(experiment=CONTEXT, experimentRun=f"{CONTEXT}-1"),
    ),
    example("experiment-name", custom(experimentRun=f"{CONTEXT}-1"), "needs an experiment", custom()),
    example("output", custom(baseOutputDirectory={"outputUriPrefix": "/tmp/x"}), "not in Cloud Storage", custom()),
)
