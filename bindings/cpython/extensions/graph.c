/* graph.c - a library of graphs: nodes, edges from node to node, and callbacks.
 *
 *     (define a (node x))                         with any value; (node): nil
 *     (call a 'connect b) (call a 'disconnect b)  disconnect: was there such an edge?
 *     (call a 'neighbours)                        a tuple, in the order in which they came
 *     (attr a 'value)                             can be set
 *     (call a 'on-visit f)                        f is called as (f a distance); nil: no more
 *     (call a 'walk)                              visits all that a leads to, the nearest first;
 *                                                 gives their number. An error in f ends it
 *
 * node_members lists what a node owns. No more is needed for rings of nodes to be collected, and
 * nodes whose callbacks or values mention them.
 */
#include "../cx/capi.h"

typedef struct node {
    rrc_object head;
    rrc_object *value, *on_visit;   /* owned, as edges; NULL at first, and in garbage */
    rrc_object *edges;              /* a list of nodes */
    size_t walk;                    /* the number of the last walk that found it */
} node;

typedef struct state { cx_type *node; size_t walks; } state;

extern const cx_extension cx_ext_graph;

#define METHOD(name) static rrc_object *name(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
#define NIL cx_newref(vm, cx_nil(vm))

METHOD(node_connect)
{
    const state *s = cx_state(vm, &cx_ext_graph);

    (void)n;
    if (!cx_check(vm, "connect", args[0], s->node))
        return NULL;
    return cx_list_append(vm, ((node *)self)->edges, args[0]) == 0 ? NIL : NULL;
}

METHOD(node_disconnect)
{
    rrc_object *edges = ((node *)self)->edges;
    size_t i, count = cx_list_size(vm, edges);

    (void)n;
    for (i = 0; !cx_err_occurred(vm) && i < count && cx_list_get_item(vm, edges, i) != args[0]; i++)
        continue;
    if (cx_err_occurred(vm) || (i < count && cx_list_del_item(vm, edges, i) != 0))
        return NULL;
    return cx_newref(vm, cx_bool(vm, i < count));
}

METHOD(node_neighbours)
{
    return (void)args, (void)n, cx_list_as_tuple(vm, ((node *)self)->edges);
}

/* ---- walking --------------------------------------------------------------
 *
 * First the nodes are gathered in a list of stops, then they are visited: callbacks may
 * change the graph, walk over it or let go of it, and the walk goes on as it began. (Nothing
 * that gather does runs code of others.) A stop is what a callback gets: a node, its distance. */

static int add_stop(cvm *vm, rrc_object *stops, rrc_object *ob, size_t distance)
{
    const state *s = cx_state(vm, &cx_ext_graph);
    rrc_object *number, *stop;
    int code;

    if (ob == NULL || ((node *)ob)->walk == s->walks)
        return ob == NULL ? -1 : 0;
    number = cx_int_from_size(vm, distance);
    stop = number != NULL ? cx_tuple_pack(vm, 2, ob, number) : NULL;
    code = stop != NULL ? cx_list_append(vm, stops, stop) : -1;
    if (code == 0)
        ((node *)ob)->walk = s->walks;
    cx_xdecref(vm, number);
    cx_xdecref(vm, stop);
    return code;
}

static int gather(cvm *vm, rrc_object *stops, rrc_object *start)
{
    size_t done, i;
    int code;

    ((state *)cx_state(vm, &cx_ext_graph))->walks++;
    code = add_stop(vm, stops, start, 0);
    for (done = 0; code == 0 && done < cx_list_size(vm, stops); done++) {
        rrc_object *const *stop = cx_tuple_items(vm, cx_list_get_item(vm, stops, done));
        rrc_object *edges = stop != NULL ? ((node *)stop[0])->edges : NULL;
        size_t count = edges != NULL ? cx_list_size(vm, edges) : 0;

        code = stop != NULL ? 0 : -1;
        for (i = 0; code == 0 && i < count; i++)
            code = add_stop(vm, stops, cx_list_get_item(vm, edges, i), cx_int_as_size(vm, stop[1]) + 1);
    }
    return code;
}

