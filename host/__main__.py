"""`python -m host` is `assay`."""

import sys

from host.main import main

if __name__ == "__main__":
    sys.exit(main())
