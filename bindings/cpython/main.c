/* main.c - the command cvm: the language, the C API, and the toolkit of the examples. */
#include "cx/host.h"
#include "layers.h"

int main(int argc, char **argv)
{
    return cvm_command(argc, argv, cvm_all_layers, cvm_cx_load);
}
