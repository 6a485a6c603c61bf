"""Parameters of a template: defaults, bounds, types, names."""

from tests.review.case import BUSY, LARGE, Case, Edit, Job, World, hurts, silent, stops, tells, template
from tests.review.edits import DASK_WORKERS, LARGE_ONES, LATELY, ON_A100, RANK, REFUSED, STUDIED, TYPES, VARIANT

STUDY = Job("study-4", "tune", parameters={"trials": 4}, capacity_type="pool", state="SUCCEEDED", hours=60)
LARGE_REFUSED = f"        {REFUSED.replace('9b', '27b')},\n"
CLOSED = '            refusal="27b is closed",\n        ),\n'
LARGE_CLOSED = template("lora", LARGE_ONES, CLOSED)
ON_CPUS = (
    template("lora", TYPES, '("pool", "spot", "on-demand")'),
    template("lora", '    waits={"flex-start": 7200},\n', ""),
    template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', '"n1-standard-8", Disk("pd-ssd", 100)'),
)

XL_COMES = (
    template("lora", 'choices=("9b", "27b")', 'choices=("9b", "27b", "70b")'),
    template(
        "lora", VARIANT, VARIANT.replace("Variant(", 'Variant({"model": "70b"}, refusal="ask us"),\n        Variant(')
    ),
)
XL_GOES = tuple(Edit(edit.file, edit.new or "", edit.old) for edit in XL_COMES)
T4 = '"n1-standard-8", Disk("pd-ssd", 200), accelerator="NVIDIA_TESLA_T4", accelerator_count=1'
LONG = "gs://acme-models/google/gemma-2/2026-09-01/everything-but-tests/compiled-for-all-v1"
BASE_MODEL = ('"rank", int, default=16, min=1, max=256', f'"rank", str, default="{LONG}"')

