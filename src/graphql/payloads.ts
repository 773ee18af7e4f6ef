import type { ObjectRef } from '@pothos/core';

import { RefusedError, type UserError } from '../errors.ts';
import { builder, UserErrorRef } from './builder.ts';
import type { Context } from './context.ts';
import { DESCRIPTIONS } from './descriptions.ts';

/** What a mutation of one record answers: the record, or why there is none. */
export interface RecordPayload<Row> {
  record: Row | null;
  userErrors: UserError[];
}

/**
 * Runs what a mutation does and puts its result, or its refusal, into a payload. Any other error
 * goes on. What the request has read before is forgotten, since it may have changed.
 */
export async function toPayload<Row>(
  { loaders }: Pick<Context, 'loaders'>,
  work: () => Promise<Row>,
): Promise<RecordPayload<Row>> {
  try {
    return { record: await work(), userErrors: [] };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { record: null, userErrors: error.userErrors };
  } finally {
    loaders.clear();
  }
}

/** Defines a payload `name` with the written record as `field`, null when it was refused. */
export function definePayload<Row>(
  name: string,
  field: string,
  ref: ObjectRef<typeof builder.$inferSchemaTypes, Row>,
  about: string,
) {
  return builder.objectRef<RecordPayload<Row>>(name).implement({
    description: about,
    fields: (t) => ({
      [field]: t.field({
        type: ref,
        nullable: true,
        description: 'The record as it stands now; null when the change was refused.',
        // TypeScript cannot tell that a Row is no list, which Pothos's type depends on.
        resolve: ({ record }) => record as never,
      }),
      userErrors: t.expose('userErrors', {
        type: [UserErrorRef],
        nullable: false,
        description: DESCRIPTIONS.userErrors,
      }),
    }),
  });
}
