"""The plots of the study, as SVG files that read on light and on dark pages."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Readable on white and on black, also for most people who see few colours (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#b2182b"]
GREY = "#808080"


def settings():
    # A fixed salt gives the same names of elements in each run.
    plt.rcParams.update({
        "svg.hashsalt": "robosieve", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10,
        "text.color": GREY, "axes.labelcolor": GREY, "axes.edgecolor": GREY, "xtick.color": GREY, "ytick.color": GREY,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GREY, "grid.alpha": 0.25,
        "legend.frameon": False, "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    })


def figure(path, title, x_label, y_label, draw):
    """Draws a figure of one plot."""
    settings()
    plot, axes = plt.subplots(figsize=(8, 4))
    draw(axes)
    axes.set_title(title, loc="left")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend(ncols=2, fontsize=9)
    plot.tight_layout()
    plot.savefig(path, transparent=True, metadata={"Date": None})
    plt.close(plot)


def month_ticks(axes, months):
    """A tick per half-year."""
    shown = [number for number, month in enumerate(months) if month[5:] in ("01", "07")]
    axes.set_xticks(shown, [months[number] for number in shown])


def series(path, title, by_month, agents, interval):
    """The share of hosts that refuse each agent, by month, with intervals."""

    def draw(axes):
        months = list(by_month)
        for agent in agents:
            shares = [100 * counts[agent] / hosts for hosts, counts in by_month.values()]
            low, high = zip(*(interval(counts[agent], hosts) for hosts, counts in by_month.values()))
            (line,) = axes.plot(shares, label=agent)
            axes.fill_between(range(len(months)), [100 * part for part in low], [100 * part for part in high], color=line.get_color(), alpha=0.15, linewidth=0)
        month_ticks(axes, months)
        axes.set_ylim(bottom=0)

    figure(path, title, "", "% of hosts", draw)


def survivals(path, title, x_label, curves, y_label="% of hosts"):
    """Curves of Kaplan and Meier, by name."""

    def draw(axes):
        for name, rows in curves.items():
            lengths = [row[0] for row in rows]
            (line,) = axes.step(lengths, [100 * row[3] for row in rows], where="post", label=name)
            axes.fill_between(lengths, [100 * row[4] for row in rows], [100 * row[5] for row in rows], step="post", color=line.get_color(), alpha=0.15, linewidth=0)

    figure(path, title, x_label, y_label, draw)


def stacked(path, title, by_agent, months):
    """How many hosts refuse each agent for the first time, by month."""

    def draw(axes):
        floor = [0] * len(months)
        for agent, counts in by_agent.items():
            heights = [counts[month] for month in months]
            axes.bar(range(len(months)), heights, bottom=floor, label=agent, width=0.9)
            floor = [low + height for low, height in zip(floor, heights)]
        month_ticks(axes, months)

    figure(path, title, "", "hosts", draw)
