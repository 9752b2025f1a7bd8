# peer_cpython_pauses.py N - CPython's collector, for the rows about pauses. N objects of two
# fields and no dictionary are in pairs that refer to each other, as in pauses.c. Either
# all live, or each tenth pair dies. A collection is one pause: gc.collect, freeing included.
# While the objects are made the collector runs when it likes to: its longest
# run is the pause of building. Times are of the processor.
import gc
import math
import sys
import time


class Node:
    __slots__ = ("a", "b")


def make_pair():
    first, second = Node(), Node()
    first.a, second.a = second, first
    return first


def timed(work):
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def print_calls(name, times):
    """As calls_print of calls.c: 8 buckets for a factor of 10, from 10 ns on."""
    buckets = {}
    for ms in times:
        bucket = int(math.log10(ms * 1e5) * 8) if ms > 1e-5 else 0
        buckets[bucket] = buckets.get(bucket, 0) + 1
    at_least = len(times)
    for bucket in sorted(buckets):
        print("calls\t%s\t%.4g\t%d\t%d" % (name, 1e-5 * 10 ** (bucket / 8), buckets[bucket], at_least))
        at_least -= buckets[bucket]
    print("calls\t%s\t%.4g\t0\t1" % (name, max(times)))


def row(name, calls_name, times):
    print("pause, %s\t%.4f\t0\tms" % (name, max(times)))
    print_calls(calls_name, times)


def build(n, times):
    started = []

    def watch(phase, info):
        if phase == "start":
            started.append(time.process_time())
        else:
            times.append((time.process_time() - started.pop()) * 1e3)

    gc.callbacks.append(watch)
    gc.enable()
    pairs = [make_pair() for _ in range(n // 2)]
    gc.disable()
    gc.callbacks.remove(watch)
    return pairs


def main():
    n = int(sys.argv[1])
    repeats = 7 if n <= 200000 else 3 if n <= 2000000 else 1
    gc.disable()
    gc.collect()
    gc.freeze()
    live, dying, building = [], [], []
    for _ in range(repeats):
        times = []
        pairs = build(n, times)
        building.append(times)
        live.append(timed(gc.collect))
        pairs[::10] = [None] * len(pairs[::10])
        dying.append(timed(gc.collect))
        del pairs
        gc.collect()
    print("variant\tCPython %d.%d" % sys.version_info[:2])
    row("live, whole", "live, whole", [min(live)])
    row("dying, whole", "dying, whole", [min(dying)])
    if all(building):
        row("building, longest", "building, collector", min(building, key=max))


main()
