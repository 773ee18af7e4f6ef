import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';

import { formatInstant, parseInstant } from '../database/instants.ts';

/** Throws at `node`, where the value stands in a document, so that the error can say where. */
function toInstant(value: unknown, node?: ValueNode): string {
  const instant = typeof value === 'string' ? parseInstant(value) : null;
  if (instant === null) {
    throw new GraphQLError(
      'A DateTime must be an ISO 8601 instant with a time zone, as in 2026-11-20T09:54:00.000Z.',
      { nodes: node },
    );
  }
  return instant;
}

/** `DateTime`: in, any ISO 8601 instant with a zone; out, UTC with milliseconds. Rows hold PostgreSQL's text. */
export const DateTimeScalar = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  description:
    'An ISO 8601 instant in UTC with milliseconds, as in 2026-11-20T09:54:00.000Z. As input any ' +
    'time zone is taken, and what is finer than a millisecond is cut off.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  serialize: (value) => formatInstant(value as string),
  parseValue: (value) => toInstant(value),
  parseLiteral: (node) => toInstant(node.kind === Kind.STRING ? node.value : undefined, node),
});

function toSafeInt(value: unknown, node?: ValueNode): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new GraphQLError(
      'A SafeInt must be a whole number from -9007199254740991 to 9007199254740991, written as a JSON number.',
      { nodes: node },
    );
  }
  return value;
}

/** `SafeInt`: an integer that a JSON number holds exactly. Rows hold bigints as text. */
export const SafeIntScalar = new GraphQLScalarType<number, number>({
  name: 'SafeInt',
  description: 'An integer of up to 2^53 - 1 either way, written as a JSON number.',
  serialize: (value) => toSafeInt(Number(value)),
  parseValue: (value) => toSafeInt(value),
  parseLiteral: (node) => toSafeInt(node.kind === Kind.INT ? Number(node.value) : undefined, node),
});
