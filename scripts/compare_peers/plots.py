"""Pictures of a run: seconds against the number of points, and against threads and ranks."""

import statistics

COLOURS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
MARKS = ["o", "s", "^", "D", "v", "P", "X"]
TITLES = {
    "groups": "friends of friends",
    "neighbours": "nearest neighbours",
    "painting": "painting",
    "power": "positions to P(k)",
}


def load_matplotlib():
    """Its pyplot; none if it is not here."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def lines_of(rows, key, clock):
    """{code: {x: seconds}} of the rows of one panel; `key` is what x is."""

    def least(runs):
        return min(run[clock] for run in runs)

    lines = {"zhalo": {row[key]: least(row["zhalo"]) for row in rows}}
    for row in rows:
        if row["peer"]:
            lines.setdefault(row["peer"]["name"], {})[row[key]] = least(row["peer"]["runs"])
    return lines


def panels_against_number(rows):
    """{title: lines} of the runs on one thread."""
    panels = {}
    for row in rows:
        if row["threads"] == 1:
            points = row["name"].split()[0]
            panels.setdefault(f"{points}, {row['what']}", []).append(row)
    return {title: lines_of(some, "num", "cpu") for title, some in panels.items()}


def panels_against_threads(rows):
    """{title: lines} of the cases that ran on several numbers of threads."""
    panels = {}
    for row in rows:
        panels.setdefault(f"{row['name']}, {row['what']}", []).append(row)
    chosen = {
        title: some
        for title, some in panels.items()
        if len({row["threads"] for row in some}) > 1
    }
    return {title: lines_of(some, "threads", "wall") for title, some in chosen.items()}


def labels_of_transform(cores, case, of_ranks):
    """The lines that zhalo's time is a point of, and those of FFTW's. One rank of one thread begins
    all lines."""
    ways = ["shared memory", "messages"]
    if not of_ranks:
        return ["zhalo, threads"], ["FFTW, threads"]
    if cores == 1:
        slabs = [f"zhalo, slabs, {way}" for way in ways]
        return ["zhalo, threads", *slabs], ["FFTW, threads", "FFTW, slabs"]
    is_pencil = case["shape"][1] > 1
    split = "pencils" if is_pencil else "slabs"
    ours = f"zhalo, {split}, {case['exchange'].replace('_', ' ')}"
    return [ours], [] if is_pencil else ["FFTW, slabs"]


def panels_of_transforms(reports):
    """{title: lines} of seconds, forward and backward, against cores: ranks, or threads of one."""
    panels = {}
    for report in reports:
        for case in report["cases"]:
            of_ranks = report["threads"] == 1
            cores = case["shape"][0] * case["shape"][1] if of_ranks else report["threads"]
            lines = panels.setdefault(f"{case['size']}^3, {case['type']}", {})
            labels = labels_of_transform(cores, case, of_ranks)
            for names, side in zip(labels, (case["zhalo"], case.get("peer"))):
                for name in names if side else []:
                    lines.setdefault(name, {})[cores] = side["min_seconds"]
    return panels


def styles(panels):
    """{code: (colour, mark)}, zhalo first, the same in all panels."""
    names = sorted({name for lines in panels.values() for name in lines})
    names.sort(key=lambda name: not name.startswith("zhalo"))
    return {
        name: (COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)]) for i, name in enumerate(names)
    }


def number_text(x):
    return f"{x:g}" if x < 1000 else f"{x:.0e}".replace("e+0", "e")


def draw_panel(axes, title, lines, style):
    for name in style:
        if name in lines:
            colour, mark = style[name]
            points = sorted(lines[name].items())
            width = 2.2 if name.startswith("zhalo") else 1.2
            axes.loglog(*zip(*points), mark + "-", color=colour, linewidth=width, label=name)
    axes.set_title(title, fontsize=10)
    axes.grid(True, which="major", alpha=0.4)
    ticks = sorted({x for line in lines.values() for x in line})
    axes.set_xticks(ticks, [number_text(x) for x in ticks])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def draw(pyplot, panels, label, path):
    """One picture with a panel for each case."""
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    size = (3.4 * columns + 0.4, 3.0 * rows + 0.9)
    figure, axes = pyplot.subplots(rows, columns, squeeze=False, figsize=size)
    style = styles(panels)
    for panel, (title, lines) in zip(axes.flat, panels.items()):
        draw_panel(panel, title, lines, style)
    for panel in axes.flat[len(panels) :]:
        panel.set_visible(False)
    for panel in axes[:, 0]:
        panel.set_ylabel("seconds")
    for panel in axes[-1]:
        panel.set_xlabel(label)
    found = {}
    for panel in axes.flat:
        found.update(dict(zip(*reversed(panel.get_legend_handles_labels()))))
    names = [name for name in style if name in found]
    figure.legend(
        [found[name] for name in names],
        names,
        loc="lower center",
        ncol=min(4, len(names)),
        frameon=False,
    )
    lines_of_legend = -(-len(names) // 4)
    figure.tight_layout(rect=(0, (0.15 + 0.22 * lines_of_legend) / size[1], 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def pictures(content):
    """{name of the file: (panels, label)}."""
    found = {}
    for kind in TITLES:
        rows = [row for row in content["rows"] if row["kind"] == kind]
        found[f"peers-{kind}-number.png"] = (panels_against_number(rows), "points")
        found[f"peers-{kind}-threads.png"] = (panels_against_threads(rows), "threads")
    transforms = panels_of_transforms(content["transforms"])
    found["peers-transforms.png"] = (transforms, "threads, or ranks of one thread")
    return {name: picture for name, picture in found.items() if picture[0]}


def draw_all(content, folder):
    """Names of the files; none if there is no matplotlib."""
    pyplot = load_matplotlib()
    if pyplot is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for name, (panels, label) in pictures(content).items():
        draw(pyplot, panels, label, folder / name)
    return list(pictures(content))
