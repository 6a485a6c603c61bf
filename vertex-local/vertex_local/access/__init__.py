"""Access: people and accounts, tokens, roles and policies."""
