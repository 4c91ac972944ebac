# SPDX-License-Identifier: GPL-2.0
"""One screen, pages and figures of methods:  screen.py DIRECTORY TEMPLATE

The directory has what record.sh left, on this machine or on $ARCH.  Names in it come from
the profiled program, which may call its functions anything: they are data, never layout.
"""

import json
import os
import sys

import stacks
from stacks import percent, share

WIDTH, HEIGHT, LABEL = 100, 44, 20
# The program whose stacks are shown, and whose figures are given in full
SHOWN = "python3"
TITLES = {"first": "first run", "sframe": "sframe", "immediate": "immediate",
          "bpftrace": "bpftrace", "fp": "fp", "dwarf-8192": "dwarf,8192",
          "dwarf-65528": "dwarf,65528"}
NOTES = """\
  sframe       perf record --call-graph sframe          dwarf,N  copies N bytes of each stack
  immediate    perf record -g, of any perf, by tables   fp       frame pointers alone
  bpftrace     Debian's, as it is: immediate stacks     B        of perf.data, per sample
  first run    by sframe; the service makes the program's table meanwhile.  full in: how long
               after the first miss the first full stack came
"""


def visible(text, width):
    """The text with nothing that a terminal obeys, cut to a width"""
    text = "".join(c if " " <= c <= "~" else "?" for c in text.partition("@@")[0])
    return text if len(text) <= width else text[:width - 2] + ".."


def volume(size):
    """Bytes for a reader"""
    for unit in ("B", "kB", "MB"):
        if size < 10000 or unit == "MB":
            return f"{size:,.0f} {unit}" if unit != "MB" else f"{size:,.1f} MB"
        size /= 1000
    return None


def column(path, height):
    """A stack in at most that many lines, innermost frame first; the middle gives way"""
    names = list(reversed(path))
    if len(names) > height:
        tail = height // 2
        head = height - tail - 1
        names[head:len(names) - tail] = [f"... {len(names) - head - tail} more ..."]
    return names + ["= complete" if stacks.is_complete(path) else "= cut off here"]


def table(runs, costs):
    """The figures, a line each; costs are instructions"""
    dwarf = share(runs["dwarf-8192"].size, runs["dwarf-8192"].samples)
    each = {method: share(run.size, run.samples) or 0 for method, run in runs.items()}
    return {
        "samples": [f"{run.samples:,}" for run in runs.values()],
        "  lost": [f"{run.lost + run.missing:,}" for run in runs.values()],
        "complete, user space": [percent(share(run.in_user_complete, run.in_user))
                                 for run in runs.values()],
        "  and system calls": [percent(share(run.complete, run.with_user)) for run in runs.values()],
        "frames, median": [str(stacks.median(run.depths)) for run in runs.values()],
        "perf.data": [volume(run.size) for run in runs.values()],
        "  per sample": [volume(size) for size in each.values()],
        "  dwarf,8192 is": [f"{dwarf / size:.1f} times" if size else "-" for size in each.values()],
        "instructions, each": [f"{costs[method]:,.0f}" if method in costs else "-" for method in runs],
    }


def line(label, cells, room=LABEL, columns=6):
    """A line of a table"""
    cell = (WIDTH - room - 2) // columns
    return ("  " + visible(label, room).ljust(room) + "".join(
        visible(text, cell - 1).rjust(cell) for text in cells)).rstrip()


def complete(programs):
    """What share of stacks is complete, and what they cost, a line for each program"""
    methods = [method for method in TITLES if method != "dwarf-65528"]
    titles = [TITLES[method].partition(",")[0] for method in methods]
    lines = ["  Complete in user space:",
             line("", titles + ["sframe, B", "dwarf, B", "full in"], 8, 9)]
    for program, runs in programs.items():
        cells = [percent(share(run.in_user_complete, run.in_user)) if run else "-"
                 for run in map(runs.get, methods)]
        cells += [f"{share(runs[method].size, runs[method].samples) or 0:,.0f}"
                  for method in ("sframe", "dwarf-8192")]
        wait = runs["first"].waited
        lines.append(line(program, cells + ["-" if wait is None else f"{wait:,} ms"], 8, 9))
    return lines


def short(figures):
    """Processes of milliseconds"""
    processes, lived, samples, whole, *_ = figures
    return (f"  {processes} processes that live {lived / 1000:.1f} ms: {samples:,} samples in user "
            f"space, {percent(share(whole, samples))} of them complete by sframe")


def language(tree, width):
    """What Python was doing, in two lines"""
    usual, count, having, read = stacks.functions(tree)
    path = " < ".join(reversed(usual))
    return [f"Python's own functions are in {percent(share(having, read))} of all stacks by sframe; "
            f"most often ({percent(share(count, read))}):",
            "  " + visible(path, width - 2), ""]


