"""Small pipelines, as teams write them with kfp: one for each thing that a pipeline can have."""

# ruff: noqa: B006, UP045 - kfp reads defaults and optional types of signatures as these are

from functools import partial
from typing import NamedTuple, Optional

from kfp import dsl

PYTHON = "python:3.12-slim"
HAS_KFP = "python:3.12"
"""An image that has kfp, so that its components install nothing when they start."""
component = partial(dsl.component, base_image=HAS_KFP, install_kfp_package=False)


@dsl.component(base_image=PYTHON)
def greet(name: str) -> str:
    print(f"hello, {name}")
    return f"hello, {name}"


@component
def double(number: int) -> int:
    print(f"doubled to {2 * number}")
    return 2 * number


@component
def add(one: int, other: int) -> int:
    print(f"the sum is {one + other}")
    return one + other


@component
def tell(text: str, count: int, ratio: float, loud: bool, items: list, options: dict) -> dict:
    print("told", text, count, ratio, loud, items, options["depth"])
    return {"all": [*items, text], **options}


@component
def unfold(options: dict, items: list) -> str:
    print("unfolded", options["depth"], options["all"], items)
    return str(options)


@component
def make_data(rows: int, data: dsl.Output[dsl.Dataset]) -> None:
    import pathlib

    data.metadata["rows"] = rows
    pathlib.Path(data.path).write_text("\n".join(map(str, range(rows))))


@component
def fit(data: dsl.Input[dsl.Dataset], model: dsl.Output[dsl.Model]) -> None:
    import pathlib

    total = sum(map(int, pathlib.Path(data.path).read_text().split()))
    model.metadata["framework"] = "none"
    pathlib.Path(model.path).write_text(str(total))
    print("rows in the metadata:", data.metadata["rows"])


@component
def evaluate(model: dsl.Input[dsl.Model], metrics: dsl.Output[dsl.Metrics], page: dsl.Output[dsl.Markdown]) -> float:
    import pathlib

    score = float(pathlib.Path(model.path).read_text())
    metrics.log_metric("score", score)
    pathlib.Path(page.path).write_text(f"# The score is {score}")
    print(f"{model.metadata['framework']} scores {score}")
    return score


@component
def split(words: str) -> NamedTuple("Outputs", [("head", str), ("tail", list)]):  # type: ignore[valid-type]
    head, *tail = words.split()
    return (head, tail)


@component
def show(text: str, more: list = ["none"], note: Optional[str] = None) -> None:
    print("shown", text, more, note)


@component
def fail_once(marker: dsl.OutputPath(str)) -> None:
    import pathlib

    file = pathlib.Path(marker)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("tried")
        raise SystemExit("the first try fails")
    print("the second try goes well")


@component
def environment(run: str, task: str) -> None:
    import os

    print("set to", os.environ["GREETING"], "in", run, "as", task)


@dsl.container_component
def concatenate(first: str, second: str, text: dsl.OutputPath(str), ending: str = "!") -> dsl.ContainerSpec:
    script = 'mkdir -p "$(dirname "$1")"; printf "%s" "$0" | tee "$1"'
    joined = dsl.ConcatPlaceholder(["joined ", first, "-", second, ending])
    return dsl.ContainerSpec(image=PYTHON, command=["sh", "-c", script], args=[joined, text])


@dsl.container_component
def perhaps(name: Optional[str] = None) -> dsl.ContainerSpec:
    words = dsl.IfPresentPlaceholder("name", then=["it is", name], else_=["nobody"])
    return dsl.ContainerSpec(image=PYTHON, command=["echo"], args=["and", words])


@dsl.pipeline
def hello_world(name: str = "world") -> str:
    return greet(name=name).output


@dsl.pipeline
def sequential(number: int = 3) -> None:
    double(number=double(number=number).output)


