# SPDX-License-Identifier: GPL-2.0
"""Tests of the demo's screen and pages, by stacks that are made up"""

import unittest

import demo
from stacks_test import run, runs


class Tests(unittest.TestCase):
    """Each of a rule"""

    def test_screen(self):
        for deep in (1, 15, 90):
            path = ("_start",) + tuple(f"f{i}" for i in range(deep)) + ("\x1b[2J" + "y" * 200,)
            made = runs(**{name: run([(path, (), 9)], 9000) for name in
                           ("sframe", "fp", "dwarf_8192", "dwarf_65528", "immediate")})
            made["first"] = made["sframe"]
            tree = {"n": "all", "l": "root", "v": 1, "c": []}
            for name in path:
                tree = {"n": name, "l": "runtime", "v": 0, "c": [tree]}
            lines = demo.screen(dict.fromkeys((demo.SHOWN, "a", "b", "c", "d", "e"), made),
                                "title", tree)
            self.assertLessEqual(len(lines), demo.HEIGHT)
            self.assertLessEqual(max(map(len, lines)), demo.WIDTH)
            self.assertTrue(all(" " <= c <= "~" for line in lines for c in line))
            self.assertIn("= complete", "\n".join(lines))

    def test_page(self):
        name = "</script><b>"
        text = demo.page("const stacks = [/** @flamegraph_json **/]; [/** @options_json **/]",
                         {"n": "all", "l": "root", "v": 0,
                          "c": [{"n": "t", "l": "", "v": 0, "c": [
                              {"n": name, "l": "", "v": 3, "c": []}]}]}, "title")
        self.assertNotIn("<", text)
        made = run([((name,), (), 3)])
        self.assertTrue(all(good for _, good in demo.page_holds("x", text, made, (name,))))
        self.assertFalse(all(good for _, good in demo.page_holds("x", text, made, ("f", name))))


if __name__ == "__main__":
    unittest.main()
