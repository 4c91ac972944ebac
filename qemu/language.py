#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Report habits of language that the project has given up, as FILE:LINE: HABIT: TEXT

    language.py REVISION        in lines that the working tree adds to it
    language.py --files FILE... in whole files
    language.py --self-test

It reads comments, and documents without their code; the exit status is 1 if it finds any.
"""
import re
import subprocess
import sys

START, ASKED = r"(?:\A\W*|[.?!|]\s+)", r"\b(?![^.?!]*\?)"
HABITS = [(name, re.compile(pattern)) for name, pattern in (
    ("of which: begin a sentence", r"\bof\s+(?:which|whom)\b"),
    ("that of: repeat the noun", r"(?<!so )\bthat\s+of\b|\bthose\s+(?:that|of)\b"),
    ("a clause as subject: name it", START + "(?:What|Which)" + ASKED +
     r"|(?<!_)[;:]\s+what\s+(?:is|are|was|it|they|the)" + ASKED),
    ("told, tells: say, report",
     r"\b(?:told|tells)\b(?!(?:\s+\S+){0,6}\s+(?:apart|from)\b)|\btell\s+of\b"),
    ("who: name the caller, the reader", r"\b[Ww]hoever\b|" + START + "Who" + ASKED +
     r"|(?:[;:]|\b(?:and|as|by|for|from|if|of|or|so|than|to|with))\s+who" + ASKED),
    ("behind: after", r"(?<!left )(?<!leave )(?<!leaves )\bbehind\b"),
    ("leads on: continues", r"\b(?:leads?|led)\s+on\b"),
    ("so many: up to N", r"\bso\s+many\b(?!(?:\s+\S+){0,4}\s+that\b)"))]
BAD = ("/* The rows, some of\n * which are */", "# that of mine", "/* for whoever asks */",
       "x = 1; /* What is kept */", "// It tells of a fault", "# See; who asks", "# As told",
       "# It is behind it", "/* It leads on */", "# So, so many rows", "/* those that are */",
       "// one of whom", "/* X: what is kept is */")
GOOD = ("/* What is it? */", "/* @nr: what it was */", "# A user who asks", 's = "that of";',
        "int whoever; /* `told` */", "# tells x from y", "# x left behind", "/* so many that */")
STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|"
C_COMMENT = re.compile(STRINGS + r"(/\*.*?\*/|//[^\n]*)", re.S)
SH_COMMENT = re.compile(STRINGS + r"((?:^\s*#(?:[ \t].*)?\n)+|(?<=[ \t])#[ \t].*)", re.M)
RST_CODE = re.compile(r"^( *)(?!.*\.\. list-table::)\S?.*::(?: \S+)?\n(?:(?:\1 .*)?\n)+", re.M)
MD_CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$", re.M | re.S)
NAMES = re.compile(r"``[^`]+``|`[^`]+`|\"[^\"]*\"|\S+\(\)|@\w+|^[ \t]*(?:/?\*+/?|//|#)(?=\s)", re.M)
PARAGRAPH = re.compile(r"\S.*?(?=\n\W*\n|\n\s*(?:[-*+|]|\d+\.)\s|\Z)", re.S)


def findings(name, text):
    """(line, last line, habit, the words)"""
    if name.endswith((".rst", ".md")):
        code = RST_CODE if name.endswith(".rst") else MD_CODE
        pieces = [(0, code.sub(lambda m: re.sub(".", " ", m[0]), text))]
    else:
        comment = C_COMMENT if name.endswith((".c", ".h", ".S", ".cc")) else SH_COMMENT
        pieces = [(m.start(1), m[1]) for m in comment.finditer(text) if m[1]]
    for begin, piece in pieces:
        words = NAMES.sub(lambda m: re.sub(".", "_" if m[0].strip("/*# \t") else " ", m[0]), piece)
        for part in PARAGRAPH.finditer(words):
            for habit, found in ((h, m) for h, p in HABITS for m in p.finditer(part[0])):
                lines = [text.count("\n", 0, begin + part.start() + at) + 1
                         for at in (found.start(), found.end() - 1)]
                yield *lines, habit, " ".join(part[0][found.start():found.end() + 30].split())


def added(revision):
    """(file, its added lines)"""
    diff = subprocess.run(["git", "diff", "-M", "-U0", "--relative", revision, "--"], check=True,
                          capture_output=True, text=True, errors="replace").stdout
    for name, hunks in re.findall(r"^\+\+\+ b/(.*)\n((?:[-+@ \\].*\n)*)", diff, re.M):
        ranges = re.findall(r"^@@ \S+ \+(\d+)(?:,(\d+))? @@", hunks, re.M)
        yield name, {int(first) + i for first, n in ranges for i in range(int(n or 1))}


if sys.argv[1:] == ["--self-test"]:
    wrong = [t for t in BAD + GOOD if
             any(findings("t.sh" if t[0] == "#" else "t.c", t + "\n")) != (t in BAD)]
    sys.exit("\n".join(wrong) or 0)
bad = len(sys.argv) < 2 and sys.exit(__doc__)
for file, changed in [(f, None) for f in sys.argv[2:]] or added(sys.argv[1]):
    if re.search(r"\.(c|h|S|cc|sh|py|rst|md)$|(^|/)(Makefile|Kconfig|MAINTAINERS)$|/ABI/", file):
        for start, end, problem, sentence in findings(file, open(file, errors="replace").read()):
            if changed is None or changed & set(range(start, end + 1)):
                bad += 1
                print(f"{file}:{start}: {problem}: {sentence}")
sys.exit(bad > 0)
