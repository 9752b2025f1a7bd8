/* caught.h - what is written to stderr between two calls, for tests that look for it. Needs POSIX: define
 * _POSIX_C_SOURCE before the first #include. */
#ifndef CAUGHT_H
#define CAUGHT_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    FILE *file;
    int   stderr_copy;
    char  text[4096];
} caught;

/* From now on stderr is a file. */
static void catch_stderr(void)
{
    fflush(stderr);
    caught.file = tmpfile();
    caught.stderr_copy = dup(2);
    if (caught.file != NULL)
        dup2(fileno(caught.file), 2);
}

/* ... and no longer. Returns the first 4 KB of what was written. */
static const char *stderr_text(void)
{
    fflush(stderr);
    dup2(caught.stderr_copy, 2);
    close(caught.stderr_copy);
    if (caught.file == NULL)
        return "(there was no file to catch it)";
    rewind(caught.file);
    caught.text[fread(caught.text, 1, sizeof caught.text - 1, caught.file)] = '\0';
    fclose(caught.file);
    return caught.text;
}

#endif
