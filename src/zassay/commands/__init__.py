"""The verbs. Each module has a docstring (its help), ``add_arguments(parser)`` and ``main(args) -> int | None``."""
