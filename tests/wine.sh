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
# Only one of several programs makes that home, and the others wait for it.
mkdir -p "$WINEPREFIX" || exit 1
{
    flock 9
    [ -f "$WINEPREFIX/system.reg" ] || "$wine" wineboot --init >/dev/null 2>&1 9>&-
} 9>"$WINEPREFIX.lock"
exec "$wine" "$@"
