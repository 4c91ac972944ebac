# SPDX-License-Identifier: GPL-2.0
"""Work for the interpreter: text, numbers, sorting; prints a sum of all of it"""
import json
import re
import sys


def numbers(text):
    """Pattern matching with a function for each match"""
    return re.sub(r"(\d+)", lambda match: match.group(1)[::-1], text)


def turn(seed):
    """One round"""
    table = {str(i): [(i * seed) % 1009] * 8 for i in range(100)}
    text = numbers(json.dumps(table, sort_keys=True))
    words = sorted(text.split(), key=lambda word: (len(word), word))
    return sum(map(len, words)) + len(json.loads(json.dumps(words)))


print(sum(turn(seed) for seed in range(1, int(sys.argv[1]) + 1)))
