"""What was mistyped gets a suggestion that helps, or none."""

import pytest

from slipway.front.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("submit", "--template", "hello"), "No such option '--template'. Did you mean TEMPLATE, without a flag?"),
        (("submit", "hello", "--max-duration=2h"), "Did you mean --max-run, the job's longest run?"),
        (("submit", "hello", "--timeout-s", "60"), "Did you mean --max-run, the job's longest run?"),
        (("submit", "hello", "--max-restarts", "2"), "Did you mean --retries?"),
        (("submit", "hello", "--num-nodes", "2"), "Did you mean --replicas, the machines of your own command?"),
        (
            ("run", "--gpus", "1", "train.py"),
            "Did you mean --machine TYPE, of those in slipway templates show script?\n",
        ),
        (("session", "start", "--gpu=1"), "Did you mean --machine TYPE, of those in slipway templates show script?\n"),
        (
            ("run", "--image", "torch", "train.py"),
            "Did you mean slipway submit NAME --code DIR, of a template with that image (docs/own-image.md)?\n",
        ),
        (("run", "--spot", "train.py"), "Did you mean --capacity spot?\n  fix: slipway run --help\n"),
        (("run", "--timeout", "2h", "train.py"), "Did you mean --max-run, the job's longest run?\n"),
        (("run", "--cluster", "cpu", "train.py"), "Did you mean --pool CLUSTER/POOL?\n"),
        (("run", "--workdir", "src", "train.py"), "Did you mean --code DIR?\n"),
        (("run", "--follow", "train.py"), "Did you mean no flag, as run follows the job without one?\n"),
        (("submit", "hello", "--detach"), "Did you mean no flag, as nothing waits without --wait or --follow?\n"),
        (("run", "-m", "churn.train"), "Did you mean python -m MODULE, as the command?\n"),
        (("run", "--urgent", "train.py"), "Did you mean slipway submit script --code . -p command=… --urgent?\n"),
        (("run", "--like", "lr-01"), "Did you mean slipway submit --like JOB?\n"),
        (
            ("session", "run", "-e", "LR=1", "train.py"),
            "Did you mean 'LR=1 python train.py', the variable in the command?",
        ),
        (("session", "run", "--name", "a", "ls"), "Did you mean --session?\n"),
        (
            ("run", "--dryrun", "ls"),
            "fix: slipway run --dry-run …, or slipway run COMMAND --dryrun … for the command's own",
        ),
        (("run", "--tail", "5", "train.py"), "Did you mean slipway jobs logs JOB --tail N?\n"),
        (("pools", "--image"), "No such option '--image'.\n  fix: slipway pools --help\n"),
        (("jobs", "logs", "-n", "3", "hello"), "Did you mean --tail?\n"),
        (("jobs", "list", "-n", "3"), "Did you mean --limit?\n"),
        (("jobs", "list", "--mine"), "Did you mean --user NAME?\n"),
        (("submit", "hello", "--priority", "high"), "Did you mean --urgent, or slipway jobs yield JOB --to ME"),
        (
            ("run", "--priority", "high", "train.py"),
            "Did you mean slipway submit script --code . -p command=… --urgent",
        ),
        (
            ("submit", "hello", "--gpus", "2"),
            "Did you mean -p machine=TYPE, of those in slipway templates show TEMPLATE?",
        ),
        (("submit", "hello", "--no-such"), "No such option '--no-such'. Did you mean the parameter -p no_such=VALUE?"),
        (("submit", "hello", "--workers=3"), "Did you mean the parameter -p workers=VALUE?"),
        (("submit", "hello", "--seed", "3"), "Did you mean --sweep, or the parameter -p seed=VALUE?"),
        (("jobs", "show", "--job", "hello"), "No such option '--job'. Did you mean JOB, without a flag?"),
        (("jobs", "list", "--templates", "hello"), "No such option '--templates'. Did you mean --template?"),
        (("pools", "-x"), "No such option '-x'.\n"),
        (("submit", "hello", "workers=3"), "Got unexpected extra argument (workers=3); did you mean -p workers=3?"),
        (("submit", "hello", "note=a b"), "Got unexpected extra argument (note=a b); did you mean -p 'note=a b'?"),
        (("submit", "hello", "-p", "lr", "0.1"), "Got unexpected extra argument (0.1)\n  fix: -p lr=0.1\n"),
        (("submit", "hello", "-p", "a", "1", "-p", "b", "x"), "extra arguments (1 x)\n  fix: -p a=1 -p b=x\n"),
        (("submit", "script", "python", "train.py"), "fix: slipway run python train.py\n"),
        (
            ("submit", "script", "--capacity", "spot", "torchrun", "train.py", "--lr", "0.1"),
            "fix: slipway run --capacity spot torchrun train.py --lr 0.1\n",
        ),
        (("submit", "hello", "python", "-m", "train"), "fix: slipway run --template hello python -m train\n"),
        (("submit", "hello", "--follow", "train.py", "--lr=1"), "fix: slipway run --template hello train.py --lr=1\n"),
        (("submit", "hello", "python train.py"), "fix: slipway run --template hello 'python train.py'\n"),
        (("submit", "script", "--", "nvidia-smi", "-L"), "fix: slipway run nvidia-smi -L\n"),
        (("submit", "script", "-p", "lr", "0.1"), "Got unexpected extra argument (0.1)\n  fix: -p lr=0.1\n"),
        (("submit", "hello", "surplus"), "Got unexpected extra argument (surplus)\n  fix: slipway submit --help\n"),
        (("jobs", "list", "--state", "runing"), "\n  fix: --state running\n"),
        (("completion", "fsh"), "\n  fix: slipway completion fish\n"),
        (("jobs", "list", "--state", "zzz"), "\n  fix: slipway jobs list --help\n"),
        (("jobs", "list", "cpu=3"), "Got unexpected extra argument (cpu=3)\n"),
        (("init", ".", "--template", "torchrun-digits"), "it copies script and tune-digits\n  fix: copy its file and"),
        (("drift", "--stack", "dev"), "fix: make events STACK=NAME, then slipway drift .slipway/NAME.events\n"),
        (("review", "--stack=dev"), "fix: make events STACK=NAME, then slipway review .slipway/NAME.events\n"),
        (("pools", "--stack", "dev"), "fix: the stack is that of the catalog: slipway use, or --catalog gs://BUCKET\n"),
        (("check", "--stack", "dev"), "Did you mean STACKS, without a flag?\n  fix: slipway check --help\n"),
        (("jobs", "logs", "--tial", "3", "hello"), "No such option '--tial'. Did you mean --tail?"),
    ],
)
def test_a_mistake_gets_a_suggestion_that_helps_or_none(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
