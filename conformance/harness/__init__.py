"""What `conformance/run` consists of: installing, asking, comparing, naming causes, and reporting."""

import pathlib
import sys

# What the campaigns have, such as shrinking, serves here too.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "prove"))
