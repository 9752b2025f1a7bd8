# peer_cpython.py N - CPython's own collector on the graphs of cycles.c. What a live row
# times, and what a dying one, is the same: a full collection of N objects that are all
# reachable from one root, or not at all, freeing included. The objects have two fields
# and no dictionary. The interpreter's own objects are left out (gc.freeze).
# The best of some turns counts.
import gc
import random
import sys
import time


class Node:
    __slots__ = ("a", "b")


def make(n, shape):
    nodes = [Node() for _ in range(n)]
    if shape == "pairs":
        for i in range(0, n - 1, 2):
            nodes[i].a, nodes[i + 1].a = nodes[i + 1], nodes[i]
        return nodes[::2]
    order = nodes[:]
    if shape != "in order":
        random.Random(1).shuffle(order)
    for i in range(n):
        if shape == "shuffled":
            nodes[i].a = order[i]
            nodes[i].b = order[n - 1 - i]
        else:
            order[i].a = order[(i + 1) % n]
            order[i].b = order[(i + 2) % n]
    return nodes[0]


def collect():
    start = clock()
    gc.collect()
    return (clock() - start) * 1e9


def row(name, value, unit):
    print("%s\t%.4f\t0\t%s" % (name, value, unit))


def main():
    global clock
    n = int(sys.argv[1])
    clock = time.process_time if n >= 100000 else time.perf_counter     # as bench_choose_clock
    repeats = 9 if n <= 20000 else 3 if n <= 2000000 else 1
    gc.disable()
    gc.collect()
    gc.freeze()
    print("variant\tCPython %d.%d" % sys.version_info[:2])
    for shape in ("shuffled",) if n > 5000000 else ("pairs", "in order", "shuffled", "a chain"):
        live, dying = [], []
        for _ in range(repeats):
            root = make(n, shape)
            live.append(collect())
            del root
            dying.append(collect())
        row("cycles, live, " + shape, min(live) / n, "ns")
        row("cycles, dying, " + shape, min(dying) / n, "ns")
        if shape == "shuffled":
            row("longest pause, cycles, live", min(live) / 1e6, "ms")
            row("longest pause, cycles, dying", min(dying) / 1e6, "ms")


main()
