// raii.cpp - C++: references that count by their constructors and destructors, a class whose slots
// are static member functions, and a cycle of its objects that is linked to a VM.
//
//     c++ -I.. raii.cpp -o raii && ./raii
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

// A copy takes one more reference, a move takes none, and the destructor drops it.
template <class T> class Ref {
public:
    Ref() = default;
    Ref(rrc_heap *heap, rrc_object *ob) : heap_(heap), ob_(ob) {}       // takes over the caller's
    Ref(const Ref &other) : heap_(other.heap_), ob_(other.ob_) { if (ob_) rrc_incref(heap_, ob_); }
    Ref(Ref &&other) noexcept : heap_(other.heap_), ob_(other.ob_) { other.ob_ = nullptr; }
    ~Ref() { if (ob_) rrc_decref(heap_, ob_); }
    Ref &operator=(Ref other) noexcept      // the old reference goes last, when *this is valid again
    {
        std::swap(heap_, other.heap_);
        std::swap(ob_, other.ob_);
        return *this;
    }
    T *operator->() const { return &T::of(ob_); }
    rrc_object *get() const { return ob_; }

private:
    rrc_heap *heap_ = nullptr;
    rrc_object *ob_ = nullptr;
};

class Widget {
public:
    static Ref<Widget> make(rrc_heap *heap, std::string label);
    static Widget &of(rrc_object *ob);
    ~Widget() { std::printf("  %s destroyed\n", label_.c_str()); }

    Ref<Widget> peer;

private:
    explicit Widget(std::string &&label) noexcept : label_(std::move(label)) {}
    // The slots. No exception may leave them.
    static void dealloc(rrc_heap *heap, rrc_object *self) noexcept;
    static int traverse(rrc_object *self, rrc_visitproc visit, void *arg) noexcept;
    static int clear(rrc_heap *, rrc_object *self) noexcept { of(self).peer = {}; return 0; }

    struct Counted;
    std::string label_;
};

// What is counted: the head belongs to the header, and only the widget is constructed and destroyed.
struct Widget::Counted { rrc_object head; Widget widget; };

Widget &Widget::of(rrc_object *ob) { return reinterpret_cast<Counted *>(ob)->widget; }

void Widget::dealloc(rrc_heap *heap, rrc_object *self) noexcept
{
    of(self).~Widget();
    rrc_gc_del(heap, self);
}

int Widget::traverse(rrc_object *self, rrc_visitproc visit, void *arg) noexcept
{
    RRC_VISIT(of(self).peer.get());
    return 0;
}

Ref<Widget> Widget::make(rrc_heap *heap, std::string label)
{
    static const rrc_type type = [] {
        rrc_type t = {};
        t.tp_name = "Widget";
        t.tp_basicsize = sizeof(Counted);
        t.tp_flags = RRC_TPFLAGS_HAVE_GC;
        t.tp_dealloc = dealloc;
        t.tp_traverse = traverse;
        t.tp_clear = clear;
        return t;
    }();
    rrc_object *ob = rrc_gc_new(heap, &type);
    if (!ob)
        throw std::bad_alloc();
    ::new (&of(ob)) Widget(std::move(label));
    Ref<Widget> ref(heap, ob);
    if (rrc_gc_track(heap, ob) != RRC_OK)
        throw std::bad_alloc();
    return ref;
}

// The host: one cell, to which a root may refer, and a collector that marks it. (The address of
// a host object must be even, so that this is no struct of bools.)
static struct Cell { int marked, rooted; } cell;

static void collect(rrc_heap *heap)
{
    cell.marked = cell.rooted;
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    std::printf("  the cell %s\n", cell.marked ? "lives" : "is dead");
    rrc_run_pending(heap, 0);                   // deallocs and destructors run here
}

int main()
{
    rrc_desc desc = {};
    desc.trace = [](void *, rrc_gcref p) { static_cast<Cell *>(p)->marked = 1; };
    desc.survivor = [](void *, rrc_gcref p) { return static_cast<Cell *>(p)->marked ? p : nullptr; };
    rrc_heap *heap = rrc_heap_new(&desc);
    {
        auto window = Widget::make(heap, "the window");
        auto button = Widget::make(heap, "the button");
        if (rrc_link(heap, &cell, window.get(), RRC_P) != RRC_OK)
            return 1;
        window->peer = button;                  // a copy
        button->peer = window;                  // and back: a cycle
        auto moved = std::move(button);
        std::printf("references to the button: %d\n", static_cast<int>(rrc_refcnt(moved.get())));
        std::puts("C++ holds the window, and so its cell:");
        collect(heap);
    }
    std::puts("The references are out of scope, but the host has a root:");
    cell.rooted = 1;
    collect(heap);
    std::puts("The root is cleared:");
    cell.rooted = 0;
    collect(heap);
    std::printf("objects still held by C++: %u\n", static_cast<unsigned>(rrc_heap_free(heap)));
}
