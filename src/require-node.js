// Loaded with --import before any TypeScript: an older Node cannot parse the rest, so it is told
// apart here, in JavaScript that every Node since 14 understands.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    'This service needs Node 24 or newer; this is Node ' +
      process.versions.node +
      '.\nOn Linux, `npm ci` brings the right one along and `npm start` and `npm test` use it. ' +
      'If you see this there, optional dependencies were left out: run `npm ci` without ' +
      '--omit=optional.\nElsewhere, install Node 24 from https://nodejs.org and try again.',
  );
  process.exit(1);
}
