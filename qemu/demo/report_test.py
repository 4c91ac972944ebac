#!/usr/bin/env python3
"""Tests of report.py, on small made-up outputs of perf script."""

import contextlib
import io
import json
import os
import random
import tempfile
import unittest

import report

HEADER = "prog   77  12.345678: cpu-clock: \n"
KERNEL = "\tffffffff81000082 asm_exc ([kernel.kallsyms])\n"


def sample(*names, kernel=False, header=HEADER, dso="/opt/prog"):
    """One record; an address per name, innermost first."""
    frames = "".join("\t    7f%010x %s (%s)\n" % (at, name, dso)
                     for at, name in enumerate(names))
    return header + (KERNEL if kernel else "") + frames + "\n"


def names(text):
    """The names in every sample of a text."""
    return [[name for _, name in frames]
            for frames in report.read_samples(io.StringIO(text, newline="\n"))]


def run_of(text, name="sframe", size=1000, samples=None, lost=0):
    """A run with the samples of a text."""
    run = report.Run(name, size, 0, lost)
    run.read(io.StringIO(text, newline="\n"))
    run.samples = run.printed if samples is None else samples
    return run


def screen_of(runs, active=False, notes=()):
    """Figures and lines of the screen."""
    data = report.figures(runs, report.pick_leaf(runs), {
        "program": "prog", "kernel": "6.12.0", "event": "cpu-clock",
        "notes": list(notes)})
    return data, report.render(data, report.Style(active))


class FrameTest(unittest.TestCase):
    """One line of a chain."""

    def test_plain(self):
        self.assertEqual(report.parse_frame("\t  7f01 main (/opt/prog)"),
                         (0x7f01, "main"))

    def test_name_with_blanks_and_parentheses(self):
        self.assertEqual(
            report.parse_frame("\t1f A::operator()(int, (x)) const (/l.so)"),
            (0x1f, "A::operator()(int, (x)) const"))

    def test_deleted_object(self):
        self.assertEqual(report.parse_frame("\t1f f (/tmp/x (deleted))"),
                         (0x1f, "f"))

    def test_unknown(self):
        for text in ("\t1f [unknown] ([unknown])", "\t1f ([unknown])",
                     "\t1f  (/opt/prog)", "\t1f"):
            self.assertEqual(report.parse_frame(text), (0x1f, "[unknown]"))

    def test_inlined(self):
        self.assertEqual(report.parse_frame("\t1f f (inlined)"), (0x1f, "f"))

    def test_not_an_address(self):
        for text in ("", "\t", "\tmain (/x)", "\t0x1f f (/x)", "\t-1 f (/x)",
                     "\t1_0 f (/x)", "\t" + "f" * 17 + " f (/x)",
                     "\t\u0661 f (/x)"):
            self.assertIsNone(report.parse_frame(text), text)


class SampleTest(unittest.TestCase):
    """Records."""

    def test_two_records(self):
        self.assertEqual(names(sample("f", "_start") + sample("g")),
                         [["f", "_start"], ["g"]])

    def test_end_without_empty_line(self):
        self.assertEqual(names(sample("f", "_start").rstrip("\n")),
                         [["f", "_start"]])

    def test_no_chain_at_all(self):
        self.assertEqual(names(HEADER + "\n" + sample("f")), [[], ["f"]])

    def test_frame_on_the_header_line(self):
        lone = "a: b 1 2.5: cpu-clock:u:      55aa main (/opt/prog)\n"
        self.assertEqual(names(lone + lone + sample("f")),
                         [["main"], ["main"], ["f"]])

    def test_command_that_looks_like_a_frame(self):
        hostile = "  1f: x (y)  7 1.5: cpu-clock: \n"
        self.assertEqual(names(sample("f", header=hostile)), [["f"]])

    def test_strange_bytes_do_not_split_lines(self):
        strange = "a\rb\x0bc\u2028d\x1b[2Je\x85f"
        self.assertEqual(names(sample(strange, "_start")),
                         [[strange, "_start"]])

    def test_noise_survives(self):
        source = random.Random(1)
        alphabet = "\n\n\t (): 1fx_start\x1b\u2028"
        for _ in range(2000):
            text = "".join(source.choice(alphabet) for _ in range(60))
            run = run_of(text)
            self.assertLessEqual(run.in_user, run.with_user)
            self.assertLessEqual(run.with_user, run.printed)


