/* <setjmp.h>. WASI has none: nothing can jump there, and what would jump ends the program. */

#ifndef JUMPS_H
#define JUMPS_H

#ifdef __wasi__
#include <stdlib.h>
#define CAN_JUMP 0
typedef int jmp_buf[1];
#define setjmp(buffer) ((buffer)[0] = 0)
#define longjmp(buffer, value) ((void)(buffer)[0], abort())
#else
#define CAN_JUMP 1
#include <setjmp.h>
#endif

#endif