def screen(programs, title, tree, costs, processes):
    """All lines"""
    runs = shown(programs)
    lines = [title, ""]
    figures = [line(SHOWN, [TITLES[method] for method in runs])]
    figures += [line(label, cells) for label, cells in table(runs, costs).items()]
    figures += complete(programs) + [short(processes), ""]
    figures += language(tree, WIDTH)
    figures += NOTES.splitlines()
    leaf = stacks.hot_leaf(runs)
    if leaf is None:
        return lines + ["No function was caught by all of the methods."] + figures
    lines.append(f"{SHOWN} is most often in {visible(leaf, 30)}.  The usual stack there:")
    wide = WIDTH // len(runs)
    columns = [column(run.path(leaf)[0], HEIGHT - len(lines) - len(figures) - 5) for run in runs.values()]
    lines.append("".join(TITLES[method].ljust(wide) for method in runs).rstrip())
    for at in range(max(map(len, columns))):
        lines.append("".join(visible(c[at] if at < len(c) else "", wide - 2).ljust(wide)
                             for c in columns).rstrip())
    return lines + [""] + figures


def shown(programs):
    """The recordings by perf of the program that is shown, without the first"""
    return {method: run for method, run in programs[SHOWN].items() if method not in ("first", "bpftrace")}


def cost_holds(runs, costs, processes):
    """(what must hold on any machine of a sample's cost, and of processes of milliseconds,
    whether it does)"""
    yield "cost: of all methods", set(costs) == set(runs)
    yield "cost: a sample by sframe, below 50,000 instructions", 0 < costs.get("sframe", 0) < 50000
    # By stack, not by sample: a busy machine takes many samples of a stack while it is unwound.
    # Code without unwind information has few addresses, so load does not change this share
    number, _, _, _, different, cut = processes
    yield (f"{number} processes of milliseconds: {cut} of {different} stacks end early (2 %)",
           number > 40 and different > 100 and cut <= 0.02 * different)


def page(template, tree, title):
    """A flame graph; no name in the data ends the script that it stands in"""
    for place, value in (("flamegraph", tree), ("options", {"context": title})):
        data = json.dumps(value).replace("<", "\\u003c")
        template = template.replace(f"/** @{place}_json **/", data)
    return template


def page_holds(name, text, run, path):
    """(what must hold of a page, whether it does)"""
    tree, _ = json.JSONDecoder().raw_decode(text, text.index("const stacks = [") + 16)
    again = stacks.Run(tree, run.samples)
    yield f"{name}.html: loads nothing", not any(
        f"{word}=\"" in text for word in ("src", "srcset", "href", "action"))
    yield f"{name}.html: has all samples", again.read == run.samples
    yield f"{name}.html: has the usual stack", path in again.paths[path[-1]]


def words(directory, name):
    """Of each line of a file"""
    with open(os.path.join(directory, name), encoding="ascii") as file:
        return [row.split() for row in file]


def main():
    """Read, write, print"""
    directory, template = sys.argv[1:]
    programs = stacks.load(directory)
    runs = shown(programs)
    leaf = stacks.hot_leaf(runs)
    machine = os.environ.get("ARCH") or os.uname().machine
    title = f"Debian's programs as they are, on {machine}: the same work, by each method"
    held = list(stacks.holds(runs))
    with open(os.path.join(directory, f"{SHOWN}.functions.json"), encoding="utf-8") as file:
        functions = json.load(file)
    usual = stacks.functions(functions)[0]
    held.append(("functions: the usual stack begins with the program", usual[:1] == ("<module>",)))
    costs = {method: int(figure) / int(samples) for method, samples, figure in words(directory, "cost")}
    processes = [int(word) for word in words(directory, "short")[0]]
    held += cost_holds(runs, costs, processes)
    held += [(f"{name}: has complete stacks by bpftrace", runs["bpftrace"].in_user_complete > 0)
             for name, runs in programs.items()]
    if os.path.exists(template):
        with open(template, encoding="utf-8") as file, \
             open(os.path.join(directory, "functions.html"), "w", encoding="utf-8") as to:
            to.write(page(file.read(), functions, f"sframe, with Python's functions: {title}"))
    for method, run in runs.items():
        path = os.path.join(directory, f"{SHOWN}.{method}.json")
        if os.path.exists(template) and leaf:
            with open(template, encoding="utf-8") as file, open(path, encoding="utf-8") as tree:
                text = page(file.read(), json.load(tree), f"{method}: {title}")
            with open(os.path.join(directory, method + ".html"), "w", encoding="utf-8") as file:
                file.write(text)
            held += page_holds(method, text, run, run.path(leaf)[0])
    for name in os.listdir(directory):
        if name.partition(".")[0] in programs:
            os.unlink(os.path.join(directory, name))
    with open(os.path.join(directory, "report.tap"), "w", encoding="utf-8") as file:
        for number, (what, good) in enumerate(held, 1):
            file.write(f"{'ok' if good else 'not ok'} {number} {what}\n")
    print("\n".join(screen(programs, title, functions, costs, processes)))


if __name__ == "__main__":
    main()
