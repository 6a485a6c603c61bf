"""`python -m tune.task`"""

# Every step is seeded, so that two runs are the same.
EVERY = 20  # steps between two checkpoints


def main() -> None:
    print("accuracy", EVERY)


if __name__ == "__main__":
    main()
