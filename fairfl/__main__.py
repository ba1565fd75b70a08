"""``python -m fairfl``: the command line."""

from fairfl.cli.main import main

main()
