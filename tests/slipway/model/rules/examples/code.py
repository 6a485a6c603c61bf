"""Containers, packages, arguments, environment. # X6"""

from ..bodies import container, custom, env, example, package, worker

EXAMPLES = (
    example(
        "code-one",
        custom(worker(code={**package(), **container()})),
        ": containerSpec and pythonPackageSpec",
        custom(worker(), worker(code=container())),
    ),
    example("code-one", custom(worker(code={})), "worker pool 0: no code", custom()),
    example(
        "code-one",
        custom(worker(code=container(imageUri="", args=["a"]))),
        "is missing",
        custom(worker(code=container())),
    ),
    example(
        "package",
        custom(worker(code=package(executorImageUri="us-docker.pkg.dev/vertex-ai-restricted/training/x:latest"))),
        "not one of Vertex AI's prebuilt ones",
        custom(),
    ),
    example(
        "package",
        custom(worker(code=package(executorImageUri="docker.io/me/mine:1"))),
        "'docker.io/me/mine:1' is not one of Vertex AI's prebuilt ones",
        *(
            custom(worker(code=package(executorImageUri=uri)))
            for uri in (
                "europe-docker.pkg.dev/vertex-ai/training/tf-cpu.2-15.py310:latest",
                "gcr.io/cloud-aiplatform/training/scikit-learn-cpu.0-23:latest",
            )
        ),
    ),
    example(
        "package",
        custom(worker(code=package(packageUris=["gs://b/p"] * 101))),
        "101 package URIs: give 1 to 100",
        custom(worker(code=package(packageUris=["gs://b/p"] * 100))),
    ),
    example("package", custom(worker(code=package(packageUris=[]))), "0 package URIs", custom()),
    example("package", custom(worker(code=package(packageUris=["/tmp/p"]))), "not in Cloud Storage", custom()),
    example("package", custom(worker(code=package(pythonModule="a b"))), "not a module's name", custom()),
    example(
        "env",
        custom(worker(code=package(env=env(*(f"V{i}" for i in range(101)))))),
        "101 environment variables",
        custom(worker(code=package(env=env(*(f"V{i}" for i in range(100)))))),
    ),
    example(
        "env",
        custom(worker(code=container(env=env("NOT-C")))),
        "'NOT-C' is not a C identifier",
        custom(worker(code=container(env=env("_IS_C", "A9")))),
    ),
    example("env", custom(worker(code=package(env=env("A", "A")))), "A is set twice", custom()),
    example(
        "env",
        custom(worker(code=package(env=[{"name": "A", "value": "don't"}]))),
        "environment variable A has an apostrophe in its value",
        custom(worker(code=package(env=[{"name": "A", "value": "don\\'t"}]))),
    ),
    example(
        "arguments",
        custom(worker(code=package(args=["a" * 60_000])), worker(code=package(args=["b" * 40_001]))),
        "100,001 characters",
        custom(worker(code=package(args=["a" * 60_000])), worker(code=package(args=["b" * 40_000]))),
    ),
)
