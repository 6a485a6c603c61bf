"""What the commands share of the terminal: options, what is shown and how, and what is typed to submit."""
