/* layers.h - all the layers that the command cvm has. */
#ifndef CVM_LAYERS_H
#define CVM_LAYERS_H

#include "../compactvm/core/vm.h"

extern const cvm_layer *const cvm_all_layers[];

#endif
