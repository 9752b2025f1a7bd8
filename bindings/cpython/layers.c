/* layers.c - the language below, then the C API, then the toolkit. */
#include "layers.h"

#include "../../examples/toolkit/toolkit.h"
#include "cx/host.h"

const cvm_layer *const cvm_all_layers[] = { &cvm_lisp_layer, &cvm_cx_layer, &cvm_toolkit_layer, NULL };
