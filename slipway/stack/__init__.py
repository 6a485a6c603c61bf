"""The stack file: what one environment declares, typed and checked as a whole."""