class CountTest(unittest.TestCase):
    """The figures of one run."""

    def test_complete(self):
        run = run_of(sample("f", "main", "_start")
                     + sample("f", "__clone3")
                     + sample("__clone3", "parent")
                     + sample("__clone3", "parent", "create")
                     + sample("f", "__GI___clone")
                     + sample("f", "main")
                     + sample("_start", "f")
                     + sample("f", "not_start"))
        self.assertEqual((run.in_user, run.in_user_complete), (8, 4))

    def test_kernel_and_user(self):
        run = run_of(sample("f", "_start")
                     + sample("f", "_start", kernel=True)
                     + sample("f", kernel=True)
                     + sample(kernel=True)
                     + HEADER + "\n")
        self.assertEqual(run.printed, 5)
        self.assertEqual((run.in_user, run.in_user_complete), (1, 1))
        self.assertEqual((run.with_user, run.with_user_complete), (3, 2))

    def test_median(self):
        run = run_of(sample(*"abcde") + sample("a") + sample(*"ab"))
        self.assertEqual(run.median_depth(), 2)
        self.assertEqual(run_of(sample("a") + sample(*"abc")).median_depth(), 1)
        self.assertEqual(run_of(sample(kernel=True)).median_depth(), 0)

    def test_memory_is_for_distinct_stacks(self):
        run = run_of(sample("f", "g") * 500)
        self.assertEqual(dict(run.stacks["f"]), {("f", "g"): 500})

    def test_size_is_per_sample(self):
        runs = [run_of(sample("f") * 4, "sframe", 400),
                run_of(sample("f") * 2, "dwarf", 16000)]
        data, _ = screen_of(runs)
        self.assertEqual(data["methods"]["sframe"]["bytes_per_sample"], 100)
        self.assertEqual(data["methods"]["sframe"]["dwarf_ratio_per_sample"], 80)
        self.assertEqual(data["methods"]["dwarf"]["dwarf_ratio_per_sample"], 1)

    def test_nothing_in_user_space(self):
        data, _ = screen_of([run_of(sample(kernel=True))])
        entry = data["methods"]["sframe"]
        self.assertIsNone(entry["complete_share_in_user"])
        self.assertIsNone(data["leaf"])


class ChoiceTest(unittest.TestCase):
    """Which path is shown."""

    def test_leaf_must_occur_everywhere(self):
        runs = [run_of(sample("hot") * 5 + sample("f") * 2 + sample("g")),
                run_of(sample("f") + sample("g") * 9, "fp")]
        self.assertEqual(report.pick_leaf(runs), "f")

    def test_unknown_is_no_leaf(self):
        runs = [run_of(sample("[unknown]") * 5 + sample("f"))]
        self.assertEqual(report.pick_leaf(runs), "f")

    def test_leaf_in_the_kernel_does_not_count(self):
        runs = [run_of(sample("f", kernel=True) * 5 + sample("g"))]
        self.assertEqual(report.pick_leaf(runs), "g")

    def test_most_frequent_chain(self):
        run = run_of(sample("f", "a") * 2 + sample("f", "b") * 3)
        self.assertEqual(run.chain("f"), (("f", "b"), 3))

    def test_ties_do_not_depend_on_order(self):
        one = run_of(sample("f", "a") + sample("f", "b"))
        two = run_of(sample("f", "b") + sample("f", "a"))
        self.assertEqual(one.chain("f"), two.chain("f"))


