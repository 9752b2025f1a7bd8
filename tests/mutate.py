#!/usr/bin/env python3
"""mutate.py - controls that must fail: the implementation in rawrefcount.h and rrc_closed.h with one mistake put in.

    python3 tests/mutate.py [--by-hand | --small] [--share N] [--part K] [--lines FROM-TO] [--quick]
                            [--again LOG] [--minutes N] [--list] [--jobs N]

Each mutant is the header with a change, and the tests should notice it. Most changes are small
ones that this program makes itself (--small: only these): an operator, a constant, a condition or
a deleted statement. The others are those of tests/mutate.by_hand (--by-hand: only these): each
must compile, change something, and be noticed. A small change of which no kind of host gets
another object file, by tcc or by CC, changes nothing, and does not count.

Survivors are printed, with their place, and the score at the end; those that tests/mutate.accepted
explains are counted apart, and meet the quick tests only: if these notice one, its line there is
to go (unless another line of that function reads the same). --share N --part K takes about each Nth
mutant: a checksum of the changed line decides, so that a sample keeps its mutants when other lines of
the header change. --quick runs only the tests that notice most in the least time: what survives them may
not survive all. --again tries only those that a log of such a run names as survivors that nobody
has looked at. With --minutes N no mutant is begun after so many minutes, and they come in an order
that has nothing to do with their places. If it is stopped by ^C, it prints the score of what was done.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

HEADERS = ["rawrefcount.h", "bindings/closed/rrc_closed.h"]     # one after the other they are one text
ACCEPTED = "tests/mutate.accepted"
BY_HAND = "tests/mutate.by_hand"
KINDS = ["mirror", "dict", "slot", "watched"]        # the quickest first
KILLED, SURVIVED, NOT_COMPILED, UNCHANGED, NOT_TRIED = "killed", "survived", "not compiled", "unchanged", "not tried"

# What is found in a line of code -> what is put there instead.
OPERATORS = [
    (r" == ", " != "), (r" != ", " == "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* (?=[a-z0-9(])", " + "), (r" / ", " * "),
    (r" & ", " | "), (r" \| ", " & "), (r" \^ ", " | "), (r" << ", " >> "), (r" >> ", " << "),
    (r" \+= ", " -= "), (r" -= ", " += "), (r" \|= ", " &= "), (r" &= ", " |= "), (r" \^= ", " |= "),
    (r"\+\+", "--"), (r"(?<![->])--(?!>)", "++"),
    (r"(?<=[ (])!(?=[a-z(])", ""),
]
CONSTANTS = [(r"(?<![\w.])0(?![\w.])", "1"), (r"(?<![\w.])1(?![\w.])", "0"),
             (r"(?<![\w.])([2-9]|[1-9][0-9]+)(?![\w.])", lambda match: str(int(match.group()) + 1))]
CONDITION = re.compile(r"\b(if|while) \((.*)\)( \{)?$")
STATEMENT = re.compile(r"^( +)(?! |\(void\)|(?:return|else|case|default|goto|do|typedef|static|const|struct)\b)"
                       r"[^;{}]*(?:\)|=|\+\+|--|break|continue)[^;{}]*;$")
DECLARATION = re.compile(r"^ +(?:const |unsigned |struct )*(?:rrc_|rrci_|size_t|int|char|intptr_t|uintptr_t|void)\w* \**\w+(?:\[|;|,| = )")


def code_lines(text):
    """(number, line) of the implementation's code: no comments, no preprocessor, no strings, no assertions."""
    begin = 0
    for _ in HEADERS:
        begin = text.index("/* >>implementation", begin)
        end = text.index("#endif /* RAWREFCOUNT_IMPLEMENTATION */", begin)
        yield from code_lines_of(text, begin, end)
        begin = end


def code_lines_of(text, begin, end):
    number = text.count("\n", 0, begin) + 1
    in_comment = in_directive = False
    for line in text[begin:end].split("\n"):
        bare = line
        if in_comment:
            if "*/" not in bare:
                number += 1
                continue
            bare = " " * (bare.index("*/") + 2) + bare[bare.index("*/") + 2:]
            in_comment = False
        bare = re.sub(r"/\*.*?\*/", lambda match: " " * len(match.group()), bare)
        if "/*" in bare:
            bare = bare[:bare.index("/*")]
            in_comment = True
        bare = re.sub(r'"(?:\\.|[^"\\])*"', lambda match: '"' * len(match.group()), bare).rstrip()
        is_directive = in_directive or bare.startswith("#")
        in_directive = is_directive and line.endswith("\\")
        if not is_directive and bare.startswith(" ") and "RRC_ASSERT" not in bare:
            yield number, bare
        number += 1


