"""A study of two parameters as a heat map: step time of an incast over DCQCN's timer and the marking threshold."""
# %% Simulate the grid
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from railyard import query, railyard

here = os.path.dirname(os.path.abspath(__file__))
out = sys.argv[1] if len(sys.argv) > 1 else "notebook-study"
scenario = os.path.join(here, "..", "..", "scenarios", "three-flows.yaml")
if not os.path.exists(os.path.join(out, "results.parquet")):
    railyard("sweep", "run", scenario, "--grid", "cc.dcqcn.rate_timer=20us,55us,150us,300us", "--grid",
             "switch.queues.3.wred_min=20KB,100KB,500KB", "--out", out)

# %% Plot it
grid = query(out, 'select "cc.dcqcn.rate_timer_ps" / 1e6 as timer, "switch.queues.3.wred_min_bytes" / 1e3 as kmin, '
                  "step_time_ps / 1e9 as ms from results where \"cc.dcqcn.rate_timer_ps\" is not null")
table = grid.pivot_table(index="kmin", columns="timer", values="ms")
fig, ax = plt.subplots(figsize=(6, 4))
image = ax.imshow(table, origin="lower", aspect="auto")
ax.set(xlabel="rate increase timer, µs", ylabel="marking from, KB", title="step time, ms")
ax.set_xticks(range(len(table.columns)), [f"{c:g}" for c in table.columns])
ax.set_yticks(range(len(table.index)), [f"{r:g}" for r in table.index])
fig.colorbar(image)
fig.tight_layout()
fig.savefig(os.path.join(out, "study.png"))
print(table.round(3))
