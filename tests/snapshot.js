// snapshot.js DIRECTORY - reads what snapshot.c has written, by memlab, a library for V8's heap snapshots.
'use strict';
const fs = require('fs');
const path = require('path');
const assert = require('assert');
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

const directory = path.resolve(process.argv[2]);
const expected = JSON.parse(fs.readFileSync(path.join(directory, 'expected.json'), 'utf8'));
const HOST_SIZE = 40;
let passed = 0;

function equal(actual, wanted, what) {
  assert.deepStrictEqual(actual, wanted, what);
  passed++;
}

function all(heap, choose = () => true) {
  const list = [];
  heap.nodes.forEach((node) => {
    if (choose(node))
      list.push(node);
  });
  return list;
}

const named = (heap, name, type) => all(heap, (node) => node.name === name && node.type === type);

function census(nodes) {
  const count = {};
  for (const node of nodes)
    count[`${node.type} ${node.name}`] = (count[`${node.type} ${node.name}`] || 0) + 1;
  return count;
}

// The names of the edges of a shortest path from the root to a node. (memlab's own paths are of web pages.)
function pathTo(heap, node) {
  const by = new Map([[heap.nodes.get(0).id, null]]), names = [];
  for (const from of by.keys())
    for (const edge of heap.getNodeById(from).references)
      if (!by.has(edge.toNode.id))
        by.set(edge.toNode.id, edge);
  for (let edge = by.get(node.id); edge; edge = by.get(edge.fromNode.id))
    names.unshift(String(edge.name_or_index));
  return names;
}

async function main() {
  // The whole text is JSON in UTF-8.
  for (const name of ['before', 'after']) {
    const bytes = fs.readFileSync(path.join(directory, `${name}.heapsnapshot`));
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const file = JSON.parse(text);
    equal(file.nodes.length, file.snapshot.node_count * file.snapshot.meta.node_fields.length);
    equal(file.edges.length, file.snapshot.edge_count * file.snapshot.meta.edge_fields.length);
    equal(new Set(file.strings).size, file.strings.length, 'no string comes twice');
  }
  const before = await getFullHeapFromFile(path.join(directory, 'before.heapsnapshot'));
  const after = await getFullHeapFromFile(path.join(directory, 'after.heapsnapshot'));

  equal(before.nodes.length, expected.nodesBefore);
  equal(before.edges.length, expected.edgesBefore);
  equal(after.nodes.length, expected.nodesAfter);
  equal(after.edges.length, expected.edgesAfter);
  equal(new Set(all(after).map((node) => node.id)).size, expected.nodesAfter, 'ids are unique');
  equal(all(after, (node) => node.type === 'string').map((node) => node.name),
    ['string "caf\u00e9" \u0001 \\ \ufffd\ufffd\ufffd\ufffd end']);

  // Sizes.
  equal(named(before, 'Items', 'native').map((node) => node.self_size), [expected.items]);
  equal(named(before, 'Sized', 'native').map((node) => node.self_size), [expected.sized]);
  equal(named(before, 'Items', 'native')[0].retainedSize, expected.items + expected.sized);

  // What retains a window, and what it retains: its view, the callback, the widget's proxy, and the widget.
  const windows = named(before, 'Window', 'native');
  equal(windows.length, expected.windows);
  for (const window of windows) {
    equal(window.referrers.map((edge) => [edge.fromNode.name, edge.name_or_index, edge.type]),
      [['userdata Window', 'C object', 'internal']]);
    equal(window.retainedSize, 3 * expected.knot + 2 * HOST_SIZE);
    equal(window.dominatorNode.name, 'userdata Window');
    equal(window.dominatorNode.retainedSize, 3 * expected.knot + 3 * HOST_SIZE);
  }
  for (const widget of named(before, 'Widget', 'native')) {
    const names = pathTo(before, widget);
    equal(names.slice(0, 2), ['2', 'global g0']);
    equal(names.slice(-6), ['window', 'C object', 'on_close', 'host object', 'upvalue w', 'C object']);
  }
  const view = named(before, 'View', 'native').find((node) => node.references.length > 0);
  equal(view.references[0].toNode.type, 'closure');
  equal(view.referrers.map((edge) => [edge.fromNode.name, edge.name_or_index]).sort(),
    [['Window', 'on_close'], ['function at main.lua:12', 'C object']]);
  equal(named(before, '(references from C)', 'synthetic')[0].references.map((edge) => edge.name_or_index),
    Array(1 + expected.fillers).fill('1 reference'));

  // The difference: the fillers are gone, what leaked is new, although it is where others were, and the rest moved.
  const idsBefore = new Set(all(before).map((node) => node.id)), idsAfter = new Set(all(after).map((node) => node.id));
  equal(census(all(before, (node) => !idsAfter.has(node.id))), { 'native View': expected.fillers });
  equal(census(all(after, (node) => !idsBefore.has(node.id))), {
    'native Widget': expected.leaked,
    'object userdata Widget': expected.leaked,
    'closure function at main.lua:30': expected.leaked,
  });
  for (const node of all(after, (each) => idsBefore.has(each.id)))
    equal(before.getNodeById(node.id).name, node.name);
  const leaked = all(after, (node) => !idsBefore.has(node.id) && node.name === 'Widget');
  equal(pathTo(after, leaked[0]).slice(-2), ['upvalue w', 'C object']);
}

main().then(() => console.log(`\n${passed} passed, 0 failed`), (error) => {
  console.log(`\nFAILED: ${error.stack}`);
  console.log(`${passed} passed, 1 failed`);
  process.exitCode = 1;
});