static int visit_stop(cvm *vm, rrc_object *stop)
{
    rrc_object *const *args = cx_tuple_items(vm, stop);
    rrc_object *f = args != NULL ? ((node *)args[0])->on_visit : NULL, *result;

    if (f == NULL || f == cx_nil(vm))
        return args != NULL ? 0 : -1;
    cx_incref(vm, f);                       /* it may take itself away */
    result = cx_call(vm, f, args, 2);
    cx_decref(vm, f);
    cx_xdecref(vm, result);
    return result != NULL ? 0 : -1;
}

METHOD(node_walk)
{
    rrc_object *stops = cx_list_new(vm, 0);
    int code = stops != NULL ? gather(vm, stops, self) : -1;
    size_t i, count = code == 0 ? cx_list_size(vm, stops) : 0;

    (void)args, (void)n;
    for (i = 0; code == 0 && i < count; i++)
        code = visit_stop(vm, cx_list_get_item(vm, stops, i));
    cx_xdecref(vm, stops);
    return code == 0 ? cx_int_from_size(vm, count) : NULL;
}

METHOD(node_on_visit)
{
    (void)n;
    if (args[0] != cx_nil(vm) && !cx_callable_check(vm, args[0]))
        return cx_err_expected(vm, "on-visit", "a procedure or nil", args[0]);
    CX_SETREF(vm, ((node *)self)->on_visit, cx_newref(vm, args[0]));
    return NIL;
}

static rrc_object *get_value(cvm *vm, rrc_object *self)
{
    const node *a = (const node *)self;

    return a->value != NULL ? cx_newref(vm, a->value) : NIL;
}

static rrc_object *node_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    rrc_object *a = cx_new(vm, type);

    (void)args, (void)n;            /* they are for tp_init: also that of a type based on this one */
    if (a != NULL && (((node *)a)->edges = cx_list_new(vm, 0)) == NULL)
        CX_CLEAR(vm, a);
    return a;
}

static int node_init(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    if (!cx_check_args(vm, "node", n, 0, 1))
        return -1;
    CX_SETREF(vm, ((node *)self)->value, n > 0 ? cx_newref(vm, args[0]) : NULL);
    return 0;
}

static int set_value(cvm *vm, rrc_object *self, rrc_object *value)
{
    return node_init(vm, self, &value, 1);
}

static const rrc_member node_members[] = {
    { "value", offsetof(node, value) }, { "on_visit", offsetof(node, on_visit) },
    { "edges", offsetof(node, edges) }, { NULL, 0 }
};
static const cx_method_def node_methods[] = {
    { "connect", 1, 1, node_connect }, { "disconnect", 1, 1, node_disconnect },
    { "neighbours", 0, 0, node_neighbours }, { "on-visit", 1, 1, node_on_visit },
    { "walk", 0, 0, node_walk }, { NULL, 0, 0, NULL }
};
static const cx_getset_def node_getset[] = { { "value", get_value, set_value }, { NULL, NULL, NULL } };

static const cx_type node_spec = {
    .type = { .tp_name = "node", .tp_basicsize = sizeof(node), .tp_members = node_members,
              .tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_BASETYPE },
    .tp_new = node_new, .tp_init = node_init, .tp_methods = node_methods, .tp_getset = node_getset
};

static int init(cvm *vm)
{
    return cx_define_type(vm, &node_spec, NULL, NULL, &((state *)cx_state(vm, &cx_ext_graph))->node);
}

static void end(cvm *vm)
{
    CX_CLEAR(vm, ((state *)cx_state(vm, &cx_ext_graph))->node);
}

const cx_extension cx_ext_graph = {
    CX_EXTENSION_HEAD("graph"), .init = init, .state_size = sizeof(state), .end = end
};
