/* toolkit.h - a small library of reference-counted C objects, for programs of compactvm to use. */
#ifndef TOOLKIT_H
#define TOOLKIT_H

#include "../../bindings/compactvm/lisp/lisp.h"

extern const cvm_layer cvm_toolkit_layer;

#endif