def mutations(text):
    """(line number, begin, end, replacement) of every mutant."""
    depth = 0
    for number, line in code_lines(text):
        found = set()
        for pattern, replacement in OPERATORS + CONSTANTS:
            for match in re.finditer(pattern, line):
                new = replacement(match) if callable(replacement) else replacement
                found.add((match.start(), match.end(), new))
        match = CONDITION.search(line)
        if match and match.group(2).count("(") == match.group(2).count(")"):
            found.add((match.start(2), match.end(2), "0"))
            if match.group(1) == "if":
                found.add((match.start(2), match.end(2), "1"))
        if depth == 0 and STATEMENT.match(line) and not DECLARATION.match(line):
            begin = len(line) - len(line.lstrip())
            found.add((begin, len(line), ";"))
        depth = max(0, depth + line.count("(") - line.count(")"))
        for begin, end, new in sorted(found):
            yield number, begin, end, new


def functions(lines):
    """The function of each line."""
    found, name = [], ""
    for line in lines:
        match = re.match(r"[a-zA-Z][^;=]*?\b(\w+)\(", line)
        name = match.group(1) if match else name
        found.append(name)
    return found


def describe(lines, places, mutation):
    number, begin, end, new = mutation
    line = lines[number - 1]
    return "%s: %s  ->  %s" % (places[number - 1], line.strip(), (line[:begin] + new + line[end:]).strip())


class Mutant:
    """A changed header: its lines, where it begins to differ, and the kinds of host that try it."""

    def __init__(self, number, description, lines, kinds, by_hand=False):
        self.number, self.description, self.lines = number, description, lines
        self.kinds, self.by_hand = kinds, by_hand


def small_mutants(text):
    lines = text.split("\n")
    places = functions(lines)

    def changed(number, begin, end, new):
        return lambda: lines[:number - 1] + [lines[number - 1][:begin] + new + lines[number - 1][end:]] + lines[number:]

    for mutation in mutations(text):
        yield Mutant(mutation[0], describe(lines, places, mutation), changed(*mutation), KINDS)


def mutants_by_hand(text):
    """A line is: a name, a kind of host, a function, and what sed does to the text of that function."""
    lines = text.split("\n")
    with open(BY_HAND) as mutants:
        for line in mutants:
            if line.startswith("#") or not line.strip():
                continue
            name, kind, function, script = line.rstrip("\n").split(" ", 3)
            script = "/^[a-zA-Z].*[ *]%s(/,/^}/{\n%s\n}" % (function, script)
            changed = subprocess.run(["sed", script], input=text, stdout=subprocess.PIPE, check=True,
                                     universal_newlines=True).stdout.split("\n")
            number = next((i + 1 for i, pair in enumerate(zip(lines, changed)) if pair[0] != pair[1]), 1)
            yield Mutant(number, name, lambda changed=changed: changed, [kind], by_hand=True)


def split(text):
    """The texts of the headers: the second one begins with its name."""
    begin = text.index("/* rrc_closed.h - ")
    return text[:begin - 1], text[begin:]


def checksum(mutant):
    return zlib.crc32(mutant.description.encode())


