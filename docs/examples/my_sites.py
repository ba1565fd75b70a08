import subprocess
import sys

import numpy as np

line, rng = [sys.executable, "-m", "fairfl", "study", "my_sites.toml"], np.random.default_rng(0)
for k, site in enumerate(("north", "south", "west")):
    for file in (people := f"{site}_people.csv", new := f"{site}_new.csv"):
        f = rng.random(4000) < 0.3 + 0.2 * k
        p = 1 / (1 + np.exp(-rng.normal(np.where(f, -0.4 * k, 0.6), 1.5)))
        columns = p.round(3), np.where(rng.random(4000) < p, "yes", "no"), np.where(f, "f", "m")
        np.savetxt(file, np.stack(columns, 1), "%s", ",", header="score,repaid,sex", comments="")
    options = "--table", people, "--new", new, "--out", site, "--yes"
    subprocess.Popen([*line, "--site", site, *options], stdout=subprocess.DEVNULL)
subprocess.run([*line, "--out", "coordinator"])
