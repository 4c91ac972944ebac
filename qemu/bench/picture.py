#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draw what frames cost: picture.py FRAMES.JSON >PICTURE.SVG

On the left a stack by its depth, on the right a frame by the number of functions
that its table has.  Instructions, all of them, as in the table of figures.
"""

import json
import math
import sys

WIDTH, HEIGHT = 560, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
STATES = ("cold", "warm")
# Numbers along an axis stand at least so far apart
LABEL = 26
COLOURS = ("#1b6ca8", "#c1440e", "#3a7d44", "#7b4b94", "#8a6d3b", "#555555")


def ticks(largest):
    """Some round numbers from 0 to at least the largest"""
    step = 10 ** math.floor(math.log10(largest))
    while largest / step < 4:
        step /= 2
    return [at * step for at in range(math.ceil(largest / step) + 1)]


def chart(at, title, axis, lines, places):
    """One chart, at so many pixels from the left.

    A line is a name and its points; places are where the horizontal axis has which
    number, as (number, share of the width).
    """
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    where = dict(places)
    marks = ticks(max(y for _, points in lines for _, y in points))

    def x_of(value):
        return at + LEFT + across * where[value]

    def y_of(value):
        return TOP + up * (1 - value / marks[-1])

    yield f'<text x="{at + LEFT}" y="20" font-weight="bold">{title}</text>'
    for mark in marks:
        yield (f'<line x1="{at + LEFT}" x2="{at + LEFT + across}" y1="{y_of(mark):.1f}" '
               f'y2="{y_of(mark):.1f}" stroke="#ddd"/><text x="{at + LEFT - 8}" '
               f'y="{y_of(mark) + 4:.1f}" text-anchor="end">{mark:,.0f}</text>')
    end = -LABEL
    for value, _ in places:
        if x_of(value) - end < LABEL:
            continue
        end = x_of(value)
        yield (f'<text x="{end:.1f}" y="{TOP + up + 18}" '
               f'text-anchor="middle">{value:,}</text>')
    yield (f'<text x="{at + LEFT + across / 2}" y="{TOP + up + 38}" '
           f'text-anchor="middle">{axis}</text>')
    # Names beside the lines' ends, no two closer than a line of text
    last = TOP - 14
    order = sorted(enumerate(lines), key=lambda item: y_of(item[1][1][-1][1]))
    for number, (name, points) in order:
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        last = max(last + 14, y_of(points[-1][1]) + 4)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, y in points:
            yield (f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}">'
                   f'<title>{name}: {y:,.1f}</title></circle>')
        yield (f'<text x="{at + LEFT + across + 8}" y="{last:.1f}" '
               f'fill="{colour}">{name}</text>')


def by_depth(frames, at):
    """The cost of a whole stack"""
    lines = []
    for frame in frames:
        if frame["how"] != "deferred" or frame["kind"] not in ("fp", "1000", "100000"):
            continue
        if frame["state"] not in (("warm",) if frame["kind"] == "fp" else STATES):
            continue
        name = "frame pointers" if frame["kind"] == "fp" else f"{int(frame['kind']):,}, {frame['state']}"
        lines.append((name, [(int(depth), cost) for depth, cost in frame["stack"].items()]))
    depths = [depth for depth, _ in lines[0][1]]
    return chart(at, "A deferred stack, its record included", "frames", lines,
                 [(depth, depth / depths[-1]) for depth in depths])


def by_functions(frames, at):
    """The cost of one frame"""
    series = {}
    pointers = {}
    for frame in frames:
        key = frame["how"], frame["state"]
        if frame["state"] not in STATES:
            continue
        if frame["kind"] == "fp":
            pointers[key] = frame["per_frame"]
        else:
            series.setdefault(key, []).append((int(frame["kind"]), frame["per_frame"]))
    names = {"deferred": "deferred", "inplace": "in place"}
    lines = [(f"{names[how]}, {state}", sorted(points))
             for (how, state), points in series.items() if how in names]
    sizes = [size for size, _ in lines[0][1]]
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    lines.append(("frame pointer", [(size, pointers["deferred", "warm"]) for size in sizes]))
    return chart(at, "A frame, by the size of the table", "functions in the table", lines,
                 [(size, (math.log(size) - low) / (high - low)) for size in sizes])


def main():
    """Read, draw."""
    with open(sys.argv[1], encoding="ascii") as file:
        frames = json.load(file)["frames"]
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" '
          'font-family="sans-serif" font-size="12">')
    print(f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="#fff"/>')
    for line in by_depth(frames, 0):
        print(line)
    for line in by_functions(frames, WIDTH):
        print(line)
    print("</svg>")


main()
