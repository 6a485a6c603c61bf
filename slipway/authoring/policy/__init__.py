"""A team's own rules over the facts of a stack, a row each. The stack file sets which hold, and how strictly."""
