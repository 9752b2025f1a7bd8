#!/bin/sh
# wine.sh PROGRAM ARGUMENTS... - runs a program for Windows by wine, without a display,
# with a home of its own below build/.
# wine.sh --there - is there a wine?
for wine in wine64 /usr/lib/wine/wine64 wine ''; do
    command -v "$wine" >/dev/null 2>&1 && break
done
if [ "$1" = --there ] || [ -z "$wine" ]; then
    [ -n "$wine" ]
    exit
fi
WINEPREFIX=$(pwd)/${BUILD:-build}/wine
export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe=' DISPLAY=
if [ ! -d "$WINEPREFIX" ]; then
    # Two programs must not make it at a time.
    mkdir -p "$WINEPREFIX" && "$wine" wineboot --init >/dev/null 2>&1
fi
exec "$wine" "$@"