@dsl.pipeline
def parallel_join(number: int = 5) -> None:
    left, right = double(number=number), double(number=7)
    add(one=left.output, other=right.output)


@dsl.pipeline
def parameters(
    text: str = "a b",
    count: int = 2,
    ratio: float = 0.5,
    loud: bool = True,
    items: list = [1, 2],
    options: dict = {"depth": 3},
) -> None:
    tell(text=text, count=count, ratio=ratio, loud=loud, items=items, options=options)


@dsl.pipeline
def lists_and_dicts(items: list = ["x"]) -> None:
    told = tell(text="t", count=1, ratio=1.0, loud=False, items=items, options={"depth": 9})
    unfold(options=told.output, items=["y", 1])


@dsl.pipeline
def artifacts(rows: int = 4) -> None:
    fit(data=make_data(rows=rows).outputs["data"])


@dsl.pipeline
def metrics(rows: int = 5) -> float:
    model = fit(data=make_data(rows=rows).outputs["data"]).outputs["model"]
    return evaluate(model=model).outputs["Output"]


@dsl.pipeline
def several_outputs(words: str = "one two three") -> None:
    parts = split(words=words)
    show(text=parts.outputs["head"], more=parts.outputs["tail"])


@dsl.pipeline
def optional_inputs(note: Optional[str] = None) -> None:
    show(text="alone", note=note)
    perhaps()
    perhaps(name="ada")


@dsl.pipeline
def inner(number: int) -> int:
    return double(number=double(number=number).output).output


@dsl.pipeline
def nested(number: int = 2) -> None:
    add(one=inner(number=number).output, other=inner(number=10).output)


@dsl.pipeline
def containers(first: str = "a") -> None:
    joined = concatenate(first=first, second="b")
    show(text=joined.outputs["text"])


@dsl.pipeline
def ordered() -> None:
    first = double(number=1).set_display_name("The first")
    show(text="last").after(first)


@dsl.pipeline
def retried() -> None:
    fail_once().set_retry(num_retries=2, backoff_duration="1s")


@dsl.pipeline
def cached() -> None:
    double(number=21).set_caching_options(True)
    double(number=22).set_caching_options(False)


@dsl.pipeline
def resources() -> None:
    wide = double(number=1).set_cpu_request("1").set_cpu_limit("4").set_memory_limit("15G")
    double(number=wide.output).set_accelerator_type("NVIDIA_TESLA_T4").set_accelerator_limit(1)


@dsl.pipeline
def variables() -> None:
    task = environment(run=dsl.PIPELINE_JOB_NAME_PLACEHOLDER, task=dsl.PIPELINE_TASK_NAME_PLACEHOLDER)
    task.set_env_variable("GREETING", "hi")


@dsl.pipeline
def conditions(number: int = 3) -> None:
    doubled = double(number=number)
    with dsl.If(doubled.output > 5):
        show(text="large")
    with dsl.Else():
        show(text="small")


@dsl.pipeline
def one_of(number: int = 3) -> int:
    with dsl.If(number > 5):
        large = double(number=1)
    with dsl.Else():
        small = double(number=2)
    return dsl.OneOf(large.output, small.output)


@dsl.pipeline
def loops() -> None:
    with dsl.ParallelFor([1, 2, 3], parallelism=2) as number:
        double(number=number)


@dsl.pipeline
def collected() -> None:
    with dsl.ParallelFor([1, 2]) as number:
        doubled = double(number=number)
    show(text="all", more=dsl.Collected(doubled.output))


@dsl.pipeline
def exit_handler() -> None:
    with dsl.ExitHandler(show(text="whatever happened")):
        double(number=1)


@dsl.pipeline
def whatever_failed() -> None:
    double(number=2).after(double(number=1)).ignore_upstream_failure()


@dsl.pipeline
def importer() -> None:
    data = dsl.importer(artifact_uri="gs://acme/data.csv", artifact_class=dsl.Dataset)
    fit(data=data.output)
