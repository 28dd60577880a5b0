"""`python -m service` is `rafs serve`."""

import sys

from service.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "serve")
    main()
