"""Outputs of benchmark tools from outside: a map says what each file is; then they are runs like our own, less the gates."""
