"""The stack file: the declaration of one environment, typed and checked as a whole."""
