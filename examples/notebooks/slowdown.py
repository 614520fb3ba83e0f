"""Slowdown of messages over their size, as in figure 11 of HPCC (Li et al., SIGCOMM 2019)."""
# %% Simulate two distributions of sizes with three congestion controls
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas

from railyard import query, railyard

here = os.path.dirname(os.path.abspath(__file__))
out = sys.argv[1] if len(sys.argv) > 1 else "notebook-slowdown"
controls = ["dcqcn", "hpcc", "swift"]
sizes = {"WebSearch": "websearch.txt", "FB-Hadoop": "fb-hadoop.txt"}

flows = []
for name, file in sizes.items():
    for control in controls:
        run = os.path.join(out, f"{name}-{control}".lower())
        path = os.path.join(here, "..", "..", "scenarios", "sizes", file)
        railyard("run", os.path.join(here, "slowdown.yaml"), "--set", f"cc.algorithm={control}", "--set",
                 f"workload.traffic.background.sizes={os.path.relpath(path, here)}", "--out", run, "--force")
        f = query(run, "select bytes, (done_ps - posted_ps) * 1.0 / ideal_ps as slowdown from flows where done_ps > 0")
        flows.append(f.assign(sizes=name, control=control))
flows = pandas.concat(flows)

# %% Plot the 50th and 99th percentile of 20 groups of equally many messages
fig, axes = plt.subplots(1, len(sizes), figsize=(10, 4), sharey=True)
for ax, name in zip(axes, sizes):
    for control, f in flows[flows.sizes == name].groupby("control"):
        group = pandas.qcut(f.bytes.rank(method="first"), 20, labels=False)
        middle = f.groupby(group).bytes.median()
        for share, line in (0.5, "--"), (0.99, "-"):
            ax.plot(middle, f.groupby(group).slowdown.quantile(share), line, label=f"{control} p{share * 100:.0f}")
    ax.set(title=name, xlabel="message, bytes", xscale="log", yscale="log")
axes[0].set_ylabel("slowdown: time over time on an idle fabric")
axes[0].legend()
fig.tight_layout()
fig.savefig(os.path.join(out, "slowdown.png"))
print(flows.groupby(["sizes", "control"]).slowdown.describe(percentiles=[0.5, 0.99])[["count", "50%", "99%"]].round(2))
