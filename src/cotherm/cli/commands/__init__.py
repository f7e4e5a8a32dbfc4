"""One file a command: HELP (a line), ABOUT, EXAMPLES, ``add_options(parser)`` and ``run(options)``."""
