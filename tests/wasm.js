// wasm.js PROGRAM ARGUMENTS... - runs a program for WebAssembly in node: one for WASI, which
// sees the files below the current folder, or one without a library, which exports `start`.
'use strict';
const fs = require('fs');

const [program, ...rest] = process.argv.slice(2);
const code = new WebAssembly.Module(fs.readFileSync(program));

if (WebAssembly.Module.exports(code).some((item) => item.name === '_start')) {
    process.removeAllListeners('warning');      // that this part of node is an experiment
    // In the fast calls of node 20 its collector can run, and they are not made for that.
    require('v8').setFlagsFromString('--no-turbo-fast-api-calls');
    const { WASI } = require('wasi');
    const wasi = new WASI({ version: 'preview1', args: [program, ...rest], env: process.env,
                            preopens: { '.': '.' }, returnOnExit: true });
    const instance = new WebAssembly.Instance(code, { wasi_snapshot_preview1: wasi.wasiImport });
    process.exitCode = wasi.start(instance);
} else {
    process.exitCode = new WebAssembly.Instance(code, {}).exports.start();
}
