"""in_cpython.py - the states in CPython, and what is lost there: CPython's collector cannot know that C has a tensor."""

import gc
import weakref

import tensor


def settle():
    for _ in range(3):
        gc.collect()


def hang(x):
    """On a garbage cycle."""
    cycle = [x]
    cycle.append(cycle)


a = tensor.Tensor(1, 2, 3)
a.backward()
assert tensor.grad_state(a) == "1: no wrapper"
a.grad.name = "slope of a"
assert tensor.grad_state(a) == "3: tensor owns wrapper"     # at once: nothing else held it
gradient = a.grad
assert tensor.grad_state(a) == "2: wrapper owns tensor" and gradient.name == "slope of a"
tensor.name_grad(a, "slope")
assert gradient.name == "slope"
del gradient

# A dict in which there are only texts and numbers is not tracked: it stays, as tensor_clear leaves it alone.
hang(a.grad)
settle()
assert a.grad.name == "slope"

# But a dict with a list in it is garbage of its own, and the collector empties it. The weak references go as well.
a.grad.notes = ["note"]
reference = weakref.ref(a.grad)
hang(a.grad)
settle()
assert not hasattr(a.grad, "name") and not hasattr(a.grad, "notes")
assert a.grad is not None and reference() is None

# Nothing leaks, if each owner in C is the only one.
a.grad.owner = a
del a
settle()
assert tensor.counts()[0] == 0
print("CPython: attributes and weak references are lost where a wrapper hangs on a garbage cycle")
