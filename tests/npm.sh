#!/bin/sh
# npm.sh - installs the library by which a test reads heap snapshots, below build/node: it needs
# no root, and changes nothing of the system. Without it the test is skipped, which is no failure here.
set -u
package=@memlab/heap-analysis version=2.0.5
out=${BUILD:-build}/node
if [ -d "$out/node_modules/$package" ]; then
    echo "npm: all there, in $out"
    exit 0
fi
mkdir -p "$out" || exit 1
# (No browser is needed to read files, and no program of a package is run.)
if ! command -v npm >/dev/null 2>&1 ||
    ! PUPPETEER_SKIP_DOWNLOAD=1 npm install --prefix "$out" --ignore-scripts --no-audit --no-fund "$package@$version"; then
    rm -rf "$out"
    echo "npm: could not install $package; a test of heap snapshots is skipped" >&2
fi
