"""``python -m articulon``: the command, where it is not on the path."""

from articulon.cli import main

main()
