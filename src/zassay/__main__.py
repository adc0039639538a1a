import sys

from zassay.cli import main

sys.exit(main())
