"""The parts of the terminal that commands share: options, displays, and the words of a submission."""
