"""`python -m local.plugin.install PULUMI_HOME`; in code it is the function `local.plugin.install`."""

import sys

from local.plugin.installation import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
