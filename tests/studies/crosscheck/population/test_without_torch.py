"""population/ loads no torch: claims import it, and are checked without the extra sims."""

import subprocess
import sys

LOAD = """
import sys
from importlib import import_module
from pkgutil import iter_modules
from fairfl.studies.crosscheck import population
names = [entry.name for entry in iter_modules(population.__path__)]
for name in names:
    import_module(f"{population.__name__}.{name}")
print(len(names), "torch" in sys.modules)
"""


def test_no_module_loads_torch():
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True)
    count, loaded = done.stdout.split()
    assert int(count) >= 6 and loaded == "False"
