"""The critical path of a training step: which rank it is on, and what that rank does."""
# %% Simulate a step
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from railyard import query, railyard

here = os.path.dirname(os.path.abspath(__file__))
out = sys.argv[1] if len(sys.argv) > 1 else "notebook-critical"
scenario = os.path.join(here, "..", "..", "scenarios", "seed-32-gpus.yaml")
railyard("run", scenario, "--out", out, "--force")

# %% Plot it
path = query(out, "select start_ps / 1e9 as start, (end_ps - start_ps) / 1e9 as ms, rank, class from critical "
                  "order by 1")
fig, ax = plt.subplots(figsize=(10, 4))
for number, (name, part) in enumerate(path.groupby("class")):
    ax.barh(part["rank"], part.ms, left=part.start, color=f"C{number}", label=name)
ax.set(xlabel="ms", ylabel="rank", title="critical path")
ax.legend()
fig.tight_layout()
fig.savefig(os.path.join(out, "critical.png"))
print(path.groupby("class").ms.sum().sort_values(ascending=False).round(3))
