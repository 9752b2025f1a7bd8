/* peer_glib.c N - GObjects with toggle references, as bindings of GLib's libraries use
 * them, for the rows about links.
 *
 * A binding's proxy p holds its GObject ob by a toggle reference; p has a field for ob,
 * and ob finds p by g_object_get_qdata. While C holds ob as well, the binding roots p: it
 * is told when that begins and ends. That is a P link and its bias. So the rows are the
 * same: making it, beyond making p and ob; from ob to p; a reference that C takes and
 * drops; the memory; and what it takes to undo the link of a dead p, without the
 * GObject's own end, which is that of the same objects without links. (The collector of
 * such a binding's host is told of roots, and has no work with links: there is no row
 * about live ones.) ob is at a random address with respect to the order of the links. */
#define _DEFAULT_SOURCE
#include <glib-object.h>
#include <malloc.h>
#include <stdlib.h>
#include "peer.h"

typedef struct proxy {
    GObject *ob;
    int      rooted;
} proxy;

typedef struct heap {
    size_t    n;
    uint32_t *order;
    GObject **ob;
    proxy    *p;
    GQuark    quark;
} heap;

static void toggle(gpointer p, GObject *ob, gboolean is_last)
{
    (void)ob;
    ((proxy *)p)->rooted = !is_last;
}

static void make(heap *h)
{
    size_t i;

    for (i = 0; i < h->n; i++)
        h->ob[h->order[i]] = g_object_new(G_TYPE_OBJECT, NULL);
    for (i = 0; i < h->n; i++) {
        h->p[i].ob = NULL;
        h->p[i].rooted = 0;
    }
}

/* The toggle reference takes the place of the maker's. */
static double link_all(heap *h)
{
    double start = bench_now();
    size_t i;

    for (i = 0; i < h->n; i++) {
        GObject *ob = h->ob[i];

        h->p[i].ob = ob;
        g_object_set_qdata(ob, h->quark, &h->p[i]);
        g_object_add_toggle_ref(ob, toggle, &h->p[i]);
        g_object_unref(ob);
    }
    return bench_now() - start;
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

int main(int argc, char **argv)
{
    static samples create, memory, to_obj, counts, die;
    heap h;
    int repeats, i;
    double n;

    h.n = peer_begin(argc, argv, &h.order);
    n = (double)h.n * 1e-9;
    h.ob = malloc(h.n * sizeof *h.ob);
    h.p = malloc(h.n * sizeof *h.p);
    h.quark = g_quark_from_static_string("proxy");
    if (h.ob == NULL || h.p == NULL)
        return 1;
    repeats = peer_repeats(h.n);
    for (i = 0; i <= repeats; i++) {
        double start, plain;
        size_t before, k;
        uintptr_t sum = 0;

        make(&h);
        start = bench_now();
        for (k = 0; k < h.n; k++)
            g_object_unref(h.ob[k]);
        plain = bench_now() - start;

        make(&h);
        before = in_use();
        sample(&create, link_all(&h) / n, 0);
        sample(&memory, (double)(in_use() - before) / (double)h.n, 0);
        start = bench_now();
        for (k = 0; k < h.n; k++)
            sum += (uintptr_t)g_object_get_qdata(h.ob[k], h.quark);
        sample(&to_obj, (bench_now() - start) / n, 0);
        bench_sink += sum;
        start = bench_now();
        for (k = 0; k < h.n; k++) {
            g_object_ref(h.ob[k]);
            if (!h.p[k].rooted)
                return 1;
            g_object_unref(h.ob[k]);
            if (h.p[k].rooted)
                return 1;
        }
        sample(&counts, (bench_now() - start) / n, 0);
        start = bench_now();
        for (k = 0; k < h.n; k++)
            g_object_remove_toggle_ref(h.ob[k], toggle, &h.p[k]);
        sample_beyond(&die, (bench_now() - start) / n, 0, plain / n);
    }
    printf("variant\tGObject %u.%u\n", glib_major_version, glib_minor_version);
    peer_row("create a P link, cold", &create, "ns");
    peer_row("memory of a link", &memory, "bytes");
    peer_row("rrc_to_obj, random order", &to_obj, "ns");
    peer_row("incref + decref, random order", &counts, "ns");
    peer_row("major, all die, queued", &die, "ns");
    return 0;
}
