# cycles.py N - CPython's own collector on the graphs of cycles.c: for each row of the
# benchmark a line "row <tab> nanoseconds per object".
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
    start = time.perf_counter()
    gc.collect()
    return (time.perf_counter() - start) * 1e9


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    n = int(sys.argv[1])
    repeats = 3 if n > 200000 else 7
    gc.disable()
    gc.collect()
    rest = median([collect() for _ in range(5)])        # the interpreter's own objects
    print("version\t%d.%d" % sys.version_info[:2])
    for shape in ("pairs", "in order", "shuffled", "a chain"):
        live, dying = [], []
        for _ in range(repeats):
            root = make(n, shape)
            gc.collect()
            live.append(collect() - rest)
            del root
            dying.append(collect() - rest)
        print("cycles, live, %s\t%.2f" % (shape, median(live) / n))
        print("cycles, dying, %s\t%.2f" % (shape, median(dying) / n))


main()
