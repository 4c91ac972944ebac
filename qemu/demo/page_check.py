#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Look at the demo's page as a browser shows it: page_check.py PAGE DOM REPORT.JSON

DOM is what the browser made of PAGE, with its scripts run.  Prints TAP.  What a
graph shows is taken from the elements that the library drew, and from nothing
that stands in the page itself: a library that does not run draws none.
"""

import html.parser
import json
import sys


class Drawn(html.parser.HTMLParser):
    """By method: the frames that were drawn, (name, width) by graph"""

    def __init__(self):
        super().__init__()
        self.graphs = {}
        self.method = None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "section" and "data-method" in attrs:
            self.method = attrs["data-method"]
            self.graphs[self.method] = {}
        elif tag == "g" and attrs.get("class") == "frame" and self.method:
            name, width = attrs["name"], float(attrs["width"])
            graph = self.graphs[self.method]
            graph[name] = graph.get(name, 0) + width

    def handle_endtag(self, tag):
        if tag == "section":
            self.method = None


class Loaded(html.parser.HTMLParser):
    """What a page wants from elsewhere"""

    def __init__(self):
        super().__init__()
        self.wanted = []

    def handle_starttag(self, tag, attrs):
        self.wanted += [value for key, value in attrs
                        if key in ("src", "srcset", "href", "data", "action")]


def checks(page, graphs, methods):
    """(what has to hold, whether it does)"""
    loaded = Loaded()
    loaded.feed(page)
    yield "the page loads nothing", not loaded.wanted
    yield "a graph for each method", sorted(graphs) == sorted(methods)
    for name, entry in methods.items():
        frames = graphs.get(name, {})
        whole = frames.get("all", 0)
        yield f"{name}: the graph is drawn", whole > 100
        if not whole:
            continue
        chain = [function for function in entry["chain"] if function in frames]
        yield (f"{name}: shows the hot path's functions ({len(chain)} of {len(entry['chain'])})",
               chain == entry["chain"])
        # A frame is as wide as its share of all samples
        share = frames.get("_start", 0) / whole
        expected = entry["complete_with_user"] / entry["samples_printed"]
        yield (f"{name}: begins with _start as far as stacks are complete "
               f"({share:.3f}, {expected:.3f})", abs(share - expected) < 0.02)


def main():
    """Read the three files, print TAP."""
    texts = []
    for path in sys.argv[1:4]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    page, dom, figures = texts
    drawn = Drawn()
    drawn.feed(dom)
    results = checks(page, drawn.graphs, json.loads(figures)["methods"])
    for number, (name, good) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} {name}")


if __name__ == "__main__":
    main()