class Worker:
    """A folder of its own, in which one mutant after another is tried."""

    def __init__(self, base, objects, lines):
        self.objects = objects
        self.folders = {}
        for compiler in [name for name in ["tcc"] if shutil.which(name)] + [os.environ.get("CC", "cc") + " -O0"]:
            self.folders[compiler] = tempfile.mkdtemp(prefix="worker", dir=base)
            self.attempt("same", compiler, lines, KINDS)

    def attempt(self, command, compiler, lines, kinds, quick=False):
        folder = self.folders[compiler]
        for name, text in zip(HEADERS, split("\n".join(lines))):
            os.makedirs(os.path.dirname(folder + "/" + name), exist_ok=True)
            with open(folder + "/" + name, "w") as header:
                header.write(text)
        return subprocess.run(["sh", "tests/attempt.sh", command, self.objects, folder, *kinds],
                              env=dict(os.environ, HEADER_CC=compiler, QUICK="1" if quick else "0"),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode

    def judge(self, mutant, quick):
        result = UNCHANGED
        for compiler in self.folders:           # not all lines are seen by all compilers
            if result == UNCHANGED:
                code = self.attempt("run", compiler, mutant.lines(), mutant.kinds, quick)
                result = [SURVIVED, KILLED, NOT_COMPILED, UNCHANGED][code]
        return result


ALL = "  ->  *"                    # ends an entry for all mutants of a line


def accepted():
    """Survivors that were looked at: lines that tell mutants, then indented ones that say why."""
    with open(ACCEPTED) as lines:
        return {line.rstrip("\n") for line in lines if line.strip() and not line.startswith((" ", "#"))}


def all_of_line(description):
    return description[:description.index("  ->  ")] + ALL


def survivors(log):
    """What a log tells as survivors."""
    with open(log) as lines:
        return {line.rstrip("\n").split(": ", 1)[1] for line in lines if line.startswith("SURVIVED ")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-hand", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--lines", default="1-1000000")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", metavar="LOG")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    text = "\n".join(open(name).read() for name in HEADERS)
    everything = ([] if options.small else list(mutants_by_hand(text))) + \
        ([] if options.by_hand else list(small_mutants(text)))
    known = accepted()
    told = {mutant.description for mutant in everything}
    if not options.by_hand:
        for line in known - told - {all_of_line(description) for description in told if "  ->  " in description}:
            sys.exit("mutate.py: %s has a line that names no mutant (any more): %s" % (ACCEPTED, line))

    def is_known(mutant):
        return not mutant.by_hand and (mutant.description in known or all_of_line(mutant.description) in known)

    first, last = (int(part) for part in options.lines.split("-"))
    chosen = [mutant for mutant in everything if first <= mutant.number <= last]
    if options.again:
        again = survivors(options.again)
        chosen = [mutant for mutant in chosen if mutant.description in again and not is_known(mutant)]
    chosen = [mutant for mutant in chosen if checksum(mutant) % options.share == options.part % options.share]
    if options.list:
        for mutant in chosen:
            print("%d: %s" % (mutant.number, mutant.description))
        print("%d mutants" % len(chosen))
        return 0

    build = os.environ.get("BUILD", "build") + "/tests/"
    subprocess.run([os.environ.get("MAKE", "make"), "-s"] + [build + "attempt/%s.passed" % kind for kind in KINDS],
                   check=True)
    base = tempfile.mkdtemp(prefix="mutate", dir=build)
    counts, unknown, lost = dict.fromkeys([KILLED, SURVIVED, NOT_COMPILED, UNCHANGED], 0), 0, 0
    idle = [Worker(base, build + "attempt", text.split("\n")) for _ in range(options.jobs)]
    end = time.monotonic() + 60 * options.minutes
    if end < float("inf"):
        chosen.sort(key=checksum)               # however many are tried, they come from all of the header

    def judge(mutant):
        if time.monotonic() > end:
            return mutant, NOT_TRIED
        worker = idle.pop()
        try:
            return mutant, worker.judge(mutant, options.quick or is_known(mutant))
        finally:
            idle.append(worker)

    done = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    try:
        for mutant, result in pool.map(judge, chosen):
            if result == NOT_TRIED:
                continue
            done += 1
            counts[result] += 1
            if result == SURVIVED:
                unknown += not is_known(mutant)
                print("%s %d: %s" % ("accepted" if is_known(mutant) else "SURVIVED", mutant.number, mutant.description))
            elif mutant.by_hand and result != KILLED:
                lost += 1
                print("LOST (%s) %d: %s" % (result, mutant.number, mutant.description))
            elif result == KILLED and mutant.description in known:
                print("NOTICED, but accepted %d: %s" % (mutant.number, mutant.description))
            if done % 100 == 0:
                print("(%d of %d)" % (done, len(chosen)))
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    if done < len(chosen):
        print("stopped after %d of %d" % (done, len(chosen)))
    pool.shutdown(cancel_futures=True)
    alive, total = counts[SURVIVED], counts[KILLED] + counts[SURVIVED]
    print("%d mutants: %d killed, %d survived (%d of these accepted); %d not compiled, %d unchanged"
          % (done, counts[KILLED], alive, alive - unknown, counts[NOT_COMPILED], counts[UNCHANGED]))
    print("score: %.1f %%" % (100 * counts[KILLED] / max(1, total)))
    shutil.rmtree(base, ignore_errors=True)
    failed = lost + unknown
    print("%d passed, %d failed" % (total - unknown, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