CASES = (
    Case(
        "The small model is the default again: the pool for the large one stays, paid",
        (template("lora", 'default="27b"', 'default="9b"'),),
        (hurts("default-changed", "lora", "`n1-standard-8 with 1 NVIDIA_TESLA_T4` instead of `a3-highgpu-8g`"),),
        may=("run-cost",),
        given=(
            template("lora", 'default="9b"', 'default="27b"'),
            template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', T4),
            template("lora", TYPES, '("spot", "on-demand")'),
            template("lora", '    waits={"flex-start": 7200},\n', ""),
        ),
        never=("no template", "take it out"),
    ),
    Case(
        "More trials at once by default, which a small study can't have",
        (template("tune", "default=2, min=1, max=4", "default=8, min=1, max=8"),),
        (
            hurts("default-changed", "tune", "`8` instead of `2`"),
            hurts("minimum-below-default", "cpu/workers"),
        ),
        may=("bounds-widened",),
        world=World(jobs=(STUDY, *BUSY.jobs)),
        accident="a default that no schedule had been tried with",
    ),
    Case(
        "A size of the model is not offered any more, with its own ways to run",
        (template("lora", 'default="9b", choices=("9b", "27b")', 'default="27b", choices=("27b",)'),),
        (
            hurts("bounds-narrowed", "lora", "`9b` are refused"),
            hurts("default-changed", "lora", "`a3-highgpu-8g` instead"),
        ),
        may=("run-cost",),
        world=BUSY,
        never=("can't use Spot any more", "to run as before"),
    ),
    Case(
        "The workers go: the scheduler is to do it all",
        (
            template("digits", DASK_WORKERS, ""),
            template(
                "digits",
                '        Parameter("workers", int, default=4, min=1, max=16, help="worker machines"),\n',
                "",
            ),
        ),
        (
            hurts("machines-changed", "digits", "workers"),
            stops("parameter-gone", "digits parameter workers", "nightly"),
        ),
        world=World(jobs=(Job("digits-wide", "digits", "nightly", parameters={"workers": 2}),)),
    ),
    Case(
        "Large models are refused until further notice, while one runs",
        (
            template(
                "lora", LARGE_ONES, '            refusal="27b is closed until the evaluation is done",\n        ),\n'
            ),
        ),
        (
            stops("bounds-narrowed", "lora", "by ada had such values"),
            stops("pool-unused", "h100/workers", "no template that may use it fits it"),
            stops("reservation-paid", "bought"),
        ),
        world=BUSY,
        never=("instead of", "are offered", "would fit it"),
        accident="machines that were paid for and that nobody could use",
    ),
    Case(
        "Values that were refused together may be submitted",
        (template("lora", f"        {REFUSED},\n", ""),),
        (tells("bounds-widened", "lora", "precision=fp32"),),
        given=(template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),),
    ),
    Case(
        "A whole number may be a fraction from now on",
        (template("evals", "int, default=8, min=1, max=512", "float, default=8.0, min=1, max=512"),),
        (hurts("parameter-type", "evals parameter batch", "code that reads a whole number may fail"),),
        accident="a program that could not read `8.0`",
    ),
    Case(
        "More values of a parameter are allowed",
        (template("lora", "min=1, max=256, help", "min=1, max=512, help"), XL_COMES[0]),
        (
            tells("bounds-widened", "rank", "256", "512"),
            tells("bounds-widened", "case", "(model=70b) may be submitted: one way costs $2.53/h on Spot"),
        ),
        world=BUSY,
        never=("refused them", "can use", "can also use"),
    ),
    Case(
        "A wider bound for which the pool still has room: nobody is crowded out",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=6"),),
        (tells("bounds-widened", "tune"),),
        never=("others wait",),
        world=BUSY,
    ),
    Case(
        "A bound beyond the pool: who else waits",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=20"),),
        (tells("bounds-widened", "tune", "up to 20"),),
        world=BUSY,
        accident="one study that held a shared pool for a night",
    ),
    Case(
        "A bound up to the whole pool, for more trials at once than a study has by default",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=16"),),
        (tells("bounds-widened", "tune", "up to 16"),),
        never=("can't start", "never runs there"),
        world=BUSY,
        accident="one study that held a shared pool for a night",
    ),
    Case(
        "The usual number of workers is four times as large, for everybody who does not say one",
        (template("digits", 'Parameter("workers", int, default=4', 'Parameter("workers", int, default=16'),),
        (
            hurts("default-changed", "digits parameter workers", "4", "16"),
            hurts("run-cost", "template digits", "→"),
            hurts("minimum-below-default", "cpu/workers", "`digits`"),
        ),
        world=BUSY,
        accident="a default a hundred times as large",
    ),
    Case(
        "A parameter gets another name, default and flag under a running sweep that sets it",
        (
            template("lora", RANK, RANK.replace('"rank", int, default=16', '"lora_rank", int, default=32')),
            template("lora", '"--rank=${rank}"', '"--lora-rank=${lora_rank}"'),
        ),
        (
            stops("parameter-renamed", "lora parameter rank", "ada", "set `lora_rank` in place of `rank`"),
            hurts("default-changed", "lora parameter lora_rank", "`32` instead of `16`"),
            hurts("arguments-changed", "lora", "with `--lora-rank=${lora_rank}`"),
        ),
        world=LATELY,
        never=("--lora-rank=32", "leave `rank` out", "may set `lora_rank`"),
        accident="a renamed input that broke every caller",
    ),
    Case(
        "A parameter that chooses the machines gets another name and default",
        (
            template("lora", 'Parameter("model", str, default="9b"', 'Parameter("size", str, default="27b"'),
            template("lora", '"--model=${model}"', '"--model=${size}"'),
            template("lora", '{"model": "27b"}', '{"size": "27b"}'),
        ),
        (
            hurts("parameter-renamed", "lora parameter model", "set `size` in place of `model`"),
            hurts("default-changed", "lora parameter size", "`a3-highgpu-8g` instead of `a2-highgpu-1g`"),
            tells("run-cost", "template lora", "A default run of `lora` costs $2.53/h on Spot → only what pool"),
        ),
        accident="a renamed input that broke every caller",
    ),
    Case(
        "A parameter goes that people use",
        (
            template("lora", RANK, ""),
            template("lora", '"--rank=${rank}"', '"--rank=16"'),
        ),
        (stops("parameter-gone", "lora parameter rank", "2 submissions by ada"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="a removed input that broke every caller",
    ),
    Case(
        "A parameter goes that nobody used",
        (
            template(
                "digits",
                '        Parameter("seed", int, default=0, min=0, max=1000, help="the same seed, the same search"),\n',
                "",
            ),
            template("digits", '"--seed=${seed}"', '"--seed=0"'),
        ),
        (hurts("parameter-gone", "digits parameter seed", "nobody"),),
        may=("arguments-changed",),
        world=World(),
    ),
    Case(
        "A parameter takes a list from now on",
        (template("digits", 'Parameter("seed", int, default=0,', 'Parameter("seed", list[int], default=(0,),'),),
        (hurts("parameter-type", "digits parameter seed", "list[int]", "may fail"),),
        world=World(),
        accident="a module's variable that became a list and broke its callers",
    ),
    Case(
        "A parameter takes a list from now on, and fewer values",
        (
            template("digits", 'Parameter("seed", int, default=0,', 'Parameter("seed", list[int], default=(0,),'),
            template("digits", "min=0, max=1000", "min=0, max=10"),
        ),
        (
            hurts("parameter-type", "digits parameter seed", "list[int]", "may fail"),
            hurts("bounds-narrowed", "digits parameter seed", "above 10 (it was 1000)"),
        ),
        world=World(),
        accident="an input that was tidied and refused what schedules sent",
    ),
    Case(
        "The smallest value of a parameter is raised above what the sweep uses",
        (template("lora", "default=16, min=1, max=256", "default=128, min=128, max=256"),),
        (
            stops("bounds-narrowed", "lora parameter rank", "ada 2"),
            hurts("default-changed", "rank", "16", "128"),
        ),
        world=LATELY,
    ),
    Case(
        "A parameter that need not be set has to be",
        (template("lora", 'Parameter("steps", int, default=100,', 'Parameter("steps", int,'),),
        (stops("parameter-required", "lora parameter steps"),),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A whole number becomes a text",
        (
            template(
                "digits",
                'Parameter("trees", int, default=200, min=1, max=5000, help="trees in a forest")',
                'Parameter("trees", str, default="200", help="trees in a forest")',
            ),
        ),
        (stops("parameter-type", "digits parameter trees", "may give `trees` as str", "reads a whole number"),),
        world=LATELY,
        never=("can't be read as that is refused", "have to give"),
    ),
    Case(
        "A parameter that everybody has to set from now on",
        (
            template("lora", RANK, RANK + '        Parameter("data", str, help="where the texts are"),\n'),
            template("lora", '"--rank=${rank}",', '"--rank=${rank}",\n    "--data=${data}",'),
        ),
        (stops("parameter-required", "lora parameter data", "without `data` are refused"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A parameter is a command from now on, which no shell reads",
        (template("evals", '("core", "full"), ', '("core", "full"), command=True, '),),
        (hurts("bounds-narrowed", "evals parameter suite", "a shell, as with `&&`"),),
        may=("arguments-changed",),
    ),
    Case(
        "A size of the model that had machines of its own is renamed away",
        (
            template("lora", 'choices=("9b", "27b")', 'choices=("9b", "27b-it")'),
            template("lora", '{"model": "27b"}', '{"model": "27b-it"}'),
        ),
        (stops("bounds-narrowed", "lora parameter model", "27b", "ada"),),
        may=("offer-gone", "machines-changed", "run-cost"),
        world=World(jobs=(LARGE,)),
    ),
    Case(
        "A parameter has another name, and whoever set it may have set its default",
        (
            template("digits", 'Parameter("seed"', 'Parameter("rng"'),
            template("digits", "--seed=${seed}", "--seed=${rng}"),
        ),
        (hurts("parameter-renamed", "digits", "nobody gave it a value of their own"),),
        world=World(jobs=(Job("digits-night", "digits", user="nightly", parameters={"seed": 0}),)),
        never=("nobody set it",),
    ),
    Case(
        "A long default ends in another way",
        (template("lora", "for-all-v1", "for-all-v2"),),
        (
            hurts(
                *("default-changed", "lora parameter rank", "get `…/compiled-for-all-v2` instead of"),
                *("`…/compiled-for-all-v1`", "`parameters.rank.default` `…/compiled-for-all-v1` →"),
            ),
        ),
        given=(template("lora", *BASE_MODEL),),
        accident="a word at the end of a long value, which the plan had cut off",
    ),
    Case(
        "A default has a blank more at its end",
        (template("lora", 'for-all-v1"', 'for-all-v1 "'),),
        (hurts("default-changed", "lora parameter rank", "v1␣` instead of the same with other blanks"),),
        given=(template("lora", *BASE_MODEL),),
        accident="a plan that showed the same text twice",
    ),
    silent(
        "A long default is written in two parts",
        template("lora", "2026-09-01/everything", '2026-09-01/" "everything'),
        given=(template("lora", *BASE_MODEL),),
    ),
    Case(
        "A fraction has to be a whole number",
        (template("digits", 'Parameter("trees", float,', 'Parameter("trees", int,'),),
        (stops("parameter-type", "digits parameter trees", "have to give `trees` as int instead of float"),),
        given=(template("digits", 'Parameter("trees", int,', 'Parameter("trees", float,'),),
        world=LATELY,
        accident="scripts that failed at night, for a rate of 0.5",
    ),
    Case(
        "Another default for precision, which says nothing of memory and time",
        (template("lora", 'default="bf16"', 'default="fp32"'),),
        (
            hurts("default-changed", "precision", "`fp32` instead of `bf16`"),
            stops("bounds-narrowed", "precision", "(model=27b) without `precision` are refused", "by ada had"),
        ),
        given=(template("lora", VARIANT, VARIANT.replace("(\n", f"(\n{LARGE_REFUSED}", 1)),),
        world=BUSY,
        never=("memory and", "suffice", "timeout", "results may differ"),
        accident="a default of half precision, with losses that were no numbers",
    ),
    Case(
        "A parameter goes, and all jobs get another value than its default",
        (template("lora", RANK, ""), template("lora", '"--rank=${rank}"', '"--rank=64"')),
        (
            stops("parameter-gone", "lora parameter rank", "2 submissions by ada"),
            hurts("arguments-changed", "lora", "`--rank=64` instead of `--rank=${rank}`"),
        ),
        world=LATELY,
        never=("instead of `--rank=16`",),
        accident="a flag removed from a script that others' schedules still passed",
    ),
    Case(
        "All trials of a study at once",
        (template("tune", "default=2, min=1, max=4", "default=8, min=1, max=8"),),
        (
            hurts(
                "default-changed",
                "tune",
                "`8` instead of `2`",
            ),
        ),
        may=("bounds-widened", "minimum-below-default"),
        world=BUSY,
        accident="a study whose trials learnt nothing from each other",
    ),
    Case(
        "Ranks of a list in place of a range",
        (template("lora", "default=16, min=1, max=256", "default=16, choices=(8, 16, 32)"),),
        (stops("bounds-narrowed", "rank", "other than `8`, `16` or `32`"),),
        never=("of any size",),
        world=BUSY,
        accident="submissions that were refused overnight",
    ),
    Case(
        "A parameter that had to be given gets a default",
        (template("tune", '"folds", int', '"folds", int, default=3'),),
        (tells("default-changed", "tune", "may leave out `folds`", "`3`"),),
        given=(template("tune", '"folds", int, default=3', '"folds", int'),),
    ),
    Case(
        "More workers may be asked for than the pool has machines",
        (template("digits", 'default=4, min=1, max=16, help="worker', 'default=4, min=1, max=64, help="worker'),),
        (tells("bounds-widened", "digits parameter workers", "up to 64"),),
        world=BUSY,
    ),
    Case(
        "A study runs one trial at a time: eight times as long",
        (template("tune", 'Parameter("parallel", int, default=2', 'Parameter("parallel", int, default=1'),),
        (hurts("default-changed", "tune parameter parallel", "2", "1"),),
    ),
    Case(
        "Five times as many trials, and twice as many at once",
        (template("tune", "int, default=8", "int, default=40"), template("tune", "int, default=2", "int, default=4")),
        (
            hurts(
                "default-changed",
                "tune",
                "`40` instead of `8`",
            ),
            hurts(
                "default-changed",
                "tune",
                "`4` instead of `2`",
            ),
        ),
        world=STUDIED,
        may=("run-cost", "minimum-below-default"),
        accident="a search that doubled, and its bill with it",
    ),
    Case(
        "Large models are refused, where the small ones may use a pool",
        (LARGE_CLOSED,),
        (
            stops("bounds-narrowed", "lora", "model=27b", "refused when they are submitted"),
            stops("pool-unused", "h100/workers"),
            stops("reservation-paid", "bought"),
        ),
        given=ON_CPUS,
        world=BUSY,
        never=("can't start", "nor run at all", "are offered"),
    ),
    Case(
        "Large models that were refused may run by flex-start alone",
        (template("lora", CLOSED, ON_A100.replace('"flex-start", "on-demand"', '"flex-start",')),),
        (hurts("bounds-widened", "lora", "model=27b", "may be submitted", "by flex-start"),),
        given=(LARGE_CLOSED,),
        never=("are not offered", "can also use"),
    ),
    silent("A size that the template's file refused anyway is no choice any more", *XL_GOES, given=XL_COMES),
    silent("A size that the template's file refuses is a choice from now on", *XL_COMES),
)
