/* checked.h - in front of each file of Lua's own sources, when checked.sh builds them:
 * Lua asserts what it believes, and how its functions are used; and collects wherever it
 * can. Each version knows some of these names. */
#include <assert.h>

#define lua_assert(condition) assert(condition)     /* also how the stack is used: 5.1, 5.3 to 5.5 */
#define assert_code(code) code                      /* 5.5 */
#define LUA_USE_APICHECK                            /* 5.2 */
#define HARDMEMTESTS        /* full collections at each allocation, and where finalizers may run: 5.2, 5.3; there only: from 5.4 on */
#define EMERGENCYGCTESTS    /* at each allocation: from 5.4 on */
