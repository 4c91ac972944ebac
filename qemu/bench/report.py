#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""All figures: report.py DIRECTORY

Puts the parts that are in the directory together in its bench.json, and prints
them as tables.  A part is a file PART.json and a function here that prints it.
"""

import json
import os
import sys


def decoder(part):
    """A lookup in an SFrame section"""
    for version, tables in part["versions"].items():
        for key, along, title, step in (
                ("by_fdes", "fdes", "functions", "doubling"),
                ("by_fres", "fres", "rows per function", "row walked")):
            print(f"\n  version {version}, {title:>18}{'kernel':>10}{'libsframe':>11}{'share':>7}"
                  f"{'kernel':>12}{'libsframe':>11}  more per {step}")
            for p in tables[key]:
                line = f"{p[along]:>31,}{p['kernel']:>10,.0f}{p['libsframe']:>11,.0f}{p['share']:>7.2f}"
                if "kernel_growth" in p:
                    line += f"{p['kernel_growth']:>12,.1f}{p['libsframe_growth']:>11,.1f}"
                print(line)
    print()


def tables(part):
    """Tables of processes"""
    print(f"\n  {'never unwound':<15}{'with':>11}{'without':>11}{'more':>10}"
          f"{'spread':>9}{'mean: with':>13}{'without':>11}{'more':>10}")
    for p in part["never_unwound"]:
        on, off = p["on"], p["off"]
        print(f"  {p['operation']:<15}{on['median']:>11,.1f}{off['median']:>11,.1f}"
              f"{p['percent_median']:>+9.3f}%{on['spread']:>9,.1f}"
              f"{on['mean']:>13,.1f}{off['mean']:>11,.1f}{p['percent_mean']:>+9.3f}%")
    print(f"\n  registered ranges{'warm frame':>12}{'cold frame':>12}  more per doubling")
    for p in part["by_ranges"]:
        print(f"{p['ranges']:>19,}{p['warm']:>12,.0f}{p['per_frame']:>12,.0f}"
              + (f"{p['growth']:>8,.1f}" if "growth" in p else ""))
    memory = part["memory"]
    print(f"\n  kernel memory per range: {memory['per_range']} bytes, with {memory['ranges']:,} of them\n")


HOWS = {"deferred": "deferred", "faultable": "unwind alone", "inplace": "in place"}
STATES = {"deferred": ("warm", "cold", "first"), "faultable": ("warm", "cold", "first"),
          "inplace": ("warm", "cold")}
# "first" is the first touch, which has page faults
STACK_STATES = ("warm", "cold", "first", "faults")
DEPTHS = ("8", "64", "500")


def kind_title(kind):
    """How a frame leads to the next one"""
    return "frame pointer" if kind == "fp" else f"{int(kind):,} functions"


def frames(part):
    """A frame, on the way to its caller"""
    points, bars = {}, {}
    for p in part["frames"]:
        row = points.setdefault(p["kind"], {})
        row[p["how"], p["state"]] = p["per_frame"]
        if "bar" in p:
            bars[p["kind"], p["how"], p["state"]] = p["bar"]
    columns = [(how, state) for how in HOWS for state in STATES[how]]
    print(f"\n  {'':<20}" + "".join(f"{HOWS[how]:>{10 * len(STATES[how])}}" for how in HOWS))
    print(f"  {'by':<20}" + "".join(f"{state:>10}" for _, state in columns))
    for kind, row in points.items():
        title = kind_title(kind)
        missed = [f"{HOWS[how]}, {state}: at most {bars[kind, how, state]}"
                  for how, state in columns
                  if (kind, how, state) in bars and row[how, state] > bars[kind, how, state]]
        print(f"  {title:<20}" + "".join(f"{row.get(c, ''):>10}" for c in columns)
              + ("   missed: " + "; ".join(missed) if missed else ""))
    records(part)
    stacks(part)
    topmost(part)


def topmost(part):
    """The first frame where no table tells of it, beside one where it does"""
    states = part.get("topmost", {})
    for state, counts in states.items():
        print(f"  a topmost frame without a table, {state}, more than with one: "
              + ", ".join(f"{count - counts['table']:,.0f} ({how})"
                          for how, count in counts.items() if how != "table"))
    if states:
        print()


def records(part):
    """What a frame of a deferred stack costs beyond the unwind"""
    alone = {(p["kind"], p["state"]): p["per_frame"] for p in part["frames"] if p["how"] == "faultable"}
    written = [f"{p['per_frame'] - alone[p['kind'], 'warm']:.1f} ({kind_title(p['kind'])})"
               for p in part["frames"] if (p["how"], p["state"]) == ("deferred", "warm")]
    print(f"\n  of that, its address in perf's record: {', '.join(written)}")


def stacks(part):
    """The same of whole stacks, of some depths"""
    print(f"\n  {'deferred stacks':<20}" + "".join(f"{depth:>40}" for depth in DEPTHS))
    print(f"  {'by':<20}" + "".join(f"{state:>10}" for _ in DEPTHS for state in STACK_STATES))
    points = {}
    for p in part["frames"]:
        if p["how"] == "deferred":
            points.setdefault(p["kind"], {})[p["state"]] = p["stack"]
    for kind, states in points.items():
        print(f"  {kind_title(kind):<20}"
              + "".join(f"{states.get(state, {}).get(depth, ''):>10}"
                        for depth in DEPTHS for state in STACK_STATES))
    print()


def rows(part):
    """Rows that were kept already"""
    print(f"\n  {'recorded at Hz':<20}{'frames':>10}{'looked up':>12}{'kept':>9}")
    for p in part["programs"]:
        print(f"  {p['program']:<20}{p['frames']:>10,}{p['lookups']:>12,}{100 * p['kept']:>8.2f}%")
    print()


CONTEXTS = {"nmi": "NMI", "user": "NMI in user space", "irq": "hard interrupt",
            "irqs_off": "task, interrupts off", "task": "task"}
REQUESTS = {"first": "first", "again": "again", "other": "other client",
            "other_again": "again"}


def spread(figure):
    return f"{figure['min']:,.0f}/{figure['median']:,.0f}/{figure['max']:,.0f}"


def beside_bar(names, bars):
    """The worst of the medians beside what is allowed"""
    return all(names[name]["median"] <= bar for name, bar in bars.items())


def deferred(part):
    """A request for a stack, and what becomes of it (least/median/largest)"""
    print(f"\n  {'request in':<22}" + "".join(f"{title:>16}" for title in REQUESTS.values()))
    for context, title in CONTEXTS.items():
        names = part["requests"][context]
        print(f"  {title:<22}" + "".join(f"{spread(names[name]):>16}" for name in REQUESTS))
    bars = part["bars"]
    met = all(beside_bar(part["requests"][c], bars) for c in ("nmi", "user"))
    print(f"  {'at most, in NMI':<22}" + "".join(f"{bars[name]:>16}" for name in REQUESTS)
          + ("" if met else "   missed"))
    print(f"\n  {'to the callback from':<22}")
    for context, title in CONTEXTS.items():
        if context in part["latency"]:
            print(f"  {title:<22}{spread(part['latency'][context]):>24}")
    print(f"\n  {'task work of':<22}{'with the unwind':>24}{'the core alone':>24}")
    for clients, names in part["work"].items():
        title = f"{clients} client" + ("s" if clients != "1" else "")
        print(f"  {title:<22}{spread(names['deliver']):>24}{spread(names['deliver_cached']):>24}")
    print(f"\n  {'nothing pending':<22}{'with':>12}{'without':>12}{'more':>8}{'at most':>9}")
    for p in part["return"]:
        print(f"  {p['operation']:<22}{p['on']['median']:>12,.1f}{p['off']['median']:>12,.1f}"
              f"{p['more_median']:>+8.2f}{part['bar_return']:>+9}"
              + ("" if p["more_median"] <= part["bar_return"] else "   missed"))
    print()


def sampling(part):
    """A sample, and what a program loses to them"""
    rates = sorted({p["hz"] for p in part["samples"]})
    print(f"\n  {'':<14}{'a sample':>10}{'its stack':>11}{'bytes':>10}   lost of 1e9/s at Hz:"
          + "".join(f"{hz:>10,}" for hz in rates) + "   records lost")
    methods = {}
    for p in part["samples"]:
        methods.setdefault(p["method"], {})[p["hz"]] = p
    for method, by_rate in methods.items():
        # At the rate that gave the most samples
        p = by_rate[rates[-1]]
        print(f"  {method:<14}{p['per_sample']:>10,}{p['for_stack']:>11,}"
              f"{p['bytes_per_sample']:>10,.0f}{'':>23}"
              + "".join(f"{100 * by_rate[hz]['share_lost']:>9.3f}%" for hz in rates)
              + f"{sum(q['lost'] for q in by_rate.values()):>15,}")
    print()


def memory(part):
    """Memory of the kernel"""
    process = part["process"]
    print(f"""
  a process that runs, unwound never {process['before']:>10,}
  one that was unwound               {process['first_unwind']:>10,}
  and once more, with rows kept      {process['unwound_again']:>10,}
  a task with a deferred stack       {process['task_deferred']:>10,}
  the first registered table         {process['first_table']:>10,}
  {process['libraries']:,} more                         {process['with_libraries']:>10,}
  each of these                      {process['per_library']:>10,.1f}
  the kernel's text, tests left out  {part['kernel']['text']:>10,}
  its data, likewise                 {part['kernel']['data']:>10,}
