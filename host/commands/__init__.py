"""The subcommands of `assay`, one module each; a module is imported when its command is used."""
