// Prints the brand's interface into schema.graphql: npm run schema.
import { writeFileSync } from 'node:fs';

import { printSchema } from 'graphql';

import { brandSchema } from './schema.ts';

writeFileSync(
  new URL('../../schema.graphql', import.meta.url),
  `# Printed by \`npm run schema\` from the code; edit it there.\n\n${printSchema(brandSchema)}\n`,
);
