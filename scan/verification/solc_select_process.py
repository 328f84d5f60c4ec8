"""solc-select in a process of its own: installs the versions in its arguments.

Its downloads have no time-out, and VIRTUAL_ENV, read at import, says where it stores them: the
process that starts this one bounds the time and chooses the directory. Run as a file, this module
needs no package but solc-select, whatever the working directory is.
"""

import sys

if __name__ == "__main__":
    from solc_select.solc_select import install_artifacts

    sys.exit(0 if install_artifacts(sys.argv[1:]) else 1)