class ScreenTest(unittest.TestCase):
    """What the reader sees."""

    def three(self, deep):
        """Three runs: complete, a stump, cut off."""
        chain = ["level_%d" % i for i in range(deep)]
        return [run_of(sample("leaf", *chain, "_start") * 9, size=900),
                run_of(sample("leaf", "[unknown]") * 9, "fp", 800),
                run_of(sample("leaf", *chain) * 9, "dwarf", 80000)]

    def test_fits(self):
        for deep in (0, 1, 15, 22, 23, 24, 90):
            _, lines = screen_of(self.three(deep), notes=["x" * 300])
            self.assertLessEqual(len(lines), report.HEIGHT)
            self.assertLessEqual(max(map(len, lines)), report.WIDTH)

    def test_says_what_is_complete(self):
        text = "\n".join(screen_of(self.three(3))[1])
        self.assertEqual(text.count("= complete"), 1)
        self.assertEqual(text.count("= cut off here"), 2)
        self.assertIn("100.0 %", text)

    def test_long_stack_keeps_both_ends(self):
        text = "\n".join(screen_of(self.three(90))[1])
        self.assertIn("  leaf ", text)
        self.assertIn("  _start", text)
        self.assertIn(" more ...", text)

    def test_never_rounded_up_to_the_whole(self):
        self.assertEqual(report.percent(9999 / 10000), "99.9 %")
        self.assertEqual(report.percent(1.0), "100.0 %")
        self.assertEqual(report.percent(None), "-")

    def test_colour_only_on_request(self):
        self.assertNotIn("\033", "\n".join(screen_of(self.three(3))[1]))
        self.assertIn("\033[32m", "\n".join(screen_of(self.three(3), True)[1]))

    def test_hostile_names_are_harmless(self):
        evil = "\x1b]0;x\x07\r\u202eabc" + "y" * 200
        data, lines = screen_of([run_of(sample(evil, evil, "_start"))])
        text = "\n".join(lines)
        self.assertTrue(all(" " <= c <= "~" for c in text.replace("\n", "")))
        self.assertLessEqual(max(map(len, lines)), report.WIDTH)
        self.assertEqual(data["leaf"], evil)

    def test_percent_signs_in_names(self):
        _, lines = screen_of([run_of(sample("%s%n{0}", "_start"))])
        self.assertIn("%s%n{0}", "\n".join(lines))

    def test_disagreement_is_noted(self):
        text = "\n".join(screen_of([run_of(sample("f"), samples=3)])[1])
        self.assertIn("perf counted 3 samples but printed 1", text)

    def test_no_common_leaf(self):
        runs = [run_of(sample("f")), run_of(sample("g"), "fp")]
        data, lines = screen_of(runs)
        self.assertIsNone(data["leaf"])
        self.assertIn("No function was caught by all", "\n".join(lines))


class CommandTest(unittest.TestCase):
    """The command line."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = directory.name

    def file(self, name, content):
        """Write a file, return its path."""
        path = os.path.join(self.path, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def call(self, *arguments):
        """Run it, return what it prints."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(io.StringIO()):
            report.main(list(arguments))
        return out.getvalue()

    def test_all(self):
        script = self.file("s", sample("f", "_start").encode() * 2)
        target = os.path.join(self.path, "json")
        text = self.call("--run", "sframe", script, "200", "2", "0",
                         "--run", "dwarf", script, "20000", "2", "1",
                         "--program", "prog", "--kernel", "6.12.0-x",
                         "--note", "a remark", "--json", target)
        self.assertIn("Linux 6.12.0-x", text)
        self.assertIn("note: a remark", text)
        with open(target, encoding="ascii") as data:
            data = json.load(data)
        self.assertEqual(data["methods"]["sframe"]["complete_share_in_user"], 1)
        self.assertEqual(data["methods"]["sframe"]["chain"], ["f", "_start"])
        self.assertEqual(data["methods"]["sframe"]["dwarf_ratio_per_sample"], 100)
        self.assertEqual(data["methods"]["dwarf"]["lost"], 1)

    def test_not_utf_8(self):
        script = self.file("s", sample("f", "_start").encode()
                           + sample("@", "_start").encode().replace(b"@", b"\xff\xfe"))
        self.assertIn("100.0 %", self.call("--run", "fp", script, "1", "2", "0"))

    def test_empty_script(self):
        with self.assertRaises(report.Malformed):
            self.call("--run", "fp", self.file("s", b""), "1", "2", "0")

    def test_wrong_arguments(self):
        script = self.file("s", sample("f").encode())
        for bad in (["--run", "fp", script, "x", "2", "0"],
                    ["--run", "fp", script, "-1", "2", "0"],
                    ["--run", "fp", script, "1", "1", "0"] * 2,
                    []):
            with self.assertRaises(SystemExit):
                self.call(*bad)


if __name__ == "__main__":
    unittest.main()
