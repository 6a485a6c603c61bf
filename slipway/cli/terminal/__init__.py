"""Parts of the terminal that commands share: options, what is shown and how, and what is typed to submit."""
