# SPDX-License-Identifier: GPL-2.0
"""Tests of stacks.py, tree.py and screen.py, by stacks that are made up"""

import unittest

import screen
import stacks
import tree

START = ("_start", "main", "work", "leaf")


def run(paths, size=1000):
    """A recording of (user frames, kernel frames, samples)"""
    root = {"n": "all", "l": "root", "v": 0, "c": [{"n": "task (1)", "l": "", "v": 0, "c": []}]}
    for user, kernel, count in paths:
        node = root["c"][0]
        for name, kind in [(n, "") for n in user] + [(n, "kernel") for n in kernel]:
            found = [child for child in node["c"] if (child["n"], child["l"]) == (name, kind)]
            if not found:
                found = [{"n": name, "l": kind, "v": 0, "c": []}]
                node["c"] += found
            node = found[0]
        node["v"] += count
    return stacks.Run(root, sum(count for _, _, count in paths), size=size)


def runs(**other):
    """One of each method, all that holds"""
    good, cut = run([(START, (), 90), (("_start", "main"), ("write",), 10)]), run([(START[2:], (), 9)])
    result = {"sframe": good, "fp": cut, "dwarf-8192": run([(START, (), 9)], 20000),
              "dwarf-65528": good, "immediate": good}
    return dict(result, **{name.replace("_", "-"): other[name] for name in other})


