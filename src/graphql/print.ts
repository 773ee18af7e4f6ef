// Prints the brand's interface into schema.graphql: npm run schema.
import { writeFileSync } from 'node:fs';

import { printSchema } from 'graphql';

import { brandSchema } from './schema.ts';

/** The whole text of schema.graphql. */
export function printBrandSchema(): string {
  const heading = '# Printed by `npm run schema` from the code; change it there.';
  return `${heading}\n\n${printSchema(brandSchema)}\n`;
}

if (import.meta.main) {
  writeFileSync(new URL('../../schema.graphql', import.meta.url), printBrandSchema());
}
