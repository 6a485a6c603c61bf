"""Images of jobs and of the executor."""

from tests.review.case import Case, Edit, template, warns


def image_of_digits(arguments: str) -> tuple[Edit, ...]:
    return (
        template("digits", "Disk, JobTemplate, Package,", "Disk, Image, JobTemplate,"),
        template("digits", 'Package("jobs/digits", "digits.task", IMAGE)', f"Image(IMAGE, {arguments})"),
        template("digits", "training/sklearn-cpu.1-6:20260901", f"training/digits@sha256:{'d' * 64}"),
    )


GPU = "pytorch-gpu.2-4.py310"


def image(says: str, name: str, old: str, new: str) -> Case:
    return Case(says, (template(name, old, new),), (warns("dependency-changed", name),))


CASES = (
    Case(
        "A package becomes an image, whose files nobody keeps",
        image_of_digits("launcher=False"),
        (
            warns("submission-changed", "digits"),
            warns("submission-warning", "digits"),
            warns("dependency-changed", "digits"),
        ),
    ),
    image("An image of another Python", "lora", GPU, "pytorch-gpu.2-4.py312"),
)
