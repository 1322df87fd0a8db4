"""`python -m flexarm`: the command line."""

from flexarm.cli import main

main()
