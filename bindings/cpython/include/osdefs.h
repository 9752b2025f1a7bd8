/* osdefs.h - characters in names of files. */
#ifndef Py_OSDEFS_H
#define Py_OSDEFS_H

#define SEP L'/'
#define DELIM L':'
#ifndef MAXPATHLEN
#define MAXPATHLEN 4096
#endif

#endif
