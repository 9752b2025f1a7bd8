/* The programs that drive the world of a closed host: see mirror.c. */

#ifndef MIRROR_PROGRAMS_H
#define MIRROR_PROGRAMS_H

#include "mirror_world.h"

int mirror_cases(int argc, char **argv);
int mirror_graphs(int argc, char **argv);
int mirror_small(int argc, char **argv);
int mirror_slices(int argc, char **argv);
int mirror_random(int argc, char **argv);
int mirror_control(int argc, char **argv);

#endif
