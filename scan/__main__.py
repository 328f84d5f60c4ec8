"""`python -m scan`: the same as the `scan` command."""

import sys

from scan.commands import main

if __name__ == "__main__":
    sys.exit(main())
