"""Who may do what: the people and accounts there are, tokens, roles and policies."""
