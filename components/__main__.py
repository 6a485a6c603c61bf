"""The plugin of these components: started by Pulumi as `python FOLDER`, by its name as `pulumi-resource-slipway`."""

import sys
from pathlib import Path

if not __package__:  # Pulumi's search path begins with this folder, whose modules have no such short names.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from components.host import main
else:
    from .host import main

if __name__ == "__main__":
    main()