""")


def post(part):
    """Reading what was recorded"""
    print(f"\n  {'perf script':<14}{'samples':>9}{'in all':>16}{'a sample':>11}{'of dwarf':>10}"
          f"{'(in all)':>10}{'peak KiB':>10}{'bytes':>9}{'lost':>6}{'missing':>9}")
    for p in part["script"]:
        print(f"  {p['method']:<14}{p['samples']:>9,}{p['insns']:>16,}{p['insns_per_sample']:>11,}"
              f"{p['share']:>10.4f}{p['share_whole']:>10.4f}"
              f"{p['peak_kib']:>10,}{p['bytes_per_sample']:>9,.0f}"
              f"{p['lost']:>6}{p['missing']:>9}"
              + ("   missed" if p["method"] == "sframe" and p["share"] > part["bar_script"] else ""))
    print(f"\n  {'merged samples':<16}{'threads':>9}{'instructions':>16}{'a sample':>11}"
          f"{'growth':>8}{'peak KiB':>10}{'missing':>9}")
    for p in part["merge"]:
        print(f"  {p['samples']:<16,}{p['threads']:>9,}{p['insns']:>16,}"
              + f"{p.get('insns_per_sample', ''):>11}{p.get('growth', ''):>8}"
              f"{p['peak_kib']:>10,}{p['missing']:>9,}"
              + ("   missed" if p.get("growth", 0) > part["bar_growth"] else ""))
    print(f"\n  {'highest rate':<14}{'in the file':>12}{'lost':>9}{'share':>9}{'MB':>9}{'bytes':>9}")
    for p in part["highest_rate"]:
        print(f"  {p['method']:<14}{p['samples']:>12,}{p['lost']:>9,}"
              f"{100 * p['share_lost']:>8.2f}%{p['bytes'] / 1e6:>9.1f}{p['bytes_per_sample']:>9,.0f}")
    print()


PARTS = [decoder, tables, frames, rows, deferred, sampling, memory, post]


def main():
    directory = sys.argv[1]
    bench = {}
    for part in PARTS:
        path = os.path.join(directory, part.__name__ + ".json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="ascii") as file:
            bench[part.__name__] = json.load(file)
        print(f"{part.__doc__}: {bench[part.__name__]['unit']}")
        part(bench[part.__name__])
    path = os.path.join(directory, "bench.json")
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump(bench, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


main()
