// newer.js DIRECTORY - which objects are in after.heapsnapshot, but not in before.heapsnapshot? For each kind:
// how many there are, and the path from the root to the farthest one. IGNORE=NAME: objects of this name do not count.
'use strict';
const path = require('path');
const { getFullHeapFromFile } = require('@memlab/heap-analysis');

async function main(directory) {
  const before = await getFullHeapFromFile(path.resolve(directory, 'before.heapsnapshot'));
  const after = await getFullHeapFromFile(path.resolve(directory, 'after.heapsnapshot'));
  const known = new Set(), by = new Map([[after.nodes.get(0).id, []]]), found = new Map();

  before.nodes.forEach((node) => { known.add(node.id); });
  for (const [id, names] of by)
    for (const edge of after.getNodeById(id).references)
      if (!by.has(edge.toNode.id))
        by.set(edge.toNode.id, [...names, `${edge.name_or_index}`]);
  after.nodes.forEach((node) => {
    if (known.has(node.id) || node.name === process.env.IGNORE)
      return;
    const one = found.get(node.name) || { count: 0, names: [] };
    const names = by.get(node.id) || ['unreachable'];
    one.count++;
    if (names.length > one.names.length)
      one.names = names;
    found.set(node.name, one);
  });
  const lines = [...found].map(([name, one]) => `${one.count} ${name.replace(/ at \/\S*\//, ' at ')}: ${one.names.slice(1).join(', ')}`);
  console.log(`\nNEW ${lines.sort().join('\nNEW ')}`);
}

main(process.argv[2]).catch((error) => {
  console.log(`FAILED: ${error.stack}`);
  process.exitCode = 1;
});
