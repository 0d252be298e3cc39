"""Run the command as ``python -m articulon`` if it is not on the path."""

from articulon.cli import main

main()
