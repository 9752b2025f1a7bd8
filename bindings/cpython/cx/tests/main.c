/* main.c - the tests of the API that are C. Arguments: parts of the names of those to run. */
#include "../../../../tests/unit.h"

extern const unit_group embedding, failing, linked, neutral;

static const unit_group *const groups[] = { &embedding, &failing, &linked, &neutral };

int main(int argc, char **argv)
{
    return unit_main(argc, argv, groups, sizeof groups / sizeof groups[0]);
}
