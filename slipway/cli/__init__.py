"""The `slipway` command. Each subcommand is a module of its own, imported when it is called."""
