#!/bin/sh
# display.sh COMMAND [ARGUMENT...] - runs the command with a display of its own, if there is none, and Xvfb is installed.
# Gtk draws without OpenGL: Mesa's drivers leak when they are unloaded, if they are installed.
set -u
GSK_RENDERER=cairo GDK_DEBUG=gl-disable
export GSK_RENDERER GDK_DEBUG
if [ -z "${DISPLAY-}" ] && command -v Xvfb >/dev/null 2>&1; then
    file=$(mktemp) || exit 1
    Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3>"$file" >/dev/null 2>&1 &
    server=$!
    trap 'kill $server 2>/dev/null; rm -f "$file"' EXIT
    trap 'exit 1' HUP INT TERM
    while kill -0 $server 2>/dev/null && [ -z "$(tail -n 1 "$file")" ]; do sleep 0.1; done
    DISPLAY=:$(cat "$file")
    export DISPLAY
    kill -0 $server 2>/dev/null || unset DISPLAY
fi
"$@"