class Tests(unittest.TestCase):
    """Each of a rule"""

    def failed(self, **other):
        """What does not hold"""
        return [what for what, good in stacks.holds(runs(**other)) if not good]

    def test_counts(self):
        made = run([(START, (), 5), (("work", "leaf"), (), 2), (("main",), ("sys",), 1),
                    ((), ("idle",), 4)])
        self.assertEqual((made.samples, made.with_user, made.complete, made.in_user,
                          stacks.median(made.depths), made.ends),
                         (12, 8, 5, 7, 4, {"work": 2, "main": 1}))
        self.assertEqual(stacks.percent(stacks.share(0, 0)), "-")

    def test_complete(self):
        for path in (START, ("__clone3", "f"), ("_dl_start_user", "f"), ("parent", "clone"),
                     ("[unknown]", "__libc_start_main@@GLIBC_2.34", "main")):
            self.assertTrue(stacks.is_complete(path), path)
        for path in (("main", "_start"), ("create", "parent", "clone"), ("not_start",),
                     ("[unknown]",), ("[unknown]", "main"), ("__libc_start_main", "main")):
            self.assertFalse(stacks.is_complete(path), path)

    def test_what_holds(self):
        self.assertEqual(self.failed(), [])
        self.assertIn("sframe: its usual stack is complete", self.failed(sframe=run([(START[1:], (), 9)])))
        self.assertIn("fp: its stacks are shorter", self.failed(fp=run([(START, (), 9)])))
        self.assertIn("dwarf-65528: has complete stacks",
                      self.failed(dwarf_65528=run([(("other", "leaf"), (), 9)])))
        self.assertIn("all methods caught some function", self.failed(immediate=run([(("f",), (), 9)])))
        self.assertIn("sframe: perf.data less than a tenth of dwarf-8192's",
                      self.failed(sframe=run([(START, (), 9)], 9999)))
        lost = run([(START, (), 9)])
        lost.lost = 1
        self.assertIn("sframe: no sample lost, or without its stack", self.failed(sframe=lost))

    def test_never_rounded_up_to_the_whole(self):
        self.assertEqual(stacks.percent(99999 / 100000), "99.99 %")

    def test_functions(self):
        tree = {"n": "all", "l": "root", "v": 0, "c": [
            {"n": "_start", "l": "", "v": 2, "c": [
                {"n": "<module>", "l": "runtime", "v": 1, "c": [
                    {"n": "eval", "l": "", "v": 0, "c": [
                        {"n": "f", "l": "runtime", "v": 0, "c": [
                            {"n": "read", "l": "", "v": 5, "c": []}]}]}]}]}]}
        self.assertEqual(stacks.functions(tree), (("<module>", "f"), 5, 6, 8))
        self.assertEqual(stacks.functions({"n": "all", "l": "root", "v": 3, "c": []}), ((), 0, 0, 3))

    def test_tree(self):
        text = ("   some task    12    1.000010: \n"
                "\t    7f01 leaf+0x2 (/lib/x (1).so+0x10)\n\t    4000 [unknown] (/bin/a+0x4)\n\n"
                "swapper     0 17.500000:  ffffffff81 idle+0x3 ([kernel.kallsyms]+0x1)\n"
                "a 3 4    13   18.000000: \n\t    ffff f ([kernel.kallsyms]+0x1)\n\n"
                "python 15 \n\t 7f00000000000010 A.f+0x0 (/lib/a.py:12+0x0)\n\n"
                "cut 14 \n\n")
        found = [(task, process, time, list(tree.frames(stack)))
                 for task, process, time, stack in tree.samples(text.splitlines())]
        self.assertEqual(found, [
            ("some task", "12", 1.00001, [("[unknown]", ""), ("leaf", "")]),
            ("swapper", "0", 17.5, [("idle", "kernel")]), ("a 3 4", "13", 18, [("f", "kernel")]),
            ("python", "15", 0, [("A.f", "runtime")]),
            ("cut", "14", 0, [("[unknown]", "")])])

    def test_waited(self):
        whole, cut = [("_start", ""), ("main", "")], [("main", "")]
        kernel = [("idle", "kernel")]
        for found, milliseconds in (
                ([(1, whole), (2, kernel), (2.5, cut), (2.6, cut), (2.75, whole), (3, cut)], 250),
                ([(1, kernel), (2, whole)], 0), ([(1, cut), (2, cut)], None), ([(1, kernel)], None)):
            self.assertEqual(tree.waited(found), milliseconds)

    def test_screen(self):
        for deep in (1, 15, 90):
            path = ("_start",) + tuple(f"f{i}" for i in range(deep)) + ("\x1b[2J" + "y" * 200,)
            made = runs(**{name: run([(path, (), 9)], 9000) for name in
                           ("sframe", "fp", "dwarf_8192", "dwarf_65528", "immediate", "bpftrace")})
            made["first"] = made["sframe"]
            tree = {"n": "all", "l": "root", "v": 1, "c": []}
            for name in path:
                tree = {"n": name, "l": "runtime", "v": 0, "c": [tree]}
            lines = screen.screen(dict.fromkeys((screen.SHOWN, *"abcdefg"), made), "title", tree,
                                  dict.fromkeys(made, 1234567), (50, 5120, 12345, 12340, 200, 1))
            self.assertLessEqual(len(lines), screen.HEIGHT)
            self.assertLessEqual(max(map(len, lines)), screen.WIDTH)
            self.assertTrue(all(" " <= c <= "~" for line in lines for c in line))
            self.assertIn("= complete", "\n".join(lines))
            self.assertIn("live 5.1 ms: 12,345 samples in user space, 99.96 %", "\n".join(lines))

    def test_costs(self):
        made = runs()
        # A stack of many samples that ends early is one
        costs, processes = dict.fromkeys(made, 20000), (50, 5000, 2000, 1000, 200, 1)
        self.assertTrue(all(good for _, good in screen.cost_holds(made, costs, processes)))
        for wrong in ((made, dict(costs, sframe=60000), processes), (made, {}, processes),
                      (made, costs, (50, 5000, 200, 200, 200, 10)),
                      (made, costs, (50, 5000, 200, 200, 90, 0)),
                      (made, costs, (3, 5000, 200, 200, 200, 0))):
            self.assertFalse(all(good for _, good in screen.cost_holds(*wrong)))

    def test_page(self):
        name = "</script><b>"
        text = screen.page("const stacks = [/** @flamegraph_json **/]; [/** @options_json **/]",
                         {"n": "all", "l": "root", "v": 0,
                          "c": [{"n": "t", "l": "", "v": 0, "c": [
                              {"n": name, "l": "", "v": 3, "c": []}]}]}, "title")
        self.assertNotIn("<", text)
        made = run([((name,), (), 3)])
        self.assertTrue(all(good for _, good in screen.page_holds("x", text, made, (name,))))
        self.assertFalse(all(good for _, good in screen.page_holds("x", text, made, ("f", name))))


if __name__ == "__main__":
    unittest.main()
