# cythonic.pyx - what C that Cython generates uses: cythonic.lisp says what it does.
cimport cython

cdef class Base:
    cdef public int x
    cdef readonly object y
    cdef object __weakref__
    def __cinit__(self, x, y=None):
        self.x = x
        self.y = y
    cdef int twice(self):
        return 2 * self.x
    cpdef int apply(self):
        return self.twice()
    property z:
        def __get__(self):
            return self.y
        def __set__(self, value):
            self.y = [value]
    def __getitem__(self, i):
        if i >= self.x:
            raise IndexError(i)
        return i * i
    def __len__(self):
        return self.x
    def __richcmp__(self, other, int op):
        return (op == 2) == (isinstance(other, Base) and self.x == (<Base>other).x)
    def __hash__(self):
        return self.x
    def __add__(a, b):
        return Base(a.x + b.x)

cdef class Derived(Base):
    cdef int twice(self):
        return 3 * self.x

@cython.freelist(4)
cdef class Kept:                        # its memory is kept for the next one
    cdef object item
    def __init__(self, item):
        self.item = item
    def get(self):
        return self.item

class Plain:
    kind = "plain"
    def __init__(self, **options):
        self.options = options
    @staticmethod
    def static(a):
        return a
    @classmethod
    def of(cls, a):
        return cls(a=a)
    def __call__(self, *, key=1):
        return key

def generate(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                yield "got " + got
    except ValueError as e:
        yield "caught " + str(e)
    finally:
        ended.append(n)

ended = []

def delegate(n):
    result = yield from generate(n)
    return (result, "done")

async def compute(x):
    return x + 1

async def chain(x):
    return await compute(x) + await compute(x)

def closures(n):
    total = 0
    def add(k):
        nonlocal total
        total += k
        return total
    return [add for _ in range(n)]

def comprehend(items):
    return [x for x in items if x], {x: str(x) for x in items}, {x % 2 for x in items}, sum(x * x for x in items)

def call(f, *args, **kwargs):
    return f(*args, **kwargs)

def text(a, b):
    return f"{a!r:>6}|{b:.2f}|{a}" + " %s %d" % (a, b)

def unpack(items):
    a, (b, *c), d = items
    return d, c, b, a

def errors(f):
    try:
        f()
    except (KeyError, IndexError):
        return "lookup"
    except ValueError as e:
        raise TypeError("changed") from e
    else:
        return "none"
    finally:
        ended.append("errors")

def sort(list items, bint reverse=False):
    items.sort(key=lambda x: -x, reverse=reverse)
    return items, items[1:-1], items[-1], len(items)

def merge(dict a, b, key="k"):
    a.update(b)
    a.setdefault(key, []).append(1)
    return a.get("none", 5), key in a, sorted(a), a.pop(key), a

cpdef long long power(long long base, int n) except? -1:
    if n < 0:
        raise ValueError("negative")
    return base ** n

def view(unsigned char[:] data):
    cdef int i, total = 0
    for i in range(data.shape[0]):
        total += data[i]
        data[i] = 0
    return total

def letters(str s, bytes b):
    cdef Py_UCS4 c
    return [c for c in s if c.isalpha()], s[1:], s.upper(), b[0], b[1:], s.encode("utf-8"), b.decode("ascii")
